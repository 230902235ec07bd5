#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace neutra {

/// A character of a text in UTF-8.
struct Utf8Character {
  std::size_t bytes = 0;   ///< 1 to 4; 0: there is no character
  std::uint32_t code = 0;  ///< its number in Unicode
};

/// The character that a text begins with; none for an empty text, and where its first bytes are no
/// UTF-8 (RFC 3629: no overlong forms, no surrogates).
Utf8Character first_character(std::string_view text);

/// Offset of the first byte that begins no UTF-8 character; npos where all of a text is UTF-8.
std::size_t find_no_utf8(std::string_view text);

}  // namespace neutra
