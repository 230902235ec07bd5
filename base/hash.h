#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace neutra {

/// A 128-bit hash value.
struct Hash {
  std::uint64_t high = 0, low = 0;
  auto operator<=>(const Hash&) const = default;
};
/// XXH3-128 of some bytes.
Hash hash_of(std::string_view bytes);
std::string to_string(const Hash& hash);  ///< 32 lower-case hex digits
/// nullopt for anything but 32 lower-case hex digits.
std::optional<Hash> parse_hash(std::string_view hex);

}  // namespace neutra
