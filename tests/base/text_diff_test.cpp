#include "base/text_diff.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <random>

namespace neutra {
namespace {

using Lines = std::vector<std::string>;

/// Does what `patch` does with it. Fails the test where a line is not what it says.
Lines patched(const Lines& from, const Lines& diff) {
  Lines result;
  std::size_t at = 0;
  for (std::size_t i = 0; i < diff.size(); ++i) {
    if (i < 2 && !diff.empty()) continue;  // names
    if (diff[i].starts_with("@@")) {
      std::size_t first = 0, count = 0, to = 0, to_count = 0;
      EXPECT_EQ(
          std::sscanf(diff[i].c_str(), "@@ -%zu,%zu +%zu,%zu @@", &first, &count, &to, &to_count),
          4);
      const std::size_t begin = count == 0 ? first : first - 1;
      while (at < begin) result.push_back(from[at++]);
      EXPECT_EQ(to, result.size() + (to_count == 0 ? 0 : 1));
      continue;
    }
    if (diff[i][0] != '+') {
      EXPECT_EQ(from.at(at), diff[i].substr(1));
    }
    if (diff[i][0] == ' ') result.push_back(from[at]);
    if (diff[i][0] != '+') ++at;
    if (diff[i][0] == '+') result.push_back(diff[i].substr(1));
  }
  while (at < from.size()) result.push_back(from[at++]);
  return result;
}

TEST(TextDiff, IsTheFormOfPatch) {
  const Lines from = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"};
  Lines to = from;
  to[1] = "B";
  to.erase(to.begin() + 10);
  EXPECT_EQ(unified_diff(from, to, "x.py", "y.py", 1),
            (Lines{"--- x.py", "+++ y.py", "@@ -1,3 +1,3 @@", " a", "-b", "+B", " c",
                   "@@ -10,3 +10,2 @@", " j", "-k", " l"}));
  EXPECT_EQ(unified_diff(from, from, "x", "y"), Lines{});
  EXPECT_EQ(unified_diff({}, {"a"}, "x", "y"), (Lines{"--- x", "+++ y", "@@ -0,0 +1,1 @@", "+a"}));
}

TEST(TextDiff, LeadsFromOneTextToTheOther) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 300; ++trial) {
    Lines from(random() % 30), to(random() % 30);
    for (Lines* lines : {&from, &to})
      for (std::string& line : *lines) line = std::string(1, static_cast<char>('a' + random() % 4));
    EXPECT_EQ(patched(from, unified_diff(from, to, "x", "y", static_cast<int>(random() % 4))), to);
  }
  const Lines long_from(2500, "a"), long_to(2600, "b");
  EXPECT_EQ(patched(long_from, unified_diff(long_from, long_to, "x", "y")), long_to);
}

TEST(TextDiff, LinesOfAText) {
  EXPECT_EQ(lines_of("a\n\nb\n"), (Lines{"a", "", "b"}));
  EXPECT_EQ(lines_of("a"), Lines{"a"});
  EXPECT_EQ(lines_of(""), Lines{});
}

}  // namespace
}  // namespace neutra
