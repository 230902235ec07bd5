// DeepDiagnosis's rules on dead nodes, saturation, and what stands still or vanishes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tests/fl_adapters/deepdiagnosis_cases.h"
#include "tests/fl_adapters/next_number.h"

namespace neutra::fl_adapters::deepdiagnosis::tests {
namespace {

using training::dense;
using training::layer;

TEST(DeepDiagnosis, DeadNodesInTheLastEpoch) {
  const std::string fired =
      " layer 1: Dead Node Problem | Add dropout layer or Missing activation "
      "function -> ACH(1)|LRM";
  for (const std::string function : {"relu", "exponential"}) {
    Case c;
    c.setting.epochs = 2;
    c.layers[1] = activation(function);
    c.change = [](EpochTrace&, Values& v) { v[1].outputs = {0, 0, 0, 0, 0, 0, -1, 3, 1, 2}; };
    EXPECT_EQ(c.said(2), fired);
    EXPECT_EQ(c.said(1), "");  // the first of two epochs
    c.setting.input_max = 2;
    EXPECT_EQ(c.said(2), " layer 1: Dead Node Problem | Normalize the data -> CPP");
    c.setting.input_max = 1;
    c.setting.learning_rate = 10;
    EXPECT_EQ(c.said(2), " layer 1: Dead Node Problem" + kRate);
    c.change = [](EpochTrace&, Values& v) { v[1].outputs = {0, 0, 0, 0, 0, 0, kTiny, 3, 1, 2}; };
    EXPECT_EQ(c.said(2), "");
  }
  // Inside of a Dense layer the published tool doesn't see the function.
  Case c;
  c.setting.epochs = 1;
  c.layers = Json::array({dense(4, "relu"), dense(2, "linear"), activation("softmax")});
  c.change = [](EpochTrace&, Values& v) { v[0].outputs = {0, 0, 0, 1}; };
  EXPECT_EQ(c.said(1), "");
  c.variant = kRepaired;
  EXPECT_EQ(c.said(1),
            " layer 0: Dead Node Problem | Add dropout layer or Missing activation "
            "function -> ACH(0)|LRM");
}

TEST(DeepDiagnosis, SaturatedActivation) {
  const float less = below(5.0f);
  for (const std::string function : {"sigmoid", "tanh"}) {
    Case c;
    c.layers[3] = activation(function);
    c.change = [](EpochTrace& e, Values& v) {
      if (e.epoch == 4) v[2].outputs = {5, -5, 9, 0.1f, 0.2f};
    };
    EXPECT_EQ(c.said(5),
              " layer 2: Saturated Activation Problem | Add dropout layer or Missing "
              "activation function -> ACH(2)|LRM");
    c.change = [](EpochTrace& e, Values& v) {
      if (e.epoch == 4) v[2].outputs = {5, -5, 0.1f, 0.2f};  // half of them
    };
    EXPECT_EQ(c.said(5), "");
    c.change = [&](EpochTrace& e, Values& v) {
      if (e.epoch == 4) v[2].outputs = {less, -less, less, less, less};
    };
    EXPECT_EQ(c.said(5), "");
    c.change = [](EpochTrace& e, Values& v) {
      if (e.epoch == 3) v[2].outputs = {5, 5, 5};  // every fifth epoch
    };
    EXPECT_EQ(c.said(5), "");
  }
}

TEST(DeepDiagnosis, SaturatedActivationInsideOfALayer) {
  const auto said = [](const std::string& function, float value, ToolVariant variant) {
    Case c;
    c.variant = variant;
    c.layers = Json::array({dense(4, function), dense(2, "linear"), activation("softmax")});
    c.change = [&](EpochTrace& e, Values& v) {
      if (e.epoch == 4) v[0].outputs = {value, value, value, 0.5f};
    };
    return c.said(5);
  };
  const std::string fired =
      " layer 0: Saturated Activation Problem | Add dropout layer or Missing "
      "activation function -> ACH(0)|LRM";
  EXPECT_EQ(said("sigmoid", 0.994f, kRepaired), fired);  // sigmoid(5) = 0.9933
  EXPECT_EQ(said("sigmoid", 0.993f, kRepaired), "");
  EXPECT_EQ(said("sigmoid", 0.0066f, kRepaired), fired);
  EXPECT_EQ(said("sigmoid", 0.0068f, kRepaired), "");
  EXPECT_EQ(said("tanh", 0.99992f, kRepaired), fired);  // tanh(5) = 0.99991
  EXPECT_EQ(said("tanh", 0.9998f, kRepaired), "");
  EXPECT_EQ(said("sigmoid", 1, kPublished), "");
}

TEST(DeepDiagnosis, UnchangedTensorInForward) {
  Case c;
  const auto still_in = [&](std::size_t layer, int from, int to) {
    c.change = [=](EpochTrace& e, Values& v) {
      if (e.epoch >= from && e.epoch < to) v[layer].outputs = {0.5f};
    };
    return c.said(12);
  };
  const std::string problem = " layer 1: Unchange Tensor in forward";
  EXPECT_EQ(still_in(1, 5, 10), problem + " | Please change Optimizer -> OCH");
  EXPECT_EQ(still_in(1, 5, 9), "");
  EXPECT_EQ(still_in(1, 6, 11), "");
  EXPECT_EQ(still_in(5, 0, 12), "");  // the last layer
  c.setting.learning_rate = 10;
  EXPECT_EQ(still_in(1, 5, 10), problem + kRate);
  c.layers[1] = layer("Flatten", Json::object());
  EXPECT_EQ(still_in(1, 5, 10), "");
}

TEST(DeepDiagnosis, InvalidLossAndAccuracy) {
  Case c;
  for (const double bad : {std::nan(""), HUGE_VAL}) {
    c.change = [&](EpochTrace& e, Values&) {
      if (e.epoch == 1) e.loss = bad;
    };
    EXPECT_EQ(c.said(2), ": Invalid loss | Please change optimizer -> OCH");
    c.change = [&](EpochTrace& e, Values&) {
      if (e.epoch == 1) e.accuracy = bad;
    };
    EXPECT_EQ(c.said(2), ": Invalid accuracy | Please change optimizer -> OCH");
  }
  c.change = [](EpochTrace& e, Values&) {
    e.loss = std::numeric_limits<double>::max();
    e.accuracy = std::numeric_limits<double>::denorm_min();
  };
  EXPECT_EQ(c.said(2), "");
  c.change = [](EpochTrace& e, Values&) { e.accuracy = 0; };
  EXPECT_EQ(c.said(1), ": Invalid accuracy | Please change optimizer -> OCH");
  c.setting.learning_rate = 10;
  EXPECT_EQ(c.said(1), ": Invalid accuracy" + kRate);
  c = ending(dense(2, "sigmoid"), "mean_squared_error", 0, 1);
  c.change = [](EpochTrace& e, Values&) { e.accuracy = 0; };
  EXPECT_EQ(c.said(1),
            ": Invalid accuracy | Please change the activation function at layer : 1 -> ACH(1)");
  c.variant = kRepaired;
  EXPECT_EQ(c.said(1), ": Invalid accuracy | Please change optimizer -> OCH");
}

TEST(DeepDiagnosis, LossThatDoesNotDecrease) {
  Case c;
  const auto still_in = [&](int from, int to) {
    c.change = [=](EpochTrace& e, Values&) {
      if (e.epoch >= from && e.epoch < to) e.loss = 0.5;
    };
    return c.said(12);
  };
  // The published tool fails where it would suggest something.
  EXPECT_EQ(still_in(5, 10), ": Loss Not Decreasing -> -");
  EXPECT_EQ(still_in(5, 9), "");
  EXPECT_EQ(still_in(6, 11), "");
  c.variant = kRepaired;
  EXPECT_EQ(still_in(5, 10), ": Loss Not Decreasing | Please change optimizer -> OCH");
  c.setting.input_max = 5;
  EXPECT_EQ(still_in(5, 10), ": Loss Not Decreasing | Normalize the data -> CPP");
}

TEST(DeepDiagnosis, AccuracyThatDoesNotIncrease) {
  Case c;
  const auto still_in = [&](int from, int to) {
    c.change = [=](EpochTrace& e, Values&) {
      if (e.epoch >= from && e.epoch < to) e.accuracy = 0.5;
    };
    return c.said(45);
  };
  EXPECT_EQ(still_in(20, 40), ": Accurcy Not Increasing | Please change optimizer -> OCH");
  EXPECT_EQ(still_in(20, 39), "");
  EXPECT_EQ(still_in(21, 41), "");
  c.setting.learning_rate = 1e-9;
  EXPECT_EQ(still_in(20, 40), ": Accurcy Not Increasing" + kRate);
  c.setting.input_max = 5;
  EXPECT_EQ(still_in(20, 40), ": Accurcy Not Increasing | Normalize the data -> CPP");
}

TEST(DeepDiagnosis, NumericalErrorInDeltaWeights) {
  Case c;
  const auto with_gradient = [&](std::size_t layer, std::vector<float> values) {
    c.change = [=](EpochTrace&, Values& v) { v[layer].gradients[0] = values; };
    return c.said(1);
  };
  const std::string problem = ": Numerical Error in delta Weights";
  for (const float bad : {kNaN, kInfinite}) {
    EXPECT_EQ(
        with_gradient(0, {1, bad}),
        " layer 0" + problem + " | Please change the activaton function at layer: 1 -> ACH(1)");
    // The layer before the last
    EXPECT_EQ(with_gradient(4, {1, bad}),
              " layer 4" + problem +
                  " | Please change the loss function \t OR Please change the activaton function "
                  "at layer: 5 -> ACH(5)|LCH");
  }
  EXPECT_NE(with_gradient(0, {1, -1}), "");
  EXPECT_EQ(with_gradient(0, {1, -below(1.0f)}), "");
  c.variant = kRepaired;
  EXPECT_EQ(with_gradient(0, {1, -1}), "");
  EXPECT_NE(with_gradient(0, {0, 0}), "");
  // The last layer: nothing to suggest.
  c = ending(dense(2, "sigmoid"), "mean_squared_error", 0, 1);
  EXPECT_EQ(with_gradient(1, {0, 0}), " layer 1" + problem + " -> -");
}

TEST(DeepDiagnosis, VanishingGradient) {
  Case c;
  c.setting.learning_rate = 1000;
  const auto with_gradient = [&](float value) {
    c.change = [=](EpochTrace&, Values& v) { v[2].gradients[0] = {value, -value, value, value}; };
    return c.said(1);
  };
  const std::string problem = " layer 2: Vanishing Gradient Problem in delta Weights";
  EXPECT_EQ(with_gradient(below(1e-7f)), problem + kRate);
  EXPECT_EQ(with_gradient(1e-7f), "");
  // The ratio of each pair of layer and array within its bounds.
  c.change = [](EpochTrace&, Values& v) {
    for (const std::size_t i : {0u, 2u, 4u}) {
      v[i].weights[0] = {1e-6f, 2e-6f};
      v[i].gradients = {{1e-9f, 2e-9f}, {1e-9f, 2e-9f}};
    }
  };
  c.setting.learning_rate = 1;
  EXPECT_EQ(c.said(1),
            " layer 4: Vanishing Gradient Problem in delta Weights | Add/delete layer or "
            "change sigmoid activation function -> ACH(4)|LAD|LRM");
}

TEST(DeepDiagnosis, NumericalErrorInWeights) {
  Case c;
  const auto with_weights = [&](std::vector<float> values) {
    c.change = [=](EpochTrace&, Values& v) { v[2].weights[0] = values; };
    return c.said(1);
  };
  const std::string problem = " layer 2: Numerical Error in Weights";
  EXPECT_EQ(with_weights({1, kNaN}),
            problem + " | Please change the activaton function at layer: 3 -> ACH(3)");
  EXPECT_EQ(with_weights({1, -1}), problem + kRate);  // the gradient against 0
  EXPECT_EQ(with_weights({1, -below(1.0f)}), "");
  EXPECT_EQ(with_weights({kHuge}), "");
  c.variant = kRepaired;
  EXPECT_EQ(with_weights({1, -1}), "");
  EXPECT_EQ(with_weights({0, 0}), problem + " | Poor Weight -> WCI");
}

TEST(DeepDiagnosis, UnchangedDeltaWeightsAndWeights) {
  for (const bool gradients : {true, false}) {
    Case c;
    const auto still_in = [&](int from, int to) {
      c.change = [=](EpochTrace& e, Values& v) {
        if (e.epoch < from || e.epoch >= to) return;
        (gradients ? v[2].gradients : v[2].weights)[0] = {0.5f, 0.25f, 0.75f};
      };
      return c.said(12);
    };
    const std::string problem = gradients ? " layer 2: Unchange Tensor in Delta Weights"
                                          : " layer 2: Unchange Tensor  in Weights";
    EXPECT_EQ(still_in(5, 10), problem + " | Please change Optimizer -> OCH");
    EXPECT_EQ(still_in(5, 9), "");
    EXPECT_EQ(still_in(6, 11), "");
    c.setting.learning_rate = 10;
    EXPECT_EQ(still_in(5, 10), problem + kRate);
  }
}

TEST(DeepDiagnosis, MeansBeforeASoftmaxStandStill) {
  Case c;
  c.change = [](EpochTrace&, Values& v) { v[4].weights[0] = {0.5f, 0.25f, 0.75f}; };
  EXPECT_EQ(c.said(5), " layer 4: Unchange Tensor  in Weights | Please change Optimizer -> OCH");
  c.variant = kRepaired;
  EXPECT_EQ(c.said(5), "");
}

}  // namespace
}  // namespace neutra::fl_adapters::deepdiagnosis::tests
