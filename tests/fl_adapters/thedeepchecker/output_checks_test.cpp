#include "fl_adapters/tools/thedeepchecker/output_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tests/fl_adapters/next_number.h"
#include "tests/fl_adapters/thedeepchecker/checks.h"

namespace neutra::fl_adapters::thedeepchecker::tests {
namespace {

const Place kOutput{5, "dense_3/", false};

TEST(TheDeepChecker, OutputsThatAreNoProbabilities) {
  const Lines fired{
      "The predicted outputs are not valid with respect to the target -> "
      "ACH(5)|LCN(5)"};
  const auto judged = [](std::vector<float> outputs, std::size_t width, Targets targets) {
    return at_iteration(OutputCheck(kOutput, targets), 0, outputs, width);
  };
  Targets binary = classes({0.5, 0.5});
  binary.outputs = 1;
  EXPECT_EQ(judged({0, 1}, 1, binary), Lines{});
  EXPECT_EQ(judged({0, above(1.0f)}, 1, binary), fired);
  EXPECT_EQ(judged({-kTiny, 1}, 1, binary), fired);
  // Sums above 0.95 and below 1.05, between which and their single precisions the limits lie.
  const auto summing_to = [&](float sum) {
    return judged({0, sum, 0.5f, 0.5f}, 2, classes({0.5, 0.5}));
  };
  EXPECT_EQ(summing_to(0.95f), fired);
  EXPECT_EQ(summing_to(above(0.95f)), Lines{});
  EXPECT_EQ(summing_to(1.05f), Lines{});
  EXPECT_EQ(summing_to(above(1.05f)), fired);
  EXPECT_EQ(judged({-kTiny, 1, 0.5f, 0.5f}, 2, classes({0.5, 0.5})), fired);
  EXPECT_EQ(judged({0.2f, 0.8f, 0.6f, 0.4f}, 2, classes({0.4, 0.3, 0.3})), fired);
  EXPECT_EQ(judged({1, 2, 3, 4}, 2, regression({kNormal})), fired);
}

TEST(TheDeepChecker, OutputsThatAreNoNumbers) {
  const auto judged = [](float value) {
    return at_iteration(OutputCheck(kOutput, classes({0.5, 0.5})), 0,
                        std::vector<float>{value, 0.5f}, std::size_t{1});
  };
  EXPECT_EQ(judged(std::nanf("")), Lines{"There was (a) NaN(s) in outputs -> -"});
  EXPECT_EQ(judged(-INFINITY), Lines{"There was (a) +/-Inf(s) in outputs -> -"});
  EXPECT_EQ(judged(kHuge),
            Lines{"The predicted outputs are not valid with respect to the target -> "
                  "ACH(5)|LCN(5)"});
}

TEST(TheDeepChecker, OutputsThatNeverChange) {
  const OutputCheck check(kOutput, [] {
    Targets targets = classes({0.5, 0.5});
    targets.outputs = 1;
    return targets;
  }());
  const std::vector<float> same(4, 0.5f), other{0.5f, 0.5f, above(0.5f), 0.5f};
  // The fifth check is that of iteration 40.
  EXPECT_EQ(at_iteration(check, 39, same, std::size_t{1}), Lines{});
  EXPECT_EQ(at_iteration(check, 30, same, std::size_t{1}), Lines{});
  EXPECT_EQ(at_iteration(check, 40, same, std::size_t{1}),
            Lines{"Outputs of the model are constantly unchanged -> -"});
  EXPECT_EQ(at_iteration(check, 40, other, std::size_t{1}), Lines{});
}

TEST(TheDeepChecker, OutputsOfARegressionMustReachItsTargets) {
  const auto judged = [](Column target, float low, float high, std::int64_t at = 40) {
    return at_iteration(OutputCheck(kOutput, regression({target})), at,
                        std::vector<float>{low, high}, std::size_t{1});
  };
  EXPECT_EQ(
      judged(kWide, 0, 1),
      Lines{"The model seems to be unable to predict enough high magnitude values -> ACH(5)"});
  EXPECT_EQ(judged(kWide, 0, 1, 30), Lines{});  // the fifth check is that of iteration 40
  EXPECT_EQ(judged(kWide, 0, above(1.0f)), Lines{});
  EXPECT_EQ(judged({0.5, 0.2, 0, above(1.0)}, 0, 1).size(), 1u);
  EXPECT_EQ(judged(kNormal, 0, 1), Lines{});
  EXPECT_EQ(judged(kCentred, 0, 1),
            Lines{"The model seems to be unable to predict negative values -> ACH(5)"});
  EXPECT_EQ(judged(kCentred, 0, 1, 30), Lines{});
  EXPECT_EQ(judged(kCentred, -kTiny, 1), Lines{});
  EXPECT_EQ(judged({0.5, 0.2, below(0.0), 1}, 0, 1).size(), 1u);
}

TEST(TheDeepChecker, RangeOfActivations) {
  const auto judged = [](const std::string& activation, float value) {
    std::vector<float> values = around(100, 1);
    for (float& v : values) v = std::abs(v) * 0.5f + 0.1f;
    values[0] = value;
    Lines range;
    for (const std::string& line :
         at_iteration(ActivationCheck(kActivation, activation, true), 10, values, std::size_t{2})) {
      if (line.starts_with("Activations of")) range.push_back(line);
    }
    return range;
  };
  EXPECT_EQ(judged("relu", -kTiny),
            Lines{"Activations of dense_1/relu had values less than 0.0 -> ACH(2)"});
  EXPECT_EQ(judged("relu", 0), Lines{});
  EXPECT_EQ(judged("sigmoid", above(1.0f)),
            Lines{"Activations of dense_1/relu had values greater than 1.0 -> ACH(2)"});
  EXPECT_EQ(judged("sigmoid", 1), Lines{});
  EXPECT_EQ(judged("tanh", -1), Lines{});
  EXPECT_EQ(judged("tanh", below(-1.0f)),
            Lines{"Activations of dense_1/relu had values less than -1.0 -> ACH(2)"});
  EXPECT_EQ(judged("elu", below(-1.0f)),
            Lines{"Activations of dense_1/relu had values less than -1.0 -> ACH(2)"});
  EXPECT_EQ(judged("relu6", above(6.0f)),
            Lines{"Activations of dense_1/relu had values greater than 6.0 -> ACH(2)"});
  EXPECT_EQ(judged("elu", -1), Lines{});
  EXPECT_EQ(judged("relu6", 6), Lines{});
  EXPECT_EQ(judged("selu", -100), Lines{});
  // The shipped settings switch it off.
  EXPECT_FALSE(ActivationCheck::checks_range());
}

TEST(TheDeepChecker, ActivationsThatAreNoNumbers) {
  const auto judged = [](float value) {
    return at_iteration(ActivationCheck(kActivation, "selu"), 10, std::vector<float>{value, 1},
                        std::size_t{1});
  };
  EXPECT_EQ(judged(std::nanf("")), Lines{"There was (a) NaN(s) in activation dense_1/relu -> -"});
  EXPECT_EQ(judged(INFINITY), Lines{"There was (a) +/-Inf(s) in activation dense_1/relu -> -"});
}

/// Whether the one neuron of a layer is dead, from one batch.
Lines said_at_ten(const std::vector<float>& values) {
  ActivationCheck check(kActivation, "relu");
  Messages found;
  check.see(10, values, 1, found);
  std::erase_if(found, [](const ToolMessage& message) { return message.code != "fc_act_dead"; });
  return said(found);
}

TEST(TheDeepChecker, DeadNeurons) {
  // Ten rows of four neurons; dead ones stay at `value`.
  const auto judged = [](std::size_t dead, float value, const Place& place, std::int64_t at) {
    std::vector<float> values(40);
    for (std::size_t i = 0; i < 40; ++i) {
      values[i] = i % 4 < dead ? value : static_cast<float>(1 + i / 4 % 2);
    }
    return at_iteration(ActivationCheck(place, "relu"), at, values, std::size_t{4});
  };
  EXPECT_EQ(judged(3, 0, kActivation, 10),
            Lines{"3/4 neuron(s) of FC layer activation dense_1/relu are considered dead -> "
                  "ACH(2)|HLR|WCI(2)"});
  EXPECT_EQ(judged(3, 0, kFilters, 20)[0],
            "3/4 filter(s) of Conv. layer activation conv_1/relu are considered dead -> "
            "ACH(2)|HLR|WCI(2)");
  EXPECT_EQ(judged(2, 0, kActivation, 10), Lines{});
  EXPECT_EQ(judged(3, above(1e-5f), kActivation, 10), Lines{});
  EXPECT_EQ(judged(3, 1e-5f, kActivation, 10).size(), 1u);  // a little less than 1e-5
  EXPECT_EQ(judged(3, 0, kActivation, 9), Lines{});         // before the start
  EXPECT_EQ(judged(3, 0, kActivation, 11), Lines{});        // between checks
  // A neuron may live in one of 21 rows, not in two: the 95th percentile is the 20th of them.
  const auto alive_in = [](std::size_t rows) {
    std::vector<float> values(21);
    for (std::size_t i = 0; i < rows; ++i) values[i] = 1;
    return said_at_ten(values).size();
  };
  EXPECT_EQ(alive_in(1), 1u);
  EXPECT_EQ(alive_in(2), 0u);
}

TEST(TheDeepChecker, SaturatedNeurons) {
  // Four neurons, of which some are at `low` and 1 - `low`, the others at 0.1 and 0.9.
  const auto judged = [](std::size_t saturated, float low, const std::string& activation) {
    std::vector<float> values(400);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float at = i % 4 < saturated ? low : 0.1f;
      values[i] = i / 4 % 2 == 0 ? at : 1 - at;
    }
    return at_iteration(ActivationCheck({1, "dense_1/sigmoid", false}, activation), 10, values,
                        std::size_t{4});
  };
  // 1 - 2 * 0.075 = 0.85
  EXPECT_EQ(judged(3, 0.074999f, "sigmoid"),
            Lines{"3/4 neuron(s) of FC layer activation dense_1/sigmoid are considered saturated "
                  "-> ACH(1)|WCI(1)"});
  EXPECT_EQ(judged(3, 0.075001f, "sigmoid"), Lines{});
  EXPECT_EQ(judged(2, 0.07f, "sigmoid"), Lines{});
  EXPECT_EQ(judged(3, 0.07f, "tanh").size(), 1u);
  EXPECT_EQ(judged(3, 0.07f, "relu"), Lines{});
}

TEST(TheDeepChecker, UnstableActivations) {
  const double f = std::sqrt(2.70554);
  const auto judged = [](double stddev) {
    return at_iteration(ActivationCheck(kActivation, "selu"), 10, around(100, stddev),
                        std::size_t{2});
  };
  EXPECT_EQ(judged(2 * f * 0.999999), Lines{});
  EXPECT_EQ(judged(0.5 / f * 1.000001), Lines{});
  EXPECT_EQ(judged(4), Lines{"FC layer activation dense_1/relu are considered unstable with std of "
                             "4.0 far from [0.5, 2.0] -> ACH(2)|WCI(2)"});
  EXPECT_EQ(judged(2 * f * 1.000001).size(), 1u);
  EXPECT_EQ(judged(0.5 / f * 0.999999).size(), 1u);
}

}  // namespace
}  // namespace neutra::fl_adapters::thedeepchecker::tests
