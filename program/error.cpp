#include "program/error.h"

namespace neutra {

std::string describe(std::string_view file, std::string_view place, std::string_view found,
                     std::string_view allowed) {
  std::string text(file);
  const auto append = [&text](std::string_view separator, std::string_view label,
                              std::string_view part) {
    if (part.empty()) return;
    if (!text.empty()) text += separator;
    text.append(label).append(part);
  };
  append(": ", "", place);
  append(": ", "found ", found);
  append(found.empty() ? ": " : "; ", "allowed: ", allowed);
  return text;
}

}  // namespace neutra
