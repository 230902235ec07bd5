#include "evaluators/fanova.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace neutra::evaluators {
namespace {

/// Every combination of the levels once, with a value of each.
template <typename Value>
FanovaTable whole_table(std::vector<FanovaTable::Factor> factors, const Value& value) {
  FanovaTable table;
  table.factors = std::move(factors);
  std::vector<int> row(table.factors.size(), 0);
  for (;;) {
    table.rows.push_back(row);
    table.values.push_back(value(row));
    std::size_t f = 0;
    while (f < row.size() && ++row[f] == table.factors[f].levels) row[f++] = 0;
    if (f == row.size()) return table;
  }
}

TEST(Fanova, SharesOfASumAreThoseOfItsTerms) {
  // Var(3 a) = 9 * 2 and Var(b) = 2 over five levels, and c does nothing: 0.9, 0.1, 0.
  const auto table = whole_table({{5, true}, {5, true}, {3, false}},
                                 [](const auto& row) { return 3.0 * row[0] + row[1]; });
  const auto shares = fanova(table, 64);
  ASSERT_EQ(shares.size(), 3u);
  EXPECT_NEAR(shares[0].share, 0.9, 0.03);
  EXPECT_NEAR(shares[1].share, 0.1, 0.03);
  EXPECT_LT(shares[2].share, 0.01);
}

TEST(Fanova, WhatOnlyWorksTogetherIsNobodysShare) {
  const auto table = whole_table({{2, false}, {2, false}, {8, true}}, [](const auto& row) {
    return row[0] == row[1] ? 1.0 : 0.0;  // an exclusive or: no margin tells anything
  });
  const auto shares = fanova(table, 64);
  EXPECT_LT(shares[0].share, 0.05);
  EXPECT_LT(shares[1].share, 0.05);
}

TEST(Fanova, NamesAreSplitOneFromTheOthers) {
  const auto table =
      whole_table({{6, false}, {4, true}}, [](const auto& row) { return row[0] == 3 ? 1.0 : 0.0; });
  const auto shares = fanova(table, 16);
  EXPECT_NEAR(shares[0].share, 1, 1e-9);
  EXPECT_EQ(shares[1].share, 0);
}

TEST(Fanova, AnUnevenSampleIsWeighedEvenly) {
  // As a search makes them: most trials have level 0 of both; each level counts the same.
  FanovaTable table;
  table.factors = {{2, false}, {2, false}};
  const auto add = [&](int a, int b, int times) {
    for (int i = 0; i < times; ++i) {
      table.rows.push_back({a, b});
      table.values.push_back(a == 1 ? 1 : 0);
    }
  };
  add(0, 0, 200);
  add(1, 0, 20);
  add(0, 1, 20);
  EXPECT_NEAR(fanova(table, 64)[0].share, 1, 0.02);
}

TEST(Fanova, NothingVariesAndNothingIsThere) {
  const auto same = whole_table({{3, true}, {2, false}}, [](const auto&) { return 1e300; });
  for (const FanovaShare& one : fanova(same)) EXPECT_EQ(one.share, 0);
  EXPECT_TRUE(fanova({}).empty());
  FanovaTable one;
  one.factors = {{1, false}};
  one.rows = {{0}};
  one.values = {2};
  EXPECT_EQ(fanova(one)[0].share, 0);
}

TEST(Fanova, TheSameTableGivesTheSameShares) {
  const auto table = whole_table({{5, true}, {4, false}, {6, true}}, [](const auto& row) {
    return static_cast<double>((row[0] * 7 + row[1] * 13 + row[2] * 29) % 11);
  });
  const auto a = fanova(table), b = fanova(table);
  for (std::size_t f = 0; f < a.size(); ++f) {
    EXPECT_EQ(a[f].share, b[f].share);
    EXPECT_EQ(a[f].spread, b[f].spread);
    EXPECT_GE(a[f].share, 0);
    EXPECT_LE(a[f].share, 1);
  }
}

}  // namespace
}  // namespace neutra::evaluators
