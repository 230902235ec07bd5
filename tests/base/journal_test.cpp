#include "base/journal.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace neutra::tests {
namespace {

std::string some_journal(std::vector<std::size_t>* ends = nullptr) {
  std::string bytes;
  for (int i = 0; i < 5; ++i) {
    bytes += journal_frame({{"type", "elapsed"}, {"seconds", i}, {"text", std::string(7, 'x')}});
    if (ends != nullptr) ends->push_back(bytes.size());
  }
  return bytes;
}

TEST(JournalFormat, EveryTruncationKeepsTheWholeRecords) {
  std::vector<std::size_t> ends;
  const std::string bytes = some_journal(&ends);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const JournalContent content = parse_journal(bytes.substr(0, length));
    const auto whole = std::upper_bound(ends.begin(), ends.end(), length) - ends.begin();
    ASSERT_EQ(content.records.size(), static_cast<std::size_t>(whole));
    const std::size_t kept = whole == 0 ? 0 : ends[static_cast<std::size_t>(whole) - 1];
    EXPECT_EQ(content.damage.bytes, length - kept);
    if (kept < length) {
      EXPECT_EQ(content.damage.first, kept);
    }
    EXPECT_TRUE(may_be_journal(bytes.substr(0, length), content));
  }
}

TEST(JournalFormat, EveryFlippedBitCostsItsRecordOnly) {
  const std::string bytes = some_journal();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const JournalContent content = parse_journal(flipped);
    ASSERT_EQ(content.records.size(), 4U) << bit;
    EXPECT_GT(content.damage.bytes, 0U);
    EXPECT_TRUE(may_be_journal(flipped, content));
  }
}

TEST(JournalFormat, OtherFilesAreNone) {
  EXPECT_FALSE(may_be_journal("hello", {}));
  EXPECT_TRUE(may_be_journal("", {}));
  EXPECT_TRUE(may_be_journal(std::string(100, '\0'), {}));
  EXPECT_TRUE(parse_journal("hello NJR1 NJR1").records.empty());
}

}  // namespace
}  // namespace neutra::tests
