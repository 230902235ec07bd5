#include "evaluators/paired_tests.h"

#include <gtest/gtest.h>

#include <cmath>

namespace neutra::evaluators {
namespace {

PairedCounts counts(std::int64_t first_only, std::int64_t second_only) {
  return {4, first_only, second_only, 6};
}

TEST(PairedTests, CountPairs) {
  PairedCounts pairs;
  for (const auto& [first, second, times] :
       {std::tuple(true, true, 3), {true, false, 2}, {false, true, 4}, {false, false, 1}}) {
    for (int i = 0; i < times; ++i) pairs.add(first, second);
  }
  EXPECT_EQ(pairs.both, 3);
  EXPECT_EQ(pairs.first_only, 2);
  EXPECT_EQ(pairs.second_only, 4);
  EXPECT_EQ(pairs.neither, 1);
}

// statsmodels 0.15: mcnemar(exact=True), mcnemar(exact=False, correction=True),
// proportion_confint(method="beta").
TEST(PairedTests, AgreeWithStatsmodels) {
  struct Case {
    std::int64_t first_only, second_only;
    double exact_p, statistic, corrected_p, odds, low, high;
  };
  for (const Case& c : {Case{13, 2, 0.00738525390625, 6.666666666666667, 0.009823274507519235, 6.5,
                             1.471560393430323, 59.3285003637759},
                        Case{1, 3, 0.625, 0.25, 0.6170750774519739, 1.0 / 3, 0.0063495253060273675,
                             4.151440776238428},
                        Case{25, 1, 8.046627044677734e-07, 20.346153846153847,
                             6.462284982453697e-06, 25, 4.092436720677383, 1026.4452264821732},
                        Case{12, 4, 0.076812744140625, 3.0625, 0.08011831372763421, 3,
                             0.9092319808849166, 12.76234446547932}}) {
    const McNemarTest test = mcnemar(counts(c.first_only, c.second_only));
    EXPECT_NEAR(test.exact_p, c.exact_p, 1e-15);
    EXPECT_NEAR(test.statistic, c.statistic, 1e-13);
    EXPECT_NEAR(test.corrected_p, c.corrected_p, 1e-13);
    const PairedOddsRatio ratio = paired_odds_ratio(counts(c.first_only, c.second_only));
    EXPECT_DOUBLE_EQ(ratio.estimate, c.odds);
    EXPECT_NEAR(ratio.low / c.low, 1, 1e-9);
    EXPECT_NEAR(ratio.high / c.high, 1, 1e-9);
  }
}

TEST(PairedTests, OneSidedDifferences) {
  const McNemarTest test = mcnemar(counts(10, 0));
  EXPECT_NEAR(test.exact_p, 0.001953125, 1e-15);
  EXPECT_NEAR(test.corrected_p, 0.004426525857919834, 1e-14);
  const PairedOddsRatio more = paired_odds_ratio(counts(10, 0));
  EXPECT_TRUE(std::isinf(more.estimate));
  EXPECT_EQ(more.haldane, 21);
  EXPECT_NEAR(more.low, 2.241521475097558, 1e-9);
  EXPECT_TRUE(std::isinf(more.high));
  const PairedOddsRatio less = paired_odds_ratio(counts(0, 10));
  EXPECT_EQ(less.estimate, 0);
  EXPECT_EQ(less.low, 0);
  EXPECT_NEAR(less.high, 1 / 2.241521475097558, 1e-9);
}

TEST(PairedTests, NothingDiffers) {
  const McNemarTest test = mcnemar(counts(0, 0));
  EXPECT_EQ(test.exact_p, 1);
  EXPECT_EQ(test.corrected_p, 1);
  const PairedOddsRatio ratio = paired_odds_ratio(counts(0, 0));
  EXPECT_TRUE(std::isnan(ratio.estimate));
  EXPECT_EQ(ratio.haldane, 1);
  EXPECT_EQ(ratio.low, 0);
  EXPECT_TRUE(std::isinf(ratio.high));
}

TEST(PairedTests, AsManyOneWayAsTheOther) {
  const McNemarTest test = mcnemar(counts(5, 5));
  EXPECT_EQ(test.exact_p, 1);
  EXPECT_EQ(test.statistic, 0);  // the correction never makes a difference of none
  EXPECT_EQ(test.corrected_p, 1);
}

}  // namespace
}  // namespace neutra::evaluators
