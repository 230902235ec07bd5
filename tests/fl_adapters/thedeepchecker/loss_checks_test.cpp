#include "fl_adapters/tools/thedeepchecker/loss_checks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "evaluators/rank_tests.h"
#include "tests/fl_adapters/next_number.h"
#include "tests/fl_adapters/thedeepchecker/checks.h"

namespace neutra::fl_adapters::thedeepchecker::tests {
namespace {

TEST(TheDeepChecker, FitOfOneBatch) {
  const Lines fired{"The DNN training is unable to fit properly a single batch of data -> -"};
  EXPECT_EQ(said(check_fit({{0.5, 0.4}, {0.5, below(0.95)}, true})), fired);
  EXPECT_EQ(said(check_fit({{0.5, 0.4}, {above(0.95), 0.5}, true})), Lines{});
  EXPECT_EQ(said(check_fit({{0.5, 0.4}, {0.5, 0.001}, false})), Lines{});
}

TEST(TheDeepChecker, FitOfARegressionTakesTheLeastError) {
  const Lines fired{"The DNN training is unable to fit properly a single batch of data -> -"};
  EXPECT_EQ(said(check_fit({{0.5, 0.4}, {0.5, above(0.001)}, false})), fired);
}

TEST(TheDeepChecker, LossThatIsNoNumber) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const Messages found = check_fit({{0.5, nan}, {1, 1}, true});
  EXPECT_EQ(said(found),
            (Lines{"Loss is turning into NaN -> -",
                   "The DNN training is unable to fit properly a single batch of data -> -"}));
  EXPECT_EQ(found[0].epochs, std::vector<std::int64_t>{1});
  EXPECT_EQ(said(check_fit({{infinite}, {1}, true}))[0], "Loss is turning into +/-Inf -> -");
}

TEST(TheDeepChecker, LossThatReachesZero) {
  const Lines fired{
      "The loss is smoothly decreasing towards zero: The model may need "
      "regularization -> RRW"};
  // 100 losses that fall to `least`, with two turns for each of `bumps`.
  const auto fit = [](double least, int bumps) {
    Fit fit;
    for (int i = 0; i < 100; ++i) fit.losses.push_back(std::pow(least, i / 99.0));
    for (int i = 1; i <= bumps; ++i) fit.losses[static_cast<std::size_t>(10 * i)] *= 10;
    fit.performance.assign(100, 1);
    return fit;
  };
  EXPECT_EQ(said(check_fit(fit(1e-5, 2))), fired);
  EXPECT_EQ(said(check_fit(fit(above(1e-5), 2))), Lines{});
  EXPECT_EQ(said(check_fit(fit(1e-5, 3))), Lines{});  // not smooth
  EXPECT_EQ(said(check_fit(fit(1e-8, 3))), fired);
  EXPECT_EQ(said(check_fit(fit(above(1e-8), 3))), Lines{});
  // Four turns of a hundred are smooth, five aren't.
  Fit rising = fit(1e-6, 2);
  rising.losses.back() = 1;
  EXPECT_LE(rising.losses[98], 1e-5);
  EXPECT_EQ(said(check_fit(rising)), Lines{});
  // A loss far below zero isn't near it; the published rule asks only for a small one.
  Fit negative = fit(1e-6, 3);
  negative.losses.back() = -3e11;
  EXPECT_EQ(said(check_fit(negative)), fired);
  EXPECT_NE(check_fit(negative)[0].detail.find("far below zero"), std::string::npos);
  EXPECT_EQ(said(check_fit(negative, kRepaired)), Lines{});
}

TEST(TheDeepChecker, ShippedSettings) {
  EXPECT_EQ(message_table().threshold("perfect_error"), 1e-4);
  EXPECT_EQ(message_table().threshold("range_check"), 0);
}

TEST(TheDeepChecker, DataDependence) {
  // 0 to 99, and the same shifted by some places and a half.
  const auto said_of = [](int places) {
    std::vector<double> real, zeroed;
    for (int i = 0; i < 100; ++i) {
      real.push_back(i);
      zeroed.push_back(i + places + 0.5);
    }
    EXPECT_EQ(evaluators::mann_whitney_u(real, zeroed).p <= 0.05, places > 7);
    return said(check_data_dependence(real, zeroed));
  };
  EXPECT_EQ(said_of(7),
            Lines{"The training procedure seems to be not considering the data inputs -> -"});
  EXPECT_EQ(said_of(8), Lines{});
  // Of longer fits the last 100 losses count.
  std::vector<double> long_fit(200, 9), other(200, 1);
  std::iota(long_fit.begin() + 100, long_fit.end(), 0);
  std::iota(other.begin() + 100, other.end(), 0);
  EXPECT_EQ(said(check_data_dependence(long_fit, other)).size(), 1u);
}

/// What is said at the last of some checks. The mean loss of the n-th check is `losses`[n].
Lines losses(const std::vector<double>& losses, const std::vector<double>& performances = {}) {
  LossCheck check;
  Messages found;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double performance = performances.empty() ? -losses[i] : performances[i];
    const std::int64_t last = 10 * static_cast<std::int64_t>(i);
    found.clear();
    for (std::int64_t iteration = i == 0 ? 0 : last - 9; iteration <= last; ++iteration) {
      check.see(iteration, losses[i], performance, found);
    }
  }
  return said(found);
}

