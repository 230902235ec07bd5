#include "base/text_layout.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

namespace neutra {
namespace {

using Lines = std::vector<std::string>;

bool is_number(const std::string& cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789.") == std::string::npos;
}

TEST(TextLayout, ColumnsAreThoseOfTheTerminal) {
  EXPECT_EQ(text_columns("plain"), 5U);
  EXPECT_EQ(text_columns("Gr\u00f6\u00dfe"), 5U);
  EXPECT_EQ(text_columns("\u4e2d\u6587"), 4U);  // wide
  EXPECT_EQ(text_columns("e\u0301"), 1U);       // a letter and its accent
  EXPECT_EQ(text_columns("\xff\xfe"), 2U);      // no UTF-8
  EXPECT_EQ(padded("\u4e2d", 4), "\u4e2d  ");
  EXPECT_EQ(padded("12", 4, true), "  12");
}

TEST(TextLayout, BreaksAtBlanksAndLongWordsBehindMarks) {
  EXPECT_EQ(wrapped("one two three", 7), (Lines{"one two", "three"}));
  EXPECT_EQ(wrapped("", 7), Lines{""});
  EXPECT_EQ(wrapped("a/long/path/to/it", 8), (Lines{"a/long/", "path/to/", "it"}));
  EXPECT_EQ(wrapped("LAD(0)|LCF(0)|LCN", 8), (Lines{"LAD(0)|", "LCF(0)|", "LCN"}));
  EXPECT_EQ(wrapped("abcdefghij k", 4), (Lines{"abcd", "efgh", "ij k"}));
  EXPECT_EQ(wrapped("\u4e2d\u6587\u4e2d", 3), (Lines{"\u4e2d", "\u6587", "\u4e2d"}));
  EXPECT_EQ(least_columns("one three"), 5U);
  EXPECT_EQ(least_columns("https://stackoverflow.com/questions/1"), 18U);  // "stackoverflow.com/"
}

TEST(TextLayout, TheWidestColumnsGiveWay) {
  using Widths = std::vector<std::size_t>;
  EXPECT_EQ(fitted_widths({10, 20, 4}, {1, 1, 4}, 28), (Widths{10, 10, 4}));
  EXPECT_EQ(fitted_widths({10, 20, 4}, {10, 12, 4}, 30), (Widths{10, 12, 4}));
  EXPECT_EQ(fitted_widths({10, 20, 4}, {10, 12, 4}, 29), std::nullopt);
  EXPECT_EQ(fitted_widths({3, 3}, {3, 3}, 100), (Widths{3, 3}));
}

const std::vector<Lines> kTable = {
    {"id", "title", "n"}, {"D1", "a softmax over one output", "1.5"}, {"D2", "short", "12"}};

TEST(TextLayout, ATableIsWrappedToFit) {
  EXPECT_EQ(table_text(kTable, std::nullopt, is_number),
            "id  title                      n\n"
            "D1  a softmax over one output  1.5\n"
            "D2  short                       12\n");
  EXPECT_EQ(table_text(kTable, 34, is_number), table_text(kTable, std::nullopt, is_number));
  EXPECT_EQ(table_text(kTable, 22, is_number),
            "id  title          n\n"
            "D1  a softmax      1.5\n"
            "    over one\n"
            "    output\n"
            "D2  short           12\n");
}

TEST(TextLayout, WhatWrappingCannotFitBecomesParagraphs) {
  EXPECT_EQ(table_text({{"id", "first long title", "second"}, {"D1", "word", "1234567890123456"}},
                       20, is_number),
            "id          D1\n"
            "first long  word\n"
            "title\n"
            "second      12345678\n"
            "            90123456\n");
}

TEST(TextLayout, NothingIsWiderAndNothingIsLost) {
  const Lines words = {"softmax",
                       "deepmufl-metallaxis1-ochiai-avg",
                       "0.5",
                       "ACH(0)|BCI(0)|LAD(0)",
                       "https://stackoverflow.com/questions/31880720",
                       "\u4e2d\u6587 x",
                       ""};
  std::vector<Lines> rows = {{"one", "two", "three", "four"}};
  for (std::size_t i = 0; i < 12; ++i) {
    Lines row;
    for (std::size_t c = 0; c < 4; ++c)
      row.push_back(words[(i * 3 + c) % words.size()] + (c == 1 ? " and more words" : ""));
    rows.push_back(row);
  }
  const auto letters = [](std::string text) {  // in any order, as columns are side by side
    std::erase_if(text, [](char c) { return c == ' ' || c == '\n'; });
    std::sort(text.begin(), text.end());
    return text;
  };
  std::string all;
  for (std::size_t i = 1; i < rows.size(); ++i)
    for (const std::string& cell : rows[i]) all += cell;
  const std::string wanted = letters(all);
  for (std::size_t columns = 20; columns < 140; ++columns) {
    const std::string text = table_text(rows, columns, is_number);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);)
      EXPECT_LE(text_columns(line), columns) << line;
    const std::string found = letters(text);
    EXPECT_TRUE(std::includes(found.begin(), found.end(), wanted.begin(), wanted.end()))
        << columns << "\n"
        << text;
  }
}

}  // namespace
}  // namespace neutra
