#include "evaluators/kill_test.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace neutra::evaluators {
namespace {

constexpr KillOptions kPublished{true, KillVariant::kAsPublished};

// p, d and power: statsmodels 0.14 (GLM, FTestAnovaPower), as DeepCrime calls it.
const std::vector<double> kOriginal{.98, .97, .99, .98, .97, .98, .99, .97, .98, .98};
const std::vector<double> kMutant{.97, .98, .98, .96, .97, .98, .97, .97, .98, .96};

TEST(KillTest, AgreesWithStatsmodels) {
  const KillVerdict v = kill_test(kOriginal, kMutant, {});
  EXPECT_NEAR(v.p, 0.04042397933690706, 1e-10);
  EXPECT_NEAR(v.d, 0.9165151389911969, 1e-10);
  EXPECT_NEAR(v.power, 0.4919491710789835, 1e-9);
  EXPECT_TRUE(v.killed);
  EXPECT_FALSE(v.stable);
  const KillVerdict published = kill_test(kOriginal, kMutant, kPublished);
  EXPECT_DOUBLE_EQ(published.p, 0.040);
  EXPECT_NEAR(published.power, 0.9720446479859303, 1e-9);
  EXPECT_TRUE(published.killed);
  EXPECT_TRUE(published.stable);
}

TEST(KillTest, ErrorsAreWorseWhenLarger) {
  const std::vector<double> original{.10, .12, .11, .13}, mutant{.20, .22, .25, .19};
  const KillVerdict v = kill_test(original, mutant, {false});
  EXPECT_NEAR(v.d, -4.803844614152616, 1e-9);
  EXPECT_NEAR(v.p, 1.0932219338166365e-11, 1e-15);
  EXPECT_NEAR(v.power, 0.999808841735965, 1e-9);
  EXPECT_TRUE(v.killed);
  EXPECT_FALSE(kill_test(original, mutant, {true}).killed);
  EXPECT_FALSE(kill_test(mutant, original, {false}).killed);
}

TEST(KillTest, RoundingDecidesAtTheLevel) {
  // 20 against 20, z = 1.9636: p just under 0.05.
  const double spread = 0.01, n = 20;
  std::vector<double> original, mutant;
  for (int i = 0; i < 20; ++i) original.push_back(0.9 + (i % 2 == 0 ? spread : -spread));
  const double deviation = spread * std::sqrt(n / (n - 1));
  const double shift = 1.9636 * deviation * std::sqrt(2 / n);  // p = 0.04958
  for (const double v : original) mutant.push_back(v - shift);
  EXPECT_TRUE(kill_test(original, mutant, {}).killed);
  const KillVerdict published = kill_test(original, mutant, kPublished);
  EXPECT_DOUBLE_EQ(published.p, 0.05);
  EXPECT_FALSE(published.killed);
}

TEST(KillTest, WithoutSpread) {
  const std::vector<double> ones(5, 1.0), halves(5, 0.5);
  const KillVerdict apart = kill_test(ones, halves, {});
  EXPECT_TRUE(apart.killed);
  EXPECT_EQ(apart.d, std::numeric_limits<double>::infinity());
  EXPECT_EQ(apart.power, 1);
  EXPECT_FALSE(kill_test(ones, ones, {}).killed);
}

TEST(KillTest, ADivergedMutantIsKilled) {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  for (const bool maximize : {true, false}) {
    for (const double diverged : {nan, infinity, -infinity}) {
      for (const std::size_t count : {2u, 3u, 10u}) {
        const std::vector<double> original(count, 1), mutant(count, diverged);
        const KillVerdict v = kill_test(original, mutant, {maximize});
        EXPECT_TRUE(v.killed);
        EXPECT_TRUE(v.stable);
        EXPECT_EQ(v.power, 1);
        EXPECT_FALSE(v.missing);
        EXPECT_FALSE(kill_test(mutant, original, {maximize}).killed);
        const KillVerdict both = kill_test(mutant, mutant, {maximize});
        EXPECT_FALSE(both.killed || both.missing);
        EXPECT_EQ(both.p, 1);
      }
    }
    // A few may be chance, most are not.
    const auto mutant = [&](std::size_t diverged) {
      std::vector<double> values = kOriginal;
      std::fill_n(values.begin(), diverged, nan);
      return kill_test(kOriginal, values, {maximize});
    };
    EXPECT_FALSE(mutant(3).killed);
    EXPECT_TRUE(mutant(7).killed);
    EXPECT_GT(mutant(7).power, mutant(3).power);
    EXPECT_LT(mutant(7).power, 1);
  }
}

TEST(KillTest, NoVerdictOfTooFewRunsNorAsPublishedOfNoNumbers) {
  const std::vector<double> one{1.0}, other{0.1}, some{1.0, 1.0, 0.9};
  const std::vector<double> nan{0.1, std::nan(""), 0.1};
  const std::vector<double> nans(3, std::nan(""));
  for (const KillVerdict& v :
       {kill_test(one, other, {}), kill_test({}, {}, {}), kill_test({}, nans, {}),
        kill_test(some, nan, kPublished), kill_test(some, nans, kPublished)}) {
    EXPECT_TRUE(v.missing);
    EXPECT_FALSE(v.killed);
    EXPECT_FALSE(v.stable);
  }
  EXPECT_FALSE(kill_test(some, some, {}).missing);
}

TEST(Power, AgreesWithStatsmodels) {
  EXPECT_NEAR(anova_power(0.5, 20), 0.5620066465861493, 1e-10);
  EXPECT_NEAR(anova_power(0.5, 40), 0.8689530277239899, 1e-10);
  EXPECT_NEAR(anova_power(1.2, 20), 0.9990427089309106, 1e-10);
  EXPECT_NEAR(anova_power(0.25, 40), 0.33793902892504113, 1e-10);
  EXPECT_NEAR(anova_power(0.1, 20), 0.07082134518931082, 1e-10);
  EXPECT_NEAR(anova_power(-0.5, 40), 0.8689530277239899, 1e-10);
  EXPECT_NEAR(anova_power(0, 40), 0.05, 1e-12);
  EXPECT_EQ(anova_power(1e9, 40), 1);
  EXPECT_EQ(anova_power(1, 2), 0);
}

TEST(Wilson, AgreesWithStatsmodels) {
  const auto expect = [](std::size_t hits, std::size_t n, double level, double low, double high) {
    const Interval interval = wilson_interval(hits, n, level);
    EXPECT_NEAR(interval.low, low, 1e-12);
    EXPECT_NEAR(interval.high, high, 1e-12);
  };
  expect(0, 20, .1, 0.0, 0.11915783736096455);
  expect(3, 20, .1, 0.06158241047736826, 0.3218280756753069);
  expect(20, 20, .1, 0.8808421626390355, 1.0);
  expect(7, 10, .05, 0.39677814746114537, 0.8922087325936989);
}

TEST(Foregone, NeverContradictsTheRuns) {
  std::mt19937 random(3);
  const auto uniform = [&] { return static_cast<double>(random()) / 4294967295.0; };
  int decided = 0, killed = 0;
  for (int round = 0; round < 150; ++round) {
    const std::size_t runs = 3 + random() % 10;
    const bool maximize = random() % 2 == 0;
    const double level = uniform(), spread = 0.1 * uniform(), other = uniform();
    const auto draw = [&](double center) {
      return std::clamp(center + spread * (2 * uniform() - 1), 0.0, 1.0);
    };
    std::vector<double> original(runs), mutant(runs);
    for (double& v : original) v = draw(level);
    for (double& v : mutant) v = draw(other);
    // Some diverge: then nothing is said of what isn't there yet.
    if (round % 5 == 0) mutant[random() % runs] = std::nan("");
    const auto agrees = [&](std::span<const double> values, bool said) {
      const KillVerdict verdict = kill_test(original, values, {maximize});
      return said ? verdict.killed && verdict.stable : !verdict.killed;
    };
    for (std::size_t known = 0; known <= runs; ++known) {
      const auto said = foregone(original, std::span(mutant).first(known), runs, maximize);
      if (!said) continue;
      ASSERT_TRUE(agrees(mutant, *said)) << "round " << round << ", " << known << " of " << runs;
      // Nor anything else that the other runs could have been.
      for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> otherwise(mutant.begin(), mutant.begin() + static_cast<long>(known));
        const double mode = uniform();
        while (otherwise.size() < runs) {
          otherwise.push_back(mode < .4 ? uniform() : mode < .7 ? std::round(uniform()) : mode);
        }
        ASSERT_TRUE(agrees(otherwise, *said)) << "round " << round;
      }
      if (known < runs) {
        ++decided;
        killed += *said;
      }
    }
  }
  EXPECT_GT(killed, 10);
  EXPECT_GT(decided - killed, 10);
}

