#include "fl_adapters/tools/deepdiagnosis.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/fl_adapters/next_number.h"
#include "tests/fl_adapters/tools_words.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::deepdiagnosis {

using namespace training;
namespace {

constexpr auto kPublished = ToolVariant::kAsPublished;
constexpr auto kRepaired = ToolVariant::kRepaired;
const float kNaN = std::nanf("");
const float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kHuge = std::numeric_limits<float>::max();

Json activation(const std::string& name) { return layer("Activation", {{"activation", name}}); }

/// What the tool knows and sees; a training that no rule has a word for until a test changes it.
struct Case {
  Json layers = Json::array({dense(4, "linear"), activation("relu"), dense(3, "linear"),
                             activation("tanh"), dense(2, "linear"), activation("softmax")});
  Setting setting{"categorical_crossentropy", 0.001, 100, 0, 1, 0, 1};
  ToolVariant variant = kPublished;
  /// Of each layer.
  struct Values {
    std::vector<float> outputs;
    std::vector<std::vector<float>> weights, gradients;
  };
  /// Changes what is seen at the end of an epoch.
  std::function<void(EpochTrace&, std::vector<Values>&)> change = [](EpochTrace&,
                                                                     std::vector<Values>&) {};

  /// Layers before those of the model that the tool counts.
  static int inputs(const CallbackModel& model) { return model.layers.front().index; }

  /// "problem | suggestion -> answer" of the first hit in `epochs` epochs, without "Batch" and
  /// ", terminating training"; a failure as it is; "" for none.
  std::string said(int epochs) const {
    const CallbackModel model =
        callback_model(program_of("moons", 2, layers, "categorical_crossentropy", "accuracy",
                                  optimizer("Adam", 0.001)),
                       variant);
    Checker checker(model, setting);
    for (int epoch = 0; epoch < epochs; ++epoch) {
      const float moved = 0.01f * static_cast<float>(epoch);
      std::vector<Values> values(model.layers.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        values[i].outputs = {0.2f + moved, 0.5f, 0.7f, -0.1f};
        if (model.layers[i].class_name != "Dense") continue;
        values[i].weights = {{0.3f + moved, -0.1f, 0.2f}, {0, 0.1f}};
        values[i].gradients = {{0.5f + moved, 0.25f, -0.25f}, {0.5f, 0.25f}};
      }
      EpochTrace trace;
      trace.epoch = epoch;
      trace.loss = 1.0 / (epoch + 1);
      trace.accuracy = 0.5 + 0.001 * epoch;
      change(trace, values);
      trace.layers.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        trace.layers[i].outputs = values[i].outputs;
        for (const auto& v : values[i].weights) trace.layers[i].weights.push_back(summary(v));
        for (const auto& v : values[i].gradients) trace.layers[i].gradients.push_back(summary(v));
      }
      const Finding finding = checker.check(trace);
      if (!finding.failure.empty()) return finding.failure;
      if (finding.messages.empty()) continue;
      const ToolMessage& problem = finding.messages.front();
      EXPECT_EQ(problem.epochs, std::vector<std::int64_t>{epoch});
      std::string text = in_the_tools_words(problem.text);
      const std::string start = "Batch " + std::to_string(epoch), end = ", terminating training";
      EXPECT_TRUE(text.starts_with(start)) << text;
      EXPECT_TRUE(text.ends_with(end)) << text;
      const auto at = text.find(" layer ");
      EXPECT_EQ(problem.layers, at == std::string::npos
                                    ? std::set<int>{}
                                    : std::set<int>{std::stoi(text.substr(at + 7)) + inputs(model)})
          << text;
      text = text.substr(0, text.size() - end.size()).substr(start.size());
      if (finding.messages.size() > 1) text += " | " + in_the_tools_words(finding.messages[1].text);
      EXPECT_LE(finding.messages.size(), 2u);
      return text + " -> " + to_string(answer_of(finding.messages));
    }
    return "";
  }
};
using Values = std::vector<Case::Values>;

const std::string kRate = " | Learning Rate -> HLR";

TEST(DeepDiagnosis, QuietTraining) {
  Case c;
  EXPECT_EQ(c.said(60), "");
  c.variant = kRepaired;
  EXPECT_EQ(c.said(60), "");
}

/// A last layer of its own kind, with targets from `min` to `max`.
Case ending(Json last, const std::string& loss, float min, float max) {
  Case c;
  c.layers = Json::array({dense(4, "linear"), std::move(last)});
  c.setting.loss = loss;
  c.setting.target_min = min;
  c.setting.target_max = max;
  return c;
}
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

