#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// The candidates that `word` may be a slip of: those with the smallest number of edits (letters
/// put in, left out, replaced, or two neighbours swapped; case ignored; a word of three letters and
/// more is two edits from what contains it), in their order, three at most. None when that is more
/// than half of the word's length (at least two edits are forgiven).
std::vector<std::string> nearest_few(std::string_view word,
                                     const std::vector<std::string>& candidates);
/// The first of them, or "".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// "a, b, c"
std::string join(const std::vector<std::string>& words, std::string_view between = ", ");

/// "0-5, 8"
std::string ranges(const std::set<std::int64_t>& numbers);

/// "a, b or c"; with the nearest of them if `found` looks like a slip.
std::string allowed_words(std::string_view found, const std::vector<std::string>& allowed);

}  // namespace neutra