TEST(TheDeepChecker, LossThatHardlyFalls) {
  const auto falling = [](double share, int checks) {
    std::vector<double> curve{1};
    for (int i = 1; i < checks; ++i) curve.push_back(curve.back() * (1 - share));
    return losses(curve);
  };
  EXPECT_EQ(falling(0.05 - 1e-12, 5), Lines{"The loss is no-or-slowly decreasing -> -"});
  EXPECT_EQ(falling(0.05 + 1e-12, 5), Lines{});
  EXPECT_EQ(falling(0.05 - 1e-12, 4), Lines{});
}

TEST(TheDeepChecker, LossThatGrows) {
  EXPECT_EQ(losses({1, 2, 4, 8, 16}),
            (Lines{"The loss is no-or-slowly decreasing -> -",
                   "Loss is diverging with absolute rate reaching 2.0 -> -"}));
  EXPECT_EQ(losses({1, 2, 4, 8, 15.999999}), Lines{"The loss is no-or-slowly decreasing -> -"});
}

TEST(TheDeepChecker, LossThatFluctuates) {
  EXPECT_EQ(losses({1, 0.5, 1, 0.5, 1, 0.5}),
            Lines{"There is a lot of fluctuations, the smoothness of Loss is 0.333 > 0.5 -> -"});
  EXPECT_EQ(losses({1, 0.5, 1, 0.5}), Lines{});  // half of the values turn
  EXPECT_EQ(losses({1, 0.5, 1, 0.5, 1}),
            Lines{"There is a lot of fluctuations, the smoothness of Loss is 0.4 > 0.5 -> -"});
}

TEST(TheDeepChecker, LossThatDoesNotGoWithThePerformance) {
  EXPECT_EQ(losses({1, 0.8, 0.6, 0.4}, {0.1, 0.2, 0.2, 0.1}),
            Lines{"The loss seems to lack representativeness: the correlation magnitude between "
                  "loss and performance measures equals to 0.0 < 0.5 -> LCH"});
  // A correlation of 1/2
  EXPECT_EQ(losses({3, 2, 1}, {2, -2, 0}), Lines{});
  EXPECT_EQ(losses({3, 2, 1}, {2, -2.000001, 0}).size(), 1u);
  EXPECT_EQ(losses({1, 0.8}, {0.1, 0.1}), Lines{});
  EXPECT_EQ(losses({1, 0.8, 0.6, 0.4}, {0.5, 0.5, 0.5, 0.5}), Lines{});  // no correlation at all
}

TEST(TheDeepChecker, LossOfAnIterationThatIsNoNumber) {
  Messages found;
  LossCheck check;
  check.see(0, std::nan(""), 0, found);
  check.see(1, INFINITY, 0, found);
  EXPECT_EQ(said(found),
            (Lines{"Loss is turning into NaN -> -", "Loss is turning into +/-Inf -> -"}));
}

}  // namespace
}  // namespace neutra::fl_adapters::thedeepchecker::tests
