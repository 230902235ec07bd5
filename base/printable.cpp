#include "base/printable.h"

#include <cstdint>

namespace neutra {
namespace {

/// Length of the UTF-8 character that the text begins with, and its code; length 0: it is none.
struct Character {
  std::size_t length = 0;
  std::uint32_t code = 0;
};

Character first_character(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char head = byte(0);
  if (head < 0x80) return {1, head};
  const std::size_t length = head >= 0xf0 ? 4 : head >= 0xe0 ? 3 : 2;
  if (head < 0xc2 || head > 0xf4 || text.size() < length) return {};
  std::uint32_t code = head & (0x7fU >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fU);
  }
  constexpr std::uint32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = code >= 0xd800 && code < 0xe000;
  return code < kLeast[length] || code > 0x10ffff || is_surrogate ? Character{}
                                                                  : Character{length, code};
}

bool controls(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) ||
         (code >= 0x2028 && code <= 0x202e) ||  // line and paragraph ends, directions
         (code >= 0x2066 && code <= 0x2069) || code == 0x200e || code == 0x200f || code == 0x061c;
}

}  // namespace

std::size_t find_no_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = first_character(text.substr(at)).length;
    if (length == 0) return at;
    at += length;
  }
  return std::string_view::npos;
}

std::string printable(std::string_view text, std::string_view kept) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const auto [length, code] = first_character(text);
    const std::size_t taken = length == 0 ? 1 : length;
    const bool is_kept = kept.find(text.front()) != std::string_view::npos;
    if (length > 0 && (is_kept || !controls(code))) {
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
