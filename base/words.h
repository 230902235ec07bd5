#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace neutra {

/// The candidates that `word` may be a slip of: those at the smallest distance from it, in their
/// order, three at most. The distance is the number of letters to insert, leave out, replace or
/// swap with their neighbour, in any case; a word of three letters and more has at most distance 2
/// from what contains it. None where it is above 2 and above half of the word's length.
std::vector<std::string> nearest_few(std::string_view word,
                                     const std::vector<std::string>& candidates);
/// The first of nearest_few(), or "".
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// The words in their order with `between` between them: "a, b, c".
std::string join(const std::vector<std::string>& words, std::string_view between = ", ");

/// The numbers in order, neighbours as a range: "0-5, 8".
std::string ranges(const std::set<std::int64_t>& numbers);

/// The words that are allowed, for a message: "a, b, c", of a long list how many there are and some
/// of them; with "(did you mean b?)" where `found` looks like a slip.
std::string allowed_words(std::string_view found, const std::vector<std::string>& allowed);

}  // namespace neutra
