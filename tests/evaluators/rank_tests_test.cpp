#include "evaluators/rank_tests.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "base/json.h"
#include "evaluators/permutation_test.h"
#include "evaluators/studentized_range.h"
#include "tests/evaluators/samples.h"
#include "tests/source_file.h"

namespace neutra::evaluators::tests {
namespace {

TEST(RankTests, AgreeWithSciPy) {
  const Json file = read_json(source_file("tests/evaluators/data/rank_tests.json"));
  int signed_ranks = 0;
  for (const Json& item : file.at("cases")) {
    SCOPED_TRACE(item.at("what").get<std::string>());
    const auto a = item.at("a").get<Values>(), b = item.at("b").get<Values>();
    const auto expect = [](const RankTest& test, const Json& known) {
      EXPECT_DOUBLE_EQ(test.statistic, known.at("statistic").get<double>());
      EXPECT_NEAR(test.p, known.at("p").get<double>(), 1e-12);
      EXPECT_EQ(test.exact, known.at("exact").get<bool>());
    };
    expect(mann_whitney_u(a, b), item.at("mann_whitney"));
    if (const Json* known = member(item, "wilcoxon")) {
      expect(wilcoxon_signed_rank(a, b), *known);
      ++signed_ranks;
    }
  }
  EXPECT_EQ(signed_ranks, 7);
}

TEST(RankTests, SamplesMayBeSwapped) {
  const Values a{0.1, 0.5, 0.5, 0.9, 2, 7}, b{0.2, 0.5, 0.1, 1.4, 3, 1};
  EXPECT_DOUBLE_EQ(wilcoxon_signed_rank(a, b).p, wilcoxon_signed_rank(b, a).p);
  EXPECT_DOUBLE_EQ(mann_whitney_u(a, b).p, mann_whitney_u(b, a).p);
  EXPECT_EQ(mann_whitney_u(a, b).statistic + mann_whitney_u(b, a).statistic, 36);
}

TEST(RankSum, IsExactWithTies) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const std::vector<std::pair<Values, Values>> cases{
      {{1, 2, 3}, {4, 5, 6}},
      {{1, 1, 1, 2}, {1, 2, 2, 3, 3}},
      {{0.1, 0.5, 0.5, 0.9, 2, 7}, {0.2, 0.5, 0.1, 1.4, 3, 1}},
      {{-kInfinity, -kInfinity, 3}, {-kInfinity, 1, 1, 2}},
      {{5}, {1, 1, 2, 3, 3, 3, 9}},
      {{1, 2, 2, 2, 3, 8, 8, 9, 4, 4}, {2, 2, 3, 4, 5, 5, 6, 7, 1, 2}}};
  for (const auto& [a, b] : cases) {
    // The permutation test of the mid-ranks, which looks at every split.
    Values all = a;
    all.insert(all.end(), b.begin(), b.end());
    Values ranks;
    for (const double value : all) {
      const auto less = std::count_if(all.begin(), all.end(), [&](double v) { return v < value; });
      const auto equal = std::count(all.begin(), all.end(), value);
      ranks.push_back(static_cast<double>(less) + (static_cast<double>(equal) + 1) / 2);
    }
    const std::span<const double> whole(ranks);
    const RankTest test = rank_sum(a, b);
    EXPECT_TRUE(test.exact);
    EXPECT_NEAR(test.p, permutation_p(whole.first(a.size()), whole.subspan(a.size())), 1e-12);
    EXPECT_NEAR(rank_sum(b, a).p, test.p, 1e-12);
    double u = 0;
    for (const double x : a) {
      for (const double y : b) u += x > y ? 1 : x == y ? 0.5 : 0;
    }
    EXPECT_EQ(test.statistic, u);
  }
  // Without ties it is the test of mann_whitney_u().
  const Values a{0.1, 0.7, 0.9, 2, 7}, b{0.2, 0.5, 1.4, 3, 1, 0.3};
  EXPECT_NEAR(rank_sum(a, b).p, mann_whitney_u(a, b).p, 1e-12);
}

TEST(RankSum, LargeSamplesAreNearlyNormal) {
  Values a, b;
  for (int i = 0; i < 50; ++i) {
    a.push_back(i % 12);
    b.push_back(i % 12 + (i % 3 == 0 ? 2 : 0));
  }
  const RankTest exact = rank_sum(a, b);
  EXPECT_TRUE(exact.exact);
  EXPECT_NEAR(exact.p, mann_whitney_u(a, b).p, 0.003);
  a.push_back(3);
  EXPECT_FALSE(rank_sum(a, b).exact);
  EXPECT_EQ(rank_sum(a, b).p, mann_whitney_u(a, b).p);
  EXPECT_EQ(rank_sum(Values(60, 1.0), Values(60, 1.0)).p, 1);
  EXPECT_EQ(rank_sum({}, Values{1}).p, 1);
}

TEST(RankTests, DifferencesOfDecimalsTie) {
  // 1 - 0.67 and 0.33 - 0 differ in the last bit.
  const RankTest test = wilcoxon_signed_rank(Values{1, 0.33, 0.9}, Values{0.67, 0, 0.1});
  EXPECT_FALSE(test.exact);
}

TEST(RankTests, NothingToCompare) {
  EXPECT_EQ(wilcoxon_signed_rank({}, {}).p, 1);
  EXPECT_EQ(wilcoxon_signed_rank(Values{1, 2, 3}, Values{1, 2, 3}).p, 1);
  EXPECT_EQ(wilcoxon_signed_rank(Values{1, kNan}, Values{2, 3}).p, 1);
  EXPECT_EQ(mann_whitney_u({}, Values{1}).p, 1);
  EXPECT_EQ(mann_whitney_u(Values(4, 2.5), Values(3, 2.5)).p, 1);
  EXPECT_EQ(mann_whitney_u(Values{1, kNan}, Values{2, 3}).p, 1);
}

TEST(Friedman, AgreesWithSciPy) {
  const Json file = read_json(source_file("tests/evaluators/data/friedman.json"));
  for (const Json& item : file.at("friedman")) {
    SCOPED_TRACE(item.at("what").get<std::string>());
    const auto values = item.at("values").get<std::vector<Values>>();
    const FriedmanTest test = friedman(values);
    ASSERT_EQ(test.treatments, values.size());
    EXPECT_EQ(test.blocks, values.front().size());
    EXPECT_NEAR(test.chi_square, item.at("chi_square").get<double>(), 1e-9);
    EXPECT_NEAR(test.p, item.at("p").get<double>(), 1e-12);
    EXPECT_NEAR(test.f, item.at("f").get<double>(), 1e-9);
    EXPECT_NEAR(test.f_p, item.at("f_p").get<double>(), 1e-12);
    EXPECT_NEAR(nemenyi_critical_difference(test.treatments, test.blocks, 0.05),
                item.at("critical_difference").get<double>(), 1e-9);
    for (std::size_t i = 0; i < values.size(); ++i) {
      EXPECT_NEAR(test.mean_ranks[i], item.at("mean_ranks")[i].get<double>(), 1e-12);
      for (std::size_t j = 0; j < values.size(); ++j) {
        EXPECT_NEAR(nemenyi_p(test, i, j), item.at("nemenyi")[i][j].get<double>(), 1e-9);
      }
    }
  }
}

TEST(Friedman, AgreesWithThePublishedCriticalValues) {
  // Demsar 2006, Table 5 (a): q of the level 0.05 for 2 to 10 classifiers, divided by sqrt 2.
  const double published[] = {1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164};
  for (int k = 2; k <= 10; ++k) {
    EXPECT_NEAR(studentized_range_quantile(0.05, k) / std::sqrt(2), published[k - 2], 0.0011) << k;
  }
}

TEST(Friedman, StudentizedRangeAgreesWithSciPy) {
  const Json file = read_json(source_file("tests/evaluators/data/friedman.json"));
  for (const Json& item : file.at("studentized_range")) {
    const int groups = item.at("groups");
    const double tail = item.at("tail"), q = item.at("q");
    EXPECT_NEAR(studentized_range_quantile(tail, groups), q, 1e-7) << groups << ' ' << tail;
    EXPECT_NEAR(studentized_range_tail(q, groups), tail, 1e-9) << groups << ' ' << tail;
  }
  EXPECT_EQ(studentized_range_tail(0, 3), 1);
  EXPECT_NEAR(studentized_range_tail(100, 3), 0, 1e-14);
}

TEST(Friedman, NothingToCompare) {
  EXPECT_EQ(friedman({}).p, 1);
  EXPECT_EQ(friedman({{1, 2, 3}}).p, 1);
  EXPECT_EQ(friedman({{1}, {2}, {3}}).p, 1);
  const FriedmanTest equal = friedman({{1, 2}, {1, 2}, {1, 2}});
  EXPECT_EQ(equal.p, 1);
  EXPECT_EQ(equal.f_p, 1);
  EXPECT_EQ(equal.mean_ranks, Values(3, 2));
  EXPECT_EQ(nemenyi_p(equal, 0, 1), 1);
  EXPECT_EQ(friedman({{1, kNan}, {2, 3}, {3, 4}}).p, 1);
}

TEST(Friedman, AllBlocksAlike) {
  const FriedmanTest test = friedman({{3, 9, 0.3}, {2, 8, 0.2}, {1, 7, 0.1}});
  EXPECT_EQ(test.mean_ranks, (Values{1, 2, 3}));
  EXPECT_EQ(test.chi_square, 6);
  EXPECT_TRUE(std::isinf(test.f));
  EXPECT_EQ(test.f_p, 0);
}

TEST(Friedman, DecimalsTie) {
  const FriedmanTest test = friedman({{1 - 0.67, 1}, {0.33, 0}, {0, 0}});
  EXPECT_EQ(test.mean_ranks, (Values{1.25, 2, 2.75}));
}

TEST(Holm, AgreesWithStatsmodels) {
  const Json file = read_json(source_file("tests/evaluators/data/friedman.json"));
  for (const Json& item : file.at("holm")) {
    const auto expected = item.at("adjusted").get<Values>();
    const Values adjusted = holm(item.at("p").get<Values>());
    ASSERT_EQ(adjusted.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(adjusted[i], expected[i], 1e-15);
    }
  }
  EXPECT_TRUE(holm({}).empty());
}

TEST(LeastBlocks, AreThoseWithWhichADifferenceCanBeSeen) {
  // k(k-1) / 2^n < 0.05
  EXPECT_EQ(least_blocks(2, 0.05), 6U);
  EXPECT_EQ(least_blocks(3, 0.05), 7U);
  EXPECT_EQ(least_blocks(4, 0.05), 8U);
  EXPECT_EQ(least_blocks(8, 0.05), 11U);
  EXPECT_EQ(least_blocks(12, 0.05), 12U);
  for (const std::size_t blocks : {5U, 6U}) {
    std::vector<double> better, worse;
    for (std::size_t i = 1; i <= blocks; ++i) {
      better.push_back(static_cast<double>(i));  // no two differences are equal
      worse.push_back(0);
    }
    EXPECT_EQ(wilcoxon_signed_rank(better, worse).p < 0.05, blocks >= least_blocks(2, 0.05))
        << blocks;
  }
}

}  // namespace
}  // namespace neutra::evaluators::tests