TEST(Foregone, ClearCases) {
  const std::vector<double> original{.95, .96, .94, .95, .96};
  EXPECT_EQ(foregone(original, {}, 5, true), std::nullopt);
  EXPECT_EQ(foregone(original, std::vector<double>{.1, .1, .12, .11}, 5, true), true);
  EXPECT_EQ(foregone(original, std::vector<double>{1, 1, 1, 1}, 5, true), false);
  // What isn't finite is ranked: only all runs tell.
  const double nan = std::nan("");
  EXPECT_EQ(foregone(original, std::vector<double>{nan}, 5, true), std::nullopt);
  EXPECT_EQ(foregone(original, std::vector<double>{nan, nan, nan, nan}, 5, true), std::nullopt);
  EXPECT_EQ(foregone(original, std::vector<double>(5, nan), 5, true), true);
  EXPECT_EQ(foregone(original, std::vector<double>{.95, .96, .94, .95, nan}, 5, true), false);
  EXPECT_EQ(foregone(std::vector<double>{.9}, {}, 5, true), false);
}

/// Kills from `limit` on towards the severe end.
KillTest kills_from(double limit, bool falls, std::vector<std::optional<double>>* references) {
  return [=](double value, std::optional<double> reference) {
    if (references) references->push_back(reference);
    KillVerdict verdict;
    verdict.killed = falls ? value <= limit : value >= limit;
    return verdict;
  };
}

