#include "cli/warnings.h"

#include <iostream>
#include <set>

#include "base/printable.h"
#include "program/warnings.h"

namespace neutra::cli {

void warn_of(const std::string& id, const program::Program& program) {
  static std::set<std::string> said;
  for (const program::Warning& warning : program::warnings_of(program)) {
    const std::string line = "neutra: " + id + ": warning: " + warning.text;
    if (said.insert(line).second) std::cerr << printable(line) << '\n';
  }
}

}  // namespace neutra::cli
