#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "source/project.h"

namespace neutra::source {

/// The findings of a severity and above, in the forms in which they are written.
struct Findings {
  std::vector<CheckedFile> files;
  Severity least = Severity::kWarning;
  std::optional<std::size_t> recorded;  ///< those that a baseline left out, where there is one
};

/// `file:line:column: severity: message [rule]` for each, as compilers write it; in a notebook
/// `file:cell N:line:column`, where the line counts in the cell.
std::string text_of(const Findings& findings);
/// docs/formats/check.md
Json json_of(const Findings& findings);
/// SARIF 2.1.0, for code hosts. `version`: that of neutra.
Json sarif_of(const Findings& findings, const std::string& version);
/// How many there are, of this severity and above.
std::size_t count(const Findings& findings, Severity least);

}  // namespace neutra::source
