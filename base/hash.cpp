#include "base/hash.h"

#include <xxhash.h>

#include <algorithm>
#include <charconv>
#include <cstdio>

namespace neutra {

Hash hash_of(std::string_view bytes) {
  const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
  return {hash.high64, hash.low64};
}

std::string to_string(const Hash& hash) {
  char text[33];
  std::snprintf(text, sizeof text, "%016llx%016llx", static_cast<unsigned long long>(hash.high),
                static_cast<unsigned long long>(hash.low));
  return text;
}

std::optional<Hash> parse_hash(std::string_view hex) {
  Hash hash;
  const auto digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hex.size() != 32 || !std::all_of(hex.begin(), hex.end(), digit)) return std::nullopt;
  std::from_chars(hex.data(), hex.data() + 16, hash.high, 16);
  std::from_chars(hex.data() + 16, hex.data() + 32, hash.low, 16);
  return hash;
}

}  // namespace neutra
