#include "base/words.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/strings.h"

namespace neutra {
namespace {

/// Edits between two words, two neighbours swapped as one (optimal string alignment).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before, above, row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i + 1;
    for (std::size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({above[j] + (a[i] == b[j] ? 0 : 1), above[j + 1] + 1, row[j] + 1});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::vector<std::string> nearest_few(std::string_view word,
                                     const std::vector<std::string>& candidates) {
  constexpr std::size_t kLongestWord = 200, kShortestPart = 3, kOfPart = 2, kFew = 3;
  if (word.size() > kLongestWord) return {};
  std::size_t best = std::max<std::size_t>(2, word.size() / 2);
  std::vector<std::string> few;
  const std::string given = lower(word);
  for (const std::string& candidate : candidates) {
    const std::string known = lower(candidate);
    std::size_t edits = distance(given, known);
    if (given.size() >= kShortestPart && known.find(given) != std::string::npos)
      edits = std::min(edits, kOfPart);
    if (edits > best) continue;
    if (edits < best) few.clear();
    best = edits;
    const bool again = std::any_of(few.begin(), few.end(), [&](const std::string& other) {
      return lower(other) == known;  // a subject d7 beside the fault D7
    });
    if (few.size() < kFew && !again) few.push_back(candidate);
  }
  return few;
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::vector<std::string> few = nearest_few(word, candidates);
  return few.empty() ? "" : few.front();
}

std::string join(const std::vector<std::string>& words, std::string_view between) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += between;
    text += words[i];
  }
  return text;
}

std::string ranges(const std::set<std::int64_t>& numbers) {
  std::string text;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const std::int64_t first = *it;
    std::int64_t last = first;
    while (++it != numbers.end() && *it == last + 1) last = *it;
    text += (text.empty() ? "" : ", ") + std::to_string(first);
    if (last > first) text += "-" + std::to_string(last);
  }
  return text;
}

std::string allowed_words(std::string_view found, const std::vector<std::string>& allowed) {
  constexpr std::size_t kLongestList = 100, kExamples = 3;  // characters, words
  std::string text = join(allowed);
  const std::vector<std::string> close = nearest_few(found, allowed);
  if (text.size() > kLongestList && allowed.size() > kExamples) {
    text = "one of " + std::to_string(allowed.size()) + " words";
    if (close.empty()) text += " such as " + join({allowed.begin(), allowed.begin() + kExamples});
  }
  if (!close.empty()) {
    const std::vector<std::string> others(close.begin(), close.end() - 1);
    text += " (did you mean " + join(others) + (others.empty() ? "" : " or ") + close.back() + "?)";
  }
  return text;
}

}  // namespace neutra
