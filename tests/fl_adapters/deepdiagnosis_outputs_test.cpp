// DeepDiagnosis's rules on what layers put out: ranges, numerical problems, and what it suggests.
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <vector>

#include "tests/fl_adapters/deepdiagnosis_cases.h"
#include "tests/fl_adapters/next_number.h"

namespace neutra::fl_adapters::deepdiagnosis::tests {
namespace {

using training::dense;
using training::layer;

const std::string kOut = " layer 1:  Out of Rang Problem";
const std::string kToSoftmax = " | change the activation function to softmax -> ";

TEST(DeepDiagnosis, TargetsOutOfRange) {
  const std::string fired = kOut + kToSoftmax + "ACH(1)";
  const float above_one = std::nextafter(1.0f, 2.0f), below_zero = std::nextafter(0.0f, -1.0f);
  const float below_minus_one = std::nextafter(-1.0f, -2.0f);
  const struct {
    const char* function;
    float min, max, low, high;
  } ranges[] = {{"sigmoid", 0, 1, below_zero, above_one},
                {"tanh", -1, 1, below_minus_one, above_one},
                {"relu", 0, 9, below_zero, 9},
                {"elu", -1, 9, below_minus_one, 9}};
  for (const auto& r : ranges) {
    const auto said = [&](float min, float max) {
      return ending(activation(r.function), "mean_squared_error", min, max).said(1);
    };
    EXPECT_EQ(said(r.min, r.max), "") << r.function;
    EXPECT_EQ(said(r.low, r.max), fired) << r.function;
    EXPECT_EQ(said(r.min, r.high), r.high == r.max ? "" : fired) << r.function;
  }
}

TEST(DeepDiagnosis, LinearOutputsOutOfRange) {
  for (const Json& last : {dense(2, "linear"), activation("linear")}) {
    Case c = ending(last, "mean_squared_error", 0, 0.1f);
    c.change = [](EpochTrace&, Values& v) { v[1].outputs = {-0.25f, 0.75f}; };  // ten times as wide
    EXPECT_EQ(c.said(1), "");
    c.change = [](EpochTrace&, Values& v) { v[1].outputs = {-0.25f, above(above(0.75f))}; };
    EXPECT_EQ(c.said(1), kOut + kToSoftmax + "ACH(1)");
    // In the first epoch only.
    c.change = [](EpochTrace& e, Values& v) {
      v[1].outputs = {-0.25f, e.epoch == 0 ? 0.2f : 0.9f};
    };
    EXPECT_EQ(c.said(3), "");
  }
}

TEST(DeepDiagnosis, LossesThatTakeASoftmax) {
  for (const std::string loss : {"categorical_crossentropy", "sparse_categorical_crossentropy"}) {
    const std::string fired = kOut + kToSoftmax + "ACH(1)";
    EXPECT_EQ(ending(activation("softmax"), loss, 0, 1).said(1), "");
    EXPECT_EQ(ending(activation("relu"), loss, 0, 1).said(1), fired);
    EXPECT_EQ(ending(dense(2, "linear"), loss, 0, 1).said(1), fired);
    EXPECT_EQ(ending(activation("sigmoid"), loss, 0, 1).said(1), "");
    // A softmax in a Dense layer isn't seen. The study drops the message.
    Case inside = ending(dense(2, "softmax"), loss, 0, 1);
    EXPECT_EQ(inside.said(1), kOut + kToSoftmax + "-");
    inside.variant = kRepaired;
    EXPECT_EQ(inside.said(1), "");
  }
}

TEST(DeepDiagnosis, FunctionsWithoutARange) {
  Case c = ending(activation("softplus"), "mean_squared_error", -1, 1);
  EXPECT_EQ(c.said(1), "the tool stops with an error: it knows no range for \"softplus\"");
  c.variant = kRepaired;
  EXPECT_EQ(c.said(1), kOut +
                           " | Please change the activation function at layer : 1 in same range of "
                           "input data -> ACH(1)");
  c = ending(layer("Softmax", Json::object()), "mean_squared_error", 0, 1);
  EXPECT_EQ(c.said(1), "the tool stops with an error: it knows no range for \"softmax_1\"");
  c.variant = kRepaired;
  EXPECT_EQ(c.said(1), "");
}

TEST(DeepDiagnosis, NumericalProblemForward) {
  Case c;
  for (const float bad : {kNaN, kInfinite}) {
    c.change = [&](EpochTrace& e, Values& v) {
      if (e.epoch == 2) v[1].outputs[3] = bad;
    };
    EXPECT_EQ(c.said(3),
              " layer 1: Numerical Problem Forward | Please change the activaton "
              "function at layer: 2 -> ACH(2)");
  }
  c.change = [](EpochTrace&, Values& v) { v[1].outputs = {1, -1}; };
  EXPECT_EQ(c.said(1),
            " layer 1: Numerical Problem Forward | Please change the activaton "
            "function at layer: 2 -> ACH(2)");
  c.variant = kRepaired;
  EXPECT_EQ(c.said(1), "");
  c.change = [](EpochTrace&, Values& v) { v[1].outputs = {0, 0}; };
  EXPECT_NE(c.said(1), "");
  // Numbers, however large, and means, however small.
  c.variant = kPublished;
  for (const std::vector<float>& fine : {std::vector<float>{kHuge}, std::vector<float>{kTiny},
                                         std::vector<float>{1, -below(1.0f)}}) {
    c.change = [&](EpochTrace&, Values& v) { v[1].outputs = fine; };
    EXPECT_EQ(c.said(1), "");
  }
  // After the last layer there is none.
  c.change = [](EpochTrace&, Values& v) { v[5].outputs = {kNaN}; };
  EXPECT_EQ(c.said(1),
            " layer 5: Numerical Problem Forward | Please change the activaton "
            "function at layer: 6 -> ACH");
}

TEST(DeepDiagnosis, SuggestionsForNumericalProblems) {
  Case c;
  c.change = [](EpochTrace& e, Values& v) {
    v[0].outputs = {kNaN};
    if (e.epoch == 0) v[0].gradients[0] = {300, 300};
  };
  const std::string problem = " layer 0: Numerical Problem Forward";
  EXPECT_EQ(c.said(1), problem + kRate);
  c.setting.input_max = std::nextafter(1.0f, 2.0f);
  EXPECT_EQ(c.said(1), problem + " | Normalize the data -> CPP");
  c.setting.input_max = 1;
  c.setting.input_min = -1;
  EXPECT_EQ(c.said(1), problem + kRate);
  c.setting.input_min = std::nextafter(-1.0f, -2.0f);
  EXPECT_EQ(c.said(1), problem + " | Normalize the data -> CPP");
  // Weights that are all alike: the published tool can't see that.
  const auto with_weights = [&](std::vector<float> kernel) {
    c.change = [=](EpochTrace&, Values& v) {
      v[0].outputs = {kNaN};
      v[2].weights[0] = v[2].gradients[0] = kernel;
    };
    return c.said(1);
  };
  c.setting.input_min = 0;
  const std::string fine =
      problem + " | Please change the activaton function at layer: 1 -> ACH(1)";
  EXPECT_EQ(with_weights({0.3f, 0.301f, 0.299f}), fine);
  c.variant = kRepaired;
  EXPECT_EQ(with_weights({0.3f, 0.301f, 0.299f}), problem + " | Poor Weight -> WCI");
  // The variance of -a and a is 2 a^2.
  const float low = std::sqrt(5e-6f), high = std::sqrt(5.0f);
  for (const float poor : {low * 0.999999f, high * 1.000001f}) {
    EXPECT_EQ(with_weights({-poor, poor}), problem + " | Poor Weight -> WCI");
  }
  for (const float good : {low * 1.000001f, high * 0.999999f}) {
    EXPECT_EQ(with_weights({-good, good}), fine);
  }
}

/// rate * |gradient| / |weights|, within 1e-5 and 0.1.
TEST(DeepDiagnosis, LearningRateAgainstWeights) {
  const std::string problem = " layer 0: Numerical Problem Forward";
  const std::string fine =
      problem + " | Please change the activaton function at layer: 1 -> ACH(1)";
  const auto said = [](float gradient, float weights, ToolVariant variant, std::size_t array) {
    Case c;
    c.variant = variant;
    c.setting.learning_rate = 0.001;
    c.change = [=](EpochTrace&, Values& v) {
      v[0].outputs = {kNaN};
      for (const std::size_t i : {0u, 2u, 4u}) {
        v[i].weights[0] = {weights - 0.1f, weights + 0.1f};  // variance 0.02
        v[i].gradients = {{weights, 0}, {weights, 0}};       // ratio 0.001
      }
      v[array / 2 * 2].gradients[array % 2] = {gradient, 0};
    };
    return c.said(1);
  };
  // The published tool goes through layers and arrays at once: the Dense layers 0, 2 and 4 meet the
  // gradients 0, 2 and 4, two of each layer.
  EXPECT_EQ(said(100, 1, kPublished, 0), fine);
  EXPECT_EQ(said(above(100.0f), 1, kPublished, 0), problem + kRate);
  EXPECT_EQ(said(above(0.01f), 1, kPublished, 0), fine);
  EXPECT_EQ(said(0.01f, 1, kPublished, 0), problem + kRate);  // a little less than 0.01
  EXPECT_EQ(said(101, 1, kPublished, 1), fine);               // a bias that meets no weights
  // The mean for the norm: |1| instead of |(0.9, 1.1)| = 1.42.
  EXPECT_EQ(said(101, 1, kRepaired, 0), fine);
  EXPECT_EQ(said(143, 1, kRepaired, 0), problem + kRate);
  EXPECT_EQ(said(143, 1, kRepaired, 1), fine);  // no bias counts
}

TEST(DeepDiagnosis, PublishedToolPairsLayersWithArrays) {
  // Two Dense layers in a row: the second one's mean meets the first one's bias.
  Case c;
  c.layers = Json::array({dense(4, "linear"), dense(2, "linear"), activation("softmax")});
  c.change = [](EpochTrace&, Values& v) {
    v[0].outputs = {kNaN};
    v[0].gradients[1] = {0, 0};
  };
  const std::string problem = " layer 0: Numerical Problem Forward";
  EXPECT_EQ(c.said(1), problem + kRate);
  c.variant = kRepaired;
  EXPECT_EQ(c.said(1), problem + " | Please change the activaton function at layer: 1 -> ACH(1)");
}

}  // namespace
}  // namespace neutra::fl_adapters::deepdiagnosis::tests
