#include "base/error.h"

namespace neutra {

std::string describe(std::string_view file, std::string_view place, std::string_view found,
                     std::string_view allowed) {
  std::string text(file);
  const auto append = [&text](std::string_view separator, std::string_view label,
                              std::string_view part) {
    if (part.empty()) return;
    if (!text.empty()) text += separator;
    text.append(label);
    for (const char c : part) {  // a file's own bytes must not cut the message or drive a terminal
      constexpr std::string_view kDigits = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(c);
      if (byte >= 0x20 && byte != 0x7f) {
        text += c;
      } else {
        text.append("\\x") += kDigits[byte >> 4];
        text += kDigits[byte & 15];
      }
    }
  };
  append(": ", "", place);
  append(": ", "found ", found);
  append(found.empty() ? ": " : "; ", "allowed: ", allowed);
  return text;
}

}  // namespace neutra
