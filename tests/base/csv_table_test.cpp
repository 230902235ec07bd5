#include "base/csv_table.h"

#include <gtest/gtest.h>

namespace neutra {
namespace {

using Rows = std::vector<std::vector<std::string>>;

Rows rows_of(std::string_view text, CsvRecords::Blanks blanks) {
  CsvRecords records(text, ',', blanks);
  Rows rows;
  for (std::vector<std::string> fields; records.next(fields);) rows.push_back(fields);
  return rows;
}

TEST(CsvRecords, KeepOrDropTheBlanksAroundFields) {
  const std::string_view text =
      "\xef\xbb\xbf"
      "a , \"b\"\"\n\" \r\n\n c,\n";
  EXPECT_EQ(rows_of(text, CsvRecords::Blanks::kDropped), (Rows{{"a", "b\"\n"}, {"c", ""}}));
  EXPECT_EQ(rows_of("a , b\r\n\rc,", CsvRecords::Blanks::kKept), (Rows{{"a ", " b"}, {"c", ""}}));
}

TEST(CsvRecords, SayWhereAQuoteIsWrong) {
  const auto mistake = [](std::string_view text, CsvRecords::Blanks blanks) {
    try {
      rows_of(text, blanks);
    } catch (const CsvRecords::Mistake& mistake) {
      return mistake;
    }
    return CsvRecords::Mistake{};
  };
  for (const auto blanks : {CsvRecords::Blanks::kDropped, CsvRecords::Blanks::kKept}) {
    const auto open = mistake("a,b\n1,\"2\n3", blanks);
    EXPECT_EQ(open.kind, CsvRecords::Mistake::kOpenQuote);
    EXPECT_EQ(open.line, 2U);
    EXPECT_EQ(open.field, 2U);
    const auto behind = mistake("\"a\nb\"c", blanks);
    EXPECT_EQ(behind.kind, CsvRecords::Mistake::kTextBehindQuote);
    EXPECT_EQ(behind.line, 2U);
    EXPECT_EQ(behind.field, 1U);
  }
}

}  // namespace
}  // namespace neutra
