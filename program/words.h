#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// The candidate with the smallest Levenshtein distance to `word` (case ignored, first on ties); ""
/// when none is closer than half of the word's length (at least two edits are forgiven).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c"
std::string join(const std::vector<std::string>& words, std::string_view between = ", ");

/// "0-5, 8"
std::string ranges(const std::set<std::int64_t>& numbers);

}  // namespace neutra
