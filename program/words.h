#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// The candidate with the smallest Levenshtein distance to `word` (case ignored, first on ties); ""
/// when none is closer than half of the word's length (at least two edits are forgiven).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c"
std::string join(const std::vector<std::string>& words, std::string_view between = ", ");

}  // namespace neutra
