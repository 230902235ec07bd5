#include "base/text_diff.h"

#include <algorithm>
#include <cstdint>

namespace neutra {
namespace {

struct Line {
  char kind;  ///< ' ', '-', '+'
  const std::string* text;
};

/// All lines of both texts, those of `from` before those of `to` where they differ.
std::vector<Line> aligned(const std::vector<std::string>& from,
                          const std::vector<std::string>& to) {
  std::size_t head = 0, tail = 0;
  while (head < from.size() && head < to.size() && from[head] == to[head]) ++head;
  while (tail < from.size() - head && tail < to.size() - head &&
         from[from.size() - 1 - tail] == to[to.size() - 1 - tail])
    ++tail;
  const std::size_t n = from.size() - head - tail, m = to.size() - head - tail;
  std::vector<Line> lines;
  for (std::size_t i = 0; i < head; ++i) lines.push_back({' ', &from[i]});
  constexpr std::size_t kMost = 2000;
  std::size_t i = 0, j = 0;
  if (n <= kMost && m <= kMost) {
    // longest[i * (m + 1) + j]: common subsequence of what is behind i and j.
    std::vector<std::uint16_t> longest((n + 1) * (m + 1), 0);
    const auto at = [&](std::size_t a, std::size_t b) -> std::uint16_t& {
      return longest[a * (m + 1) + b];
    };
    for (std::size_t a = n; a-- > 0;) {
      for (std::size_t b = m; b-- > 0;)
        at(a, b) = from[head + a] == to[head + b] ? static_cast<std::uint16_t>(at(a + 1, b + 1) + 1)
                                                  : std::max(at(a + 1, b), at(a, b + 1));
    }
    while (i < n && j < m) {
      if (from[head + i] == to[head + j]) {
        lines.push_back({' ', &from[head + i]});
        ++i, ++j;
      } else if (at(i + 1, j) >= at(i, j + 1)) {
        lines.push_back({'-', &from[head + i++]});
      } else {
        lines.push_back({'+', &to[head + j++]});
      }
    }
  }
  for (; i < n; ++i) lines.push_back({'-', &from[head + i]});
  for (; j < m; ++j) lines.push_back({'+', &to[head + j]});
  for (std::size_t k = head + n; k < from.size(); ++k) lines.push_back({' ', &from[k]});
  return lines;
}

/// "12,3": first line and count; of none, the line before.
std::string range(std::size_t first, std::size_t count) {
  return std::to_string(count == 0 ? first : first + 1) + "," + std::to_string(count);
}

}  // namespace

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return lines;
}

std::vector<std::string> unified_diff(const std::vector<std::string>& from,
                                      const std::vector<std::string>& to,
                                      const std::string& from_name, const std::string& to_name,
                                      int context) {
  const std::vector<Line> lines = aligned(from, to);
  const auto around = static_cast<std::size_t>(context);
  std::vector<std::string> result;
  std::size_t from_line = 0, to_line = 0;  // lines before `at`
  for (std::size_t at = 0; at < lines.size();) {
    const auto changed = [](const Line& line) { return line.kind != ' '; };
    const auto next =
        std::find_if(lines.begin() + static_cast<std::ptrdiff_t>(at), lines.end(), changed);
    if (next == lines.end()) break;
    const auto first_change = static_cast<std::size_t>(next - lines.begin());
    const std::size_t begin = std::max(at, first_change - std::min(first_change, around));
    std::size_t end = first_change + 1, quiet = 0;
    for (std::size_t k = end; k < lines.size() && quiet <= 2 * around; ++k) {
      quiet = changed(lines[k]) ? 0 : quiet + 1;
      if (quiet == 0) end = k + 1;
    }
    end = std::min(lines.size(), end + around);
    from_line += begin - at;  // what is left out is in both
    to_line += begin - at;
    std::size_t removed = 0, added = 0;
    for (std::size_t k = begin; k < end; ++k) {
      removed += lines[k].kind != '+';
      added += lines[k].kind != '-';
    }
    if (result.empty()) result = {"--- " + from_name, "+++ " + to_name};
    result.push_back("@@ -" + range(from_line, removed) + " +" + range(to_line, added) + " @@");
    for (std::size_t k = begin; k < end; ++k) result.push_back(lines[k].kind + *lines[k].text);
    from_line += removed;
    to_line += added;
    at = end;
  }
  return result;
}

}  // namespace neutra