/// Each problem's suggestions in their order, the last one where nothing else is odd.
TEST(DeepDiagnosis, OrderOfSuggestions) {
  enum Odd { kWeights, kInput, kStep };
  const std::string weights = "Poor Weight -> WCI", input = "Normalize the data -> CPP",
                    step = "Learning Rate -> HLR", metric = "Please change optimizer -> OCH",
                    tensor = "Please change Optimizer -> OCH";
  const struct {
    const char* problem;
    std::function<void(EpochTrace&, Values&)> change;
    std::vector<Odd> order;  ///< of what is looked for
    std::string last;
  } problems[] = {
      {" layer 2: Numerical Problem Forward",
       [](EpochTrace&, Values& v) { v[2].outputs = {kNaN}; },
       {kWeights, kInput, kStep},
       "Please change the activaton function at layer: 3 -> ACH(3)"},
      {" layer 2: Numerical Error in Weights",
       [](EpochTrace&, Values& v) {
         v[2].weights[0] = {kNaN, 1};
       },
       {kWeights, kInput, kStep},
       "Please change the activaton function at layer: 3 -> ACH(3)"},
      {" layer 2: Saturated Activation Problem",
       [](EpochTrace& e, Values& v) {
         if (e.epoch == 4) v[2].outputs = {9, 8, 7};
       },
       {kInput, kWeights, kStep},
       "Add dropout layer or Missing activation function -> ACH(2)|LRM"},
      {" layer 1: Dead Node Problem",
       [](EpochTrace&, Values& v) {
         v[1].outputs = {0, 0, 0, 1};
       },
       {kInput, kWeights, kStep},
       "Add dropout layer or Missing activation function -> ACH(1)|LRM"},
      {" layer 2: Unchange Tensor in forward",
       [](EpochTrace&, Values& v) { v[2].outputs = {0.5f}; },
       {kWeights, kStep},
       tensor},
      {" layer 2: Unchange Tensor in Delta Weights",
       [](EpochTrace&, Values& v) {
         v[2].gradients[0] = {0.5f, 0.25f};
       },
       {kWeights, kStep},
       tensor},
      {" layer 2: Unchange Tensor  in Weights",
       [](EpochTrace&, Values& v) {
         v[2].weights[0] = {0.5f, 0.25f};
       },
       {kWeights, kStep},
       tensor},
      {": Loss Not Decreasing",
       [](EpochTrace& e, Values&) { e.loss = 0.5; },
       {kWeights, kInput, kStep},
       metric},
      {": Accurcy Not Increasing",
       [](EpochTrace& e, Values&) { e.accuracy = 0.5; },
       {kWeights, kInput, kStep},
       metric},
      {": Invalid loss", [](EpochTrace& e, Values&) { e.loss = HUGE_VAL; }, {kStep}, metric},
      {": Invalid accuracy", [](EpochTrace& e, Values&) { e.accuracy = 0; }, {kStep}, metric}};
  for (const auto& each : problems) {
    for (std::size_t first = 0; first <= each.order.size(); ++first) {
      // Odd from here on.
      const std::set<Odd> odd(each.order.begin() + static_cast<std::ptrdiff_t>(first),
                              each.order.end());
      Case c;
      c.variant = kRepaired;
      c.setting.epochs = std::string(each.problem).find("Dead") != std::string::npos ? 1 : 100;
      if (odd.contains(kInput)) c.setting.input_max = above(1.0f);
      c.change = [&](EpochTrace& e, Values& v) {
        each.change(e, v);
        const auto moved = static_cast<float>(e.epoch);
        if (odd.contains(kWeights)) v[0].weights[0] = {1e-3f, 2e-3f + 1e-5f * moved};
        if (odd.contains(kStep)) v[4].gradients[0] = {1000, 2000 + moved};
      };
      std::string expected = each.last;
      if (first < each.order.size()) {
        expected = each.order[first] == kWeights ? weights
                   : each.order[first] == kInput ? input
                                                 : step;
      }
      EXPECT_EQ(c.said(20), each.problem + (" | " + expected));
    }
  }
}

TEST(DeepDiagnosis, LayersAreCountedWithTheInputLayer) {
  Case c;
  c.layers.insert(c.layers.begin(), layer("InputLayer", Json::object()));
  c.change = [](EpochTrace&, Values& v) { v[1].outputs = {kNaN}; };
  EXPECT_EQ(c.said(1),
            " layer 1: Numerical Problem Forward | Please change the activaton function at layer: "
            "2 -> ACH(3)");
}

TEST(DeepDiagnosis, OrderOfTheTool) {
  const std::vector<std::function<void(EpochTrace&, Values&)>> breaks{
      [](EpochTrace&, Values& v) { v[0].weights[0] = {0}; },
      [](EpochTrace&, Values& v) { v[0].gradients[0] = {0}; },
      [](EpochTrace&, Values& v) { v[4].weights[0] = {0}; },
      [](EpochTrace&, Values& v) { v[4].gradients[0] = {0}; },
      [](EpochTrace& e, Values&) { e.accuracy = 0; },
      [](EpochTrace& e, Values&) { e.loss = HUGE_VAL; },
      [](EpochTrace&, Values& v) { v[5].outputs = {0}; },
      [](EpochTrace&, Values& v) { v[1].outputs = {0}; }};
  const std::vector<std::string> first{"layer 0: Numerical Error in Weights",
                                       "layer 0: Numerical Error in delta Weights",
                                       "layer 4: Numerical Error in Weights",
                                       "layer 4: Numerical Error in delta Weights",
                                       "Invalid accuracy",
                                       "Invalid loss",
                                       "layer 5: Numerical Problem Forward",
                                       "layer 1: Numerical Problem Forward"};
  for (std::size_t n = 0; n < breaks.size(); ++n) {
    Case c;
    c.change = [&](EpochTrace& e, Values& v) {
      for (std::size_t i = 0; i <= n; ++i) breaks[i](e, v);
    };
    EXPECT_NE(c.said(1).find(first[n]), std::string::npos) << c.said(1);
  }
  Case c = ending(dense(2, "linear"), "mean_squared_error", 0, 0.01f);
  c.change = [](EpochTrace&, Values& v) { v[1].outputs = {-1, 1}; };
  EXPECT_NE(c.said(1).find("Out of Rang"), std::string::npos);
}

TEST(DeepDiagnosis, FailsAtWeightsThatItCannotUnpack) {
  Case c;
  c.change = [](EpochTrace&, Values& v) {
    v[1].weights = {{1, 2}, {1, 2}, {1, 2}, {1, 2}};
    v[0].outputs = {kNaN};
  };
  EXPECT_NE(c.said(1).find("too many values"), std::string::npos);
  c.variant = kRepaired;
  EXPECT_NE(c.said(1).find("Numerical Problem Forward"), std::string::npos);
}

}  // namespace
}  // namespace neutra::fl_adapters::deepdiagnosis