TEST(Bisection, WorkedExample) {
  // 0 to 100 with precision 5: 100 k, 50 s, 75 k, 62 s, 68 k (68.5 rounds to even), 65 s.
  std::vector<std::optional<double>> references;
  const BinarySearch search =
      bisect({0, 100, 5, 0}, KillVariant::kCorrected, kills_from(66, false, &references));
  std::vector<double> tried;
  for (const SearchStep& step : search.steps) tried.push_back(step.value);
  EXPECT_EQ(tried, (std::vector<double>{100, 50, 75, 62, 68, 65}));
  EXPECT_EQ(search.killed, 68);
  EXPECT_EQ(search.survived, 65);
  EXPECT_EQ(search.steps[3].harmless, 50);
  EXPECT_EQ(search.steps[3].severe, 75);
  for (const auto& reference : references) EXPECT_EQ(reference, std::nullopt);
}

TEST(Bisection, RoundsAsPython) {
  // round(0.00775, 4) is 0.0077: the double lies below the tie.
  const BinarySearch search =
      bisect({0.01, 0.001, 0.0001, 4}, KillVariant::kCorrected, kills_from(0.003, true, nullptr));
  EXPECT_EQ(search.steps[1].value, 0.0055);
  const BinarySearch milder =
      bisect({0.01, 0.001, 0.0001, 4}, KillVariant::kCorrected, kills_from(0.008, true, nullptr));
  EXPECT_EQ(milder.steps[2].value, 0.0077);
}

TEST(Bisection, PublishedComparesWithTheLastSurvivor) {
  std::vector<std::optional<double>> references;
  bisect({0, 100, 5, 0}, KillVariant::kAsPublished, kills_from(66, false, &references));
  EXPECT_EQ(references,
            (std::vector<std::optional<double>>{std::nullopt, std::nullopt, 50, 50, 62, 62}));
}

TEST(Bisection, FallingRangesAndEnds) {
  // Learning rate 1 to 0.001.
  const BinarySearch rate =
      bisect({1, 0.001, 0.01, 3}, KillVariant::kCorrected, kills_from(0.25, true, nullptr));
  ASSERT_TRUE(rate.killed && rate.survived);
  EXPECT_LE(*rate.killed, 0.25);
  EXPECT_GT(*rate.survived, 0.25);
  EXPECT_LE(*rate.survived - *rate.killed, 0.01);
  // The severe end survives.
  const BinarySearch none =
      bisect({0, 100, 5, 0}, KillVariant::kCorrected, kills_from(200, false, nullptr));
  EXPECT_EQ(none.steps.size(), 1u);
  EXPECT_EQ(none.killed, std::nullopt);
  // Everything is killed: down to the harmless end.
  const BinarySearch all =
      bisect({0, 100, 5, 0}, KillVariant::kCorrected, kills_from(-1, false, nullptr));
  EXPECT_EQ(all.survived, 0);
  EXPECT_LE(*all.killed, 5);
}

TEST(Bisection, GoesOnToMilderValuesWithoutAVerdict) {
  // Nothing can be said from 60 on; killed from 30 on.
  const auto test = [](double killed, double missing) {
    return [=](double value, std::optional<double>) {
      KillVerdict verdict;
      verdict.missing = value >= missing;
      verdict.killed = !verdict.missing && value >= killed;
      return verdict;
    };
  };
  for (const KillVariant variant : {KillVariant::kCorrected, KillVariant::kAsPublished}) {
    const BinarySearch search = bisect({0, 100, 5, 0}, variant, test(30, 60));
    EXPECT_TRUE(search.steps.front().verdict.missing);
    EXPECT_EQ(search.killed, 32);
    EXPECT_EQ(search.survived, 28);
  }
  // Survivors up to where nothing can be said.
  const BinarySearch none = bisect({0, 100, 5, 0}, KillVariant::kCorrected, test(60, 60));
  EXPECT_EQ(none.killed, std::nullopt);
  EXPECT_EQ(none.survived, std::nullopt);
  EXPECT_GT(none.steps.size(), 1u);
}

TEST(Bisection, EndsWhereRoundingLeavesNothingBetween) {
  const BinarySearch search =
      bisect({12, 1, 0.1, 0}, KillVariant::kCorrected, kills_from(4, true, nullptr));
  EXPECT_EQ(search.killed, 4);
  EXPECT_EQ(search.survived, 5);
}

}  // namespace
}  // namespace neutra::evaluators
