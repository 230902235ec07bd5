#include "experiments/benchmark/fault_catalogue.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "base/json_section.h"
#include "base/words.h"
#include "experiments/benchmark/documents.h"
#include "experiments/catalog.h"

namespace neutra::experiments {
namespace {

CatalogueFault read_fault(const JsonSection& in) {
  CatalogueFault fault;
  fault.id = in.text("id");
  if (!is_part_of_names(fault.id)) in.fail("id", in.at("id"), kPartOfNames);
  fault.symptom = in.text("symptom", "");
  fault.fault = in.text("fault");
  fault.subject = in.text("subject");
  const std::vector<std::string> texts = in.texts("apply");
  if (texts.empty()) {
    in.fail_text("apply", "none", "mutations, as neutra mutate --apply takes them");
  }
  for (const std::string& text : texts) {
    try {
      fault.applications.push_back(mutators::parse_application(text, 0));
    } catch (const Error& error) {
      in.fail_text(JsonSection::item_name("apply", fault.applications.size()), error.what(), "");
    }
  }
  fault.note = in.text("note", "");
  return fault;
}

std::string paragraphs(const std::vector<std::string>& texts) {
  std::string page;
  for (const std::string& text : texts) page += "\n" + text + "\n";
  return page;
}

/// "[`change_label=50`](../mutators/change_label.md)"
std::string link(const mutators::Application& application) {
  return "[`" + to_string(application) + "`](../mutators/" + application.op + ".md)";
}

std::string table(const std::vector<CatalogueFault>& faults) {
  const bool symptoms = std::any_of(faults.begin(), faults.end(),
                                    [](const auto& fault) { return !fault.symptom.empty(); });
  std::string text =
      symptoms
          ? "\n| id | symptom | root cause | subject | mutation | |\n|---|---|---|---|---|---|\n"
          : "\n| id | fault | subject | mutation | |\n|---|---|---|---|---|\n";
  for (const CatalogueFault& fault : faults) {
    std::vector<std::string> links;
    for (const mutators::Application& application : fault.applications) {
      links.push_back(link(application));
    }
    std::vector<std::string> cells{fault.id};
    if (symptoms) cells.push_back(fault.symptom);
    cells.insert(cells.end(), {fault.fault, fault.subject, join(links, " + "), fault.note});
    text += "|";
    for (const std::string& cell : cells) text += cell.empty() ? " |" : " " + cell + " |";
    text += "\n";
  }
  return text;
}

}  // namespace

std::filesystem::path bundled_fault_catalogue() {
  return resource_directory() / "fault_catalogue.json";
}

FaultCatalogue load_fault_catalogue(const std::filesystem::path& file) {
  const Json json = read_json(file);
  const JsonSection root(json, file.string(), "",
                         {"format", "version", "title", "before", "sections"});
  root.require_format("neutra-fault-catalogue", 1);
  FaultCatalogue catalogue;
  catalogue.title = root.text("title");
  catalogue.before = root.texts("before");
  std::set<std::string> ids;
  const std::vector<Json> sections = root.list("sections");
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const JsonSection section(sections[i], root.file(),
                              root.place_of(JsonSection::item_name("sections", i)),
                              {"title", "before", "faults", "after"});
    CatalogueSection read;
    read.title = section.text("title");
    read.before = section.texts("before");
    read.after = section.texts("after");
    const std::vector<Json> faults = section.list("faults");
    for (std::size_t k = 0; k < faults.size(); ++k) {
      const JsonSection in(faults[k], root.file(),
                           section.place_of(JsonSection::item_name("faults", k)),
                           {"id", "symptom", "fault", "subject", "apply", "note"});
      read.faults.push_back(read_fault(in));
      if (!ids.insert(read.faults.back().id).second) in.fail("id", in.at("id"), "each id once");
    }
    catalogue.sections.push_back(std::move(read));
  }
  return catalogue;
}

std::string catalogue_page(const FaultCatalogue& catalogue) {
  std::string page = "# " + catalogue.title + "\n" + paragraphs(catalogue.before);
  for (const CatalogueSection& section : catalogue.sections) {
    page += "\n## " + section.title + "\n" + paragraphs(section.before) + table(section.faults) +
            paragraphs(section.after);
  }
  return page;
}

}  // namespace neutra::experiments
