#include "fl_adapters/tools/thedeepchecker/weight_checks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fl_adapters/tools/thedeepchecker/output_checks.h"
#include "tests/fl_adapters/next_number.h"
#include "tests/fl_adapters/thedeepchecker/checks.h"

namespace neutra::fl_adapters::thedeepchecker::tests {
namespace {

Lines weight(const std::vector<float>& values, const Place& place = kPlace, bool bias = false,
             std::int64_t at = 10, ToolVariant variant = kPublished) {
  return at_iteration(WeightCheck(place, bias, variant), at, values);
}

TEST(TheDeepChecker, NegativeWeights) {
  EXPECT_EQ(
      weight(mixed(1000, 0.951, -1, 1)),
      Lines{"FC layer weight dense_2/kernel:0 has 0.951 as ratio of negative elements (>0.95) "
            "-> WCI(3)"});
  EXPECT_EQ(weight(mixed(1000, 0.95, -1, 1)), Lines{});
  EXPECT_EQ(weight(mixed(1000, 0.951, -1, 1), kPlace, true), Lines{});
  EXPECT_EQ(weight(mixed(1000, 0.951, -1, 1), kPlace, false, 9), Lines{});
  EXPECT_EQ(weight(mixed(1000, 1, -1, 1), {0, "c", true})[0],
            "Conv. layer weight c has 1.0 as ratio of negative elements (>0.95) -> WCI(0)");
}

TEST(TheDeepChecker, OneNegativeNumberIsNoShareUnlessPublished) {
  EXPECT_EQ(weight({-1}).size(), 1u);
  EXPECT_EQ(weight({-1}, kPlace, false, 10, kRepaired), Lines{});
}

TEST(TheDeepChecker, DeadWeights) {
  // In single precision, 1e-5 is a little less.
  EXPECT_EQ(weight(mixed(1000, 0.951, 1e-5f, 1)),
            Lines{"FC layer weight dense_2/kernel:0 has 0.951 as ratio of dead elements (<=1e-05) "
                  "-> RAW(3)|WCI(3)"});
  EXPECT_EQ(weight(mixed(1000, 0.95, 1e-5f, 1)), Lines{});
  EXPECT_EQ(weight(mixed(1000, 0.951, above(1e-5f), 1)), Lines{});
}

TEST(TheDeepChecker, WeightsThatAreNoNumbers) {
  EXPECT_EQ(weight({std::nanf("")}, kPlace, false, 1),
            Lines{"There was (a) NaN(s) in weight dense_2/kernel:0 -> -"});
  EXPECT_EQ(weight({INFINITY}, kPlace, false, 1),
            Lines{"There was (a) +/-Inf(s) in weight dense_2/kernel:0 -> -"});
  EXPECT_EQ(weight({std::nanf("")}, kPlace, true, 1),
            Lines{"There was (a) NaN(s) in bias dense_2/kernel:0 -> -"});
  EXPECT_EQ(weight({INFINITY}, kPlace, true, 1),
            Lines{"There was (a) +/-Inf(s) in bias : dense_2/kernel:0 -> -"});
  for (const bool bias : {false, true}) {
    EXPECT_EQ(weight({kHuge, -kHuge}, kPlace, bias, 1), Lines{});
  }
}

TEST(TheDeepChecker, LargeWeights) {
  EXPECT_EQ(
      weight({1.01e8f, -1.01e8f}, kPlace, false, 10, kRepaired),
      Lines{"FC layer weight are diverging until reaching abs mean of 101000000.0 > 100000000 "
            "-> HLR|WCI(3)"});
  // The published tool puts the name where the number belongs.
  EXPECT_EQ(weight({1.01e8f, -1.01e8f}),
            Lines{"FC layer weight are diverging until reaching abs mean of dense_2/kernel:0 > "
                  "101000000.0 -> HLR|WCI(3)"});
  EXPECT_EQ(weight({1e8f, -1e8f}), Lines{});
  EXPECT_EQ(weight({above(1e8f), -above(1e8f)}).size(), 1u);
  EXPECT_EQ(weight({1e8f}, kPlace, true), Lines{});
  EXPECT_EQ(weight({1.01e8f}, {4, "dense_2/bias:0", false}, true),
            Lines{"Bias dense_2/bias:0 is diverging until reaching abs mean of 101000000.0 > "
                  "100000000 -> BCI(4)|HLR"});
}

/// What is said at iteration 10 of values that grow by `factor` in the last `steps` iterations.
template <typename See>
Lines grown(double factor, int steps, See see) {
  Messages found;
  double value = 1;
  for (int i = 0; i <= 10; ++i) {
    if (i > 10 - steps) value *= factor;
    found.clear();
    see(i, static_cast<float>(value), found);
  }
  return said(found);
}

TEST(TheDeepChecker, GrowingWeights) {
  const auto judged = [](double factor, int steps, bool bias) {
    WeightCheck check(kPlace, bias, kRepaired);
    return grown(factor, steps, [&](int i, float value, Messages& found) {
      check.see(i, std::vector<float>{value, -value}, found);
    });
  };
  EXPECT_EQ(judged(2, 4, false),
            Lines{"FC layer weight are diverging with growth rate reaching 2.0 > 2 -> HLR|WCI(3)"});
  EXPECT_EQ(judged(1.999999, 4, false), Lines{});
  EXPECT_EQ(judged(2, 3, false), Lines{});
  EXPECT_EQ(judged(2, 4, true),
            Lines{"Bias dense_2/kernel:0 is diverging with growth rate reaching 2.0 > 2 -> "
                  "BCI(3)|HLR"});
}

/// A gradient check with weights of size 1 that change by `update`.
Lines gradient(double size, double update, std::int64_t at = 10) {
  return at_iteration(GradientCheck(kPlace), at, around(100, 1), around(100, 1 + update),
                      around(100, size));
}

TEST(TheDeepChecker, SizeOfUpdates) {
  EXPECT_EQ(gradient(1, 0.05), Lines{});
  EXPECT_EQ(gradient(1, 0.125),
            Lines{"FC layer weight dense_2/kernel:0 change too quickly with magnitude update ratio "
                  "of -0.903 > -1 -> HLR"});
  // 1.1f and 1.0001f are a little more.
  const auto updated = [](float after) {
    return at_iteration(GradientCheck(kPlace), 10, around(100, 1), around(100, after),
                        around(100, 1));
  };
  EXPECT_EQ(updated(below(1.1f)), Lines{});
  EXPECT_EQ(updated(1.1f).size(), 1u);
  EXPECT_EQ(updated(1.0001f), Lines{});
  EXPECT_EQ(updated(below(1.0001f)).size(), 1u);
  // The least change there is leaves no weights untrained.
  EXPECT_EQ(updated(above(1.0f)),
            Lines{"FC layer weight of dense_2/kernel:0 change too slowly with magnitude update "
                  "ratio of -6.924 < -4 -> HLR"});
  EXPECT_EQ(gradient(1, 0.00001),
            Lines{"FC layer weight of dense_2/kernel:0 change too slowly with magnitude update "
                  "ratio of -4.999 < -4 -> HLR"});
  EXPECT_EQ(gradient(1, 0),
            Lines{"The weights of dense_2/kernel:0 are untrained (no value is changing) -> "
                  "ACH(3)|HLR"});
  EXPECT_EQ(gradient(1, 0, 0), Lines{});
  EXPECT_EQ(gradient(1, 0, 9), Lines{});
}

TEST(TheDeepChecker, SmallAndLargeGradients) {
  EXPECT_EQ(gradient(1e-6, 0.01),  // in single precision a little less
            Lines{"Gradient w.r.t weight of FC layer dense_2/kernel:0 are vanishing with reaching "
                  "abs mean of 0.0 < 1e-06 -> ACH(3)|WCI(3)"});
  EXPECT_EQ(gradient(above(1e-6f), 0.01), Lines{});
  EXPECT_EQ(gradient(1e6, 0.01), Lines{});
  EXPECT_EQ(gradient(above(1e6f), 0.01).size(), 1u);
  const Lines large = gradient(1.5e6, 0.01);
  EXPECT_EQ(large, Lines{"Gradient w.r.t weight of FC layer dense_2/kernel:0 are exploding with "
                         "reaching abs mean of 1500000.0 > 1000000 -> HLR|OCG|WCI(3)"});
}

TEST(TheDeepChecker, GrowingAndFallingGradients) {
  const auto judged = [](double factor, int steps) {
    GradientCheck check(kPlace);
    const std::vector<float> before = around(10, 1), after = around(10, 1.01);
    return grown(factor, steps, [&](int i, float value, Messages& found) {
      check.see(i, before, after, std::vector<float>{value, -value}, found);
    });
  };
  EXPECT_EQ(judged(2, 4), Lines{"Gradient w.r.t weight of FC layer dense_2/kernel:0 are exploding "
                                "with growth rate reaching 2.0 > 2 -> HLR|OCG|WCI(3)"});
  EXPECT_EQ(judged(1.999999, 4), Lines{});
  EXPECT_EQ(judged(2, 3), Lines{});
  EXPECT_EQ(judged(0.5, 4),
            Lines{"Gradient w.r.t weight of FC layer dense_2/kernel:0 are vanishing "
                  "with decay rate reaching 0.5 < 0.5 -> ACH(3)|WCI(3)"});
  EXPECT_EQ(judged(0.500001, 4), Lines{});
  EXPECT_EQ(judged(0.5, 3), Lines{});
}

TEST(TheDeepChecker, GradientsThatAreNoNumbers) {
  EXPECT_EQ(gradient(std::nan(""), 0.01),
            Lines{"There was (a) NaN(s) in gradient w.r.t weight dense_2/kernel:0 -> -"});
  EXPECT_EQ(gradient(INFINITY, 0.01),
            Lines{"There was (a) +/-Inf(s) in gradient w.r.t weight dense_2/kernel:0 -> -"});
  for (const std::string& line : gradient(kHuge, 0.01)) {
    EXPECT_EQ(line.find("There was"), std::string::npos) << line;
  }
}

TEST(TheDeepChecker, OverwhelmingRegularization) {
  EXPECT_EQ(at_iteration(RegularizationCheck(kPlace), 4, 2.5),
            Lines{"The data loss is overwhelmed by regularization losses reaching 2.5 > 2. -> "
                  "RAW(3)"});
  EXPECT_EQ(at_iteration(RegularizationCheck(kPlace), 3, 2.5), Lines{});
  EXPECT_EQ(at_iteration(RegularizationCheck(kPlace), 4, below(2.0)), Lines{});
  EXPECT_EQ(at_iteration(RegularizationCheck(kPlace), 4, 2.0).size(), 1u);
}

TEST(TheDeepChecker, FaultsLieWhereActivationAndWeightsAre) {
  const Place kernel{6, "dense_3/kernel:0", false, 7, -1},
      output{7, "activation_3/relu", false, -1, 6};
  EXPECT_EQ(at_iteration(GradientCheck(kernel), 10, around(10, 1), around(10, 1), around(10, 0)),
            (Lines{"The weights of dense_3/kernel:0 are untrained (no value is changing) -> "
                   "ACH(7)|HLR",
                   "Gradient w.r.t weight of FC layer dense_3/kernel:0 are vanishing with reaching "
                   "abs mean of 0.0 < 1e-06 -> ACH(7)|WCI(6)"}));
  EXPECT_EQ(at_iteration(ActivationCheck(output, "relu"), 10, repeated(10, 0), std::size_t{2})[0],
            "2/2 neuron(s) of FC layer activation activation_3/relu are considered dead -> "
            "ACH(7)|HLR|WCI(6)");
}

/// Of weights and outputs of images; the limits are those of the tests above.
TEST(TheDeepChecker, WordsAboutConvolutions) {
  const Place kernel{4, "conv/kernel:0", true}, outputs{4, "conv/relu", true};
  const auto of_weights = [&](const std::vector<float>& values) {
    return weight(values, kernel, false, 10, kRepaired);
  };
  EXPECT_EQ(of_weights(mixed(1000, 0.951, -1, 1)),
            Lines{"Conv. layer weight conv/kernel:0 has 0.951 as ratio of negative elements (>0.95)"
                  " -> WCI(4)"});
  EXPECT_EQ(of_weights(mixed(1000, 0.951, 0, 1)),
            Lines{"Conv. Layer weight conv/kernel:0 has 0.951 as ratio of dead elements (<=1e-05) "
                  "-> RAW(4)|WCI(4)"});
  EXPECT_EQ(of_weights({2e8f, -2e8f}),
            Lines{"Conv. layer weight are diverging until reaching abs mean of 200000000.0 > "
                  "100000000 -> HLR|WCI(4)"});
  WeightCheck growing(kernel, false, kRepaired);
  EXPECT_EQ(grown(3, 4,
                  [&](int i, float value, Messages& found) {
                    growing.see(i, std::vector<float>{value, -value}, found);
                  }),
            Lines{"Conv. layer weight are diverging with growth rate reaching 3.0 > 2 -> "
                  "HLR|WCI(4)"});

  const auto of_gradients = [&](double size, double update) {
    return at_iteration(GradientCheck(kernel), 10, around(100, 1), around(100, 1 + update),
                        around(100, size));
  };
  EXPECT_EQ(of_gradients(1, 0.125),
            Lines{"Conv. layer weight conv/kernel:0 change too quickly with magnitude update ratio "
                  "of -0.903 > -1 -> HLR"});
  EXPECT_EQ(of_gradients(1, 0.00001),
            Lines{"Conv. layer weight conv/kernel:0 change too slowly with magnitude update ratio "
                  "of -4.999 < -4 -> HLR"});
  EXPECT_EQ(of_gradients(0, 0.01),
            Lines{"Gradient w.r.t weight of Conv. layer conv/kernel:0 are vanishing with reaching "
                  "abs mean of 0.0 < 1e-06 -> ACH(4)|WCI(4)"});
  EXPECT_EQ(of_gradients(1.5e6, 0.01),
            Lines{"Gradient w.r.t weight of Conv. layer conv/kernel:0 are exploding with reaching "
                  "abs mean of 1500000.0 > 1000000 -> HLR|OCG|WCI(4)"});
  const auto of_course = [&](double factor) {
    GradientCheck check(kernel);
    const std::vector<float> before = around(10, 1), after = around(10, 1.01);
    return grown(factor, 4, [&](int i, float value, Messages& found) {
      check.see(i, before, after, std::vector<float>{value, -value}, found);
    });
  };
  EXPECT_EQ(of_course(3), Lines{"Gradient w.r.t weight of Conv. layer conv/kernel:0 are exploding "
                                "with growth rate reaching 3.0 > 2 -> HLR|OCG|WCI(4)"});
  EXPECT_EQ(of_course(0.25), Lines{"Gradient w.r.t weight of Conv. layer conv/kernel:0 are "
                                   "vanishing with decay rate reaching 0.25 < 0.5 -> "
                                   "ACH(4)|WCI(4)"});

  const auto of_outputs = [&](const std::string& activation, std::vector<float> values) {
    return at_iteration(ActivationCheck(outputs, activation), 10, values, std::size_t{2});
  };
  EXPECT_EQ(of_outputs("relu", mixed(100, 1, 0, 0))[0],
            "2/2 filter(s) of Conv. layer activation conv/relu are considered dead -> "
            "ACH(4)|HLR|WCI(4)");
  EXPECT_EQ(of_outputs("sigmoid", mixed(100, 0.5, 0, 1)),
            Lines{"2/2 filter(s) of Conv. layer activation conv/relu are considered saturated -> "
                  "ACH(4)|WCI(4)"});
  EXPECT_EQ(of_outputs("selu", around(100, 4)),
            Lines{"Conv. layer activation conv/relu are considered unstable with std of 4.0 far "
                  "from [0.5, 2.0] -> ACH(4)|WCI(4)"});
}

TEST(TheDeepChecker, MessagesNameTheirLayer) {
  const float nan = std::nanf("");
  const std::vector<float> one{nan};
  Messages found;
  WeightCheck(kPlace, false, kPublished).see(1, one, found);
  WeightCheck(kPlace, true, kPublished).see(1, one, found);
  GradientCheck(kPlace).see(1, one, one, one, found);
  RegularizationCheck regularization(kPlace);
  for (int i = 0; i < 5; ++i) regularization.see(i, 3, found);
  ActivationCheck(Place{3, "a", false}, "relu").see(10, one, 1, found);
  OutputCheck({3, "out", false}, classes({0.5, 0.5})).see(10, one, 1, found);
  EXPECT_EQ(found.size(), 6u);
  for (const ToolMessage& message : found) EXPECT_EQ(message.layers, std::set<int>{3});
}

}  // namespace
}  // namespace neutra::fl_adapters::thedeepchecker::tests
