#include "program/rate_schedule.h"

#include <gtest/gtest.h>

#include "program/normal.h"
#include "support.h"

namespace neutra::program {
namespace {

using tests::sample;

/// A program with that schedule.
Program with(const Json& schedule) {
  Program program = sample("mlp");
  program.document["fit"]["schedule"] = schedule;
  return program;
}

LearningRateSchedule typed(const Json& schedule) { return *schedule_of(resolve(with(schedule))); }

void expect_rates(const Json& schedule, const std::vector<std::pair<std::int64_t, double>>& rates) {
  const LearningRateSchedule made = typed(schedule);
  for (const auto& [n, rate] : rates) {
    EXPECT_NEAR(0.1 * made.factor(n), rate, 1e-8) << schedule << " at " << n;
  }
}

// Rates of keras.optimizers.schedules of Keras 3.15, first rate 0.1: CosineDecay(0.1, 10,
// alpha=0.2), PolynomialDecay(0.1, 10, 0.01, power=2), ExponentialDecay(0.1, 4, 0.5,
// staircase=True), InverseTimeDecay(0.1, 4, 0.5, staircase=True).
TEST(RateSchedule, RatesOfKeras) {
  expect_rates(
      {{"kind", "cosine"}, {"steps", 10}, {"end", 0.2}},
      {{0, 0.1}, {3, 0.08351141214370728}, {10, 0.020000001415610313}, {25, 0.020000001415610313}});
  expect_rates({{"kind", "polynomial"}, {"steps", 10}, {"end", 0.1}, {"power", 2}},
               {{0, 0.1}, {4, 0.04240000247955322}, {10, 0.01}, {12, 0.01}});
  expect_rates({{"decay_rate", 0.5}, {"steps", 4}, {"staircase", true}},
               {{3, 0.1}, {4, 0.05}, {9, 0.025}});
  expect_rates({{"kind", "inverse_time"}, {"decay_rate", 0.5}, {"steps", 4}, {"staircase", true}},
               {{3, 0.1}, {4, 0.06666667014360428}, {9, 0.05}});
  expect_rates({{"kind", "piecewise"}, {"boundaries", {4, 7}}, {"factors", {0.5, 0.1}}},
               {{0, 0.1}, {3, 0.1}, {4, 0.05}, {6, 0.05}, {7, 0.01}});
}

// Rates of torch.optim.lr_scheduler of PyTorch 2.15: CosineAnnealingLR(10, eta_min=0.02),
// LinearLR(0.25, 1, 5), PolynomialLR(5, 2), MultiStepLR([2, 5], 0.1), StepLR(3, 0.5).
TEST(RateSchedule, RatesOfPyTorch) {
  expect_rates({{"kind", "cosine"}, {"steps", 10}, {"end", 0.2}, {"cycle", true}},
               {{3, 0.08351141009169893}, {10, 0.02}, {15, 0.06}});
  expect_rates({{"kind", "polynomial"}, {"steps", 5}, {"start", 0.25}, {"end", 1}},
               {{0, 0.025}, {2, 0.055}, {5, 0.1}, {8, 0.1}});
  expect_rates({{"kind", "polynomial"}, {"steps", 5}, {"power", 2}},
               {{0, 0.1}, {3, 0.016}, {5, 0}, {8, 0}});
  expect_rates({{"kind", "piecewise"}, {"boundaries", {2, 5}}, {"factors", {0.1, 0.01}}},
               {{1, 0.1}, {2, 0.01}, {4, 0.01}, {5, 0.001}});
  expect_rates({{"decay_rate", 0.5}, {"steps", 3}, {"staircase", true}},
               {{2, 0.1}, {3, 0.05}, {7, 0.025}});
}

// What a schedule was before there were kinds has the hash that it had.
TEST(RateSchedule, DefaultsChangeNoHash) {
  const Json plain{{"decay_rate", 0.5}, {"every", "epoch"}};
  EXPECT_EQ(program_hash(with(plain)),
            program_hash(with({{"kind", "exponential"}, {"decay_rate", 0.5}, {"steps", 1}})));
  EXPECT_EQ(canonical(with(plain)).at("fit").at("schedule"), nlohmann::json({{"decay_rate", 0.5}}));
  EXPECT_TRUE(resolve(with(plain)).schedule);
  EXPECT_FALSE(resolve(with({{"decay_rate", 0.5}, {"steps", 2}})).schedule);
}

TEST(RateSchedule, Problems) {
  const auto path_of = [](const Json& schedule) {
    const auto problems = validate(with(schedule).document);
    return problems.size() == 1 ? problems[0].path : std::to_string(problems.size());
  };
  EXPECT_EQ(path_of({{"kind", "sine"}}), "/fit/schedule/kind");
  EXPECT_EQ(path_of({{"kind", "cosine"}}), "/fit/schedule/steps");
  EXPECT_EQ(path_of({{"decay_rate", 0.5}, {"end", 0}}), "/fit/schedule/end");
  EXPECT_EQ(path_of({{"kind", "piecewise"}, {"boundaries", {3, 2}}, {"factors", {1, 1}}}),
            "/fit/schedule/boundaries");
  EXPECT_EQ(path_of({{"kind", "piecewise"}, {"boundaries", {1.5}}, {"factors", {1}}}),
            "/fit/schedule/boundaries");
  EXPECT_EQ(path_of({{"kind", "piecewise"}, {"boundaries", {2}}, {"factors", {1, 1}}}),
            "/fit/schedule/factors");
  EXPECT_EQ(path_of({{"kind", "piecewise"}, {"boundaries", {2}}, {"factors", {-1}}}),
            "/fit/schedule/factors");
  EXPECT_EQ(path_of(7), "/fit/schedule");
}

TEST(RateSchedule, Constant) {
  EXPECT_TRUE(typed({{"decay_rate", 1}}).is_constant());
  EXPECT_FALSE(typed({{"decay_rate", 0.9}, {"steps", 7}}).is_constant());
  EXPECT_TRUE(typed({{"kind", "cosine"}, {"steps", 4}, {"end", 1}}).is_constant());
  EXPECT_TRUE(typed({{"kind", "piecewise"}, {"boundaries", {0, 3}}, {"factors", {0.5, 0.5}}})
                  .is_constant());
  EXPECT_FALSE(
      typed({{"kind", "piecewise"}, {"boundaries", {3}}, {"factors", {0.5}}}).is_constant());
}

// Python 3.11 gives for n = 5: 0.5 ** (5 // 4.0) = 0.5, ...
TEST(RateSchedule, ExpressionsOfPython) {
  const auto text = [](const Json& schedule) { return python_factor(typed(schedule), "n"); };
  EXPECT_EQ(text({{"decay_rate", 0.5}}), "0.5 ** n");
  EXPECT_EQ(text({{"decay_rate", 0.5}, {"steps", 4}, {"staircase", true}}), "0.5 ** (n // 4.0)");
  EXPECT_EQ(text({{"kind", "piecewise"}, {"boundaries", {2, 4}}, {"factors", {0.5, 0.1}}}),
            "(1.0, 0.5, 0.1, )[sum(n >= each for each in (2, 4,))]");
  EXPECT_EQ(text({{"kind", "polynomial"}, {"steps", 5}, {"power", 2}}),
            "(0.0 + (1.0 - 0.0) * (1 - min(n / 5.0, 1.0)) ** 2.0)");
}

}  // namespace
}  // namespace neutra::program
