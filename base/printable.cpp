#include "base/printable.h"

#include <cstdint>

#include "base/utf8.h"

namespace neutra {
namespace {

bool controls(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
         (code >= 0x2028 && code <= 0x202e) ||  // line and paragraph ends, directions
         (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f || code == 0x061c;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto [bytes, code] = first_character(text);
    const std::size_t taken = bytes == 0 ? 1 : bytes;
    const bool is_kept = kept.find(text.front()) != std::string_view::npos;
    if (bytes > 0 && (is_kept || !controls(code))) {
      result += text.substr(0, taken);
    } else {
      for (const char c : text.substr(0, taken)) {
        const auto byte = static_cast<unsigned char>(c);
        result += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
      }
    }
    text.remove_prefix(taken);
  }
  return result;
}

}  // namespace neutra
