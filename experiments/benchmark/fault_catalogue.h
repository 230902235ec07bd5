#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "mutators/mutants.h"

namespace neutra::experiments {

/// A fault that a study names, as a mutation of a subject.
struct CatalogueFault {
  std::string id;       ///< "T21-07"; unique
  std::string symptom;  ///< as the study has it; "" where it names none
  std::string fault;    ///< its root cause, or what it is: "incorrect loss function"
  std::string subject;  ///< id
  std::vector<mutators::Application> applications;  ///< seeds are 0
  std::string note;                                 ///< Markdown
};

/// Faults of one table of the catalogue's page.
struct CatalogueSection {
  std::string title;                       ///< heading
  std::vector<std::string> before, after;  ///< paragraphs around the table, Markdown
  std::vector<CatalogueFault> faults;
};

/// Which mutations make the faults that studies of deep-learning programs name
/// (docs/formats/fault_catalogue.md).
struct FaultCatalogue {
  std::string title;                       ///< of the page
  std::vector<std::string> before;         ///< paragraphs before the first section, Markdown
  std::vector<CatalogueSection> sections;  ///< in the order of the page
};

/// Reads a catalogue. Throws input_error for what the format doesn't allow, and for unknown
/// operators.
FaultCatalogue load_fault_catalogue(const std::filesystem::path& file);
/// The file of the bundled catalogue: experiments/fault_catalogue.json.
std::filesystem::path bundled_fault_catalogue();
/// The page of a catalogue, Markdown: docs/reference/fault_catalogue.md, which scripts/update_docs
/// writes.
std::string catalogue_page(const FaultCatalogue& catalogue);

}  // namespace neutra::experiments
