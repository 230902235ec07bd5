#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "source/finding_forms.h"

namespace neutra::source {

/// Findings that were there before and are not told again (docs/formats/baseline.md). A finding is
/// recognised by its rule, its file and the text of its line, so that lines may move; where several
/// are alike in that, by the lines around it, and each recorded one stands for one finding.
class Baseline {
 public:
  /// Reads one. Throws input_error with the file, the place, what was found and what is allowed.
  static Baseline read(const std::filesystem::path& file);
  /// The document that records the findings of a severity and above, for a baseline at `file`:
  /// names of files are relative to its folder where they lie below it, else absolute.
  static Json record(const Findings& findings, const std::filesystem::path& file);

  /// Takes the findings out that are recorded. Returns how many that were.
  std::size_t leave_out_recorded(Findings& findings);
  /// How many recorded ones of these rules, in files that were read, did not turn up.
  std::size_t gone(const Findings& findings, const std::vector<const Rule*>& rules) const;

 private:
  struct Entry {
    std::string rule, file, text, before, after;
    auto operator<=>(const Entry&) const = default;
  };
  static Entry entry_of(const CheckedFile& file, const Finding& finding, const std::string& name);
  std::string name_of(const CheckedFile& file) const;

  std::filesystem::path folder_;
  std::map<Entry, std::size_t> left_;  ///< those that have not turned up, with their number
};

}  // namespace neutra::source
