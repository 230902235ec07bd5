#include "fl_adapters/tools/deeplocalize.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/fl_adapters/tools_words.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::deeplocalize {

using namespace training;
namespace {

constexpr auto kPublished = ToolVariant::kAsPublished;
constexpr auto kRepaired = ToolVariant::kRepaired;
const float kNaN = std::nanf("");
const float kInfinite = std::numeric_limits<float>::infinity();
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kHuge = std::numeric_limits<float>::max();

/// Dense, Activation, Flatten, Dense; behind an InputLayer, so that places are numbers plus one.
CallbackModel model(ToolVariant variant = kPublished) {
  return callback_model(
      program_of("moons", 2,
                 Json::array({layer("InputLayer", Json::object()), dense(4, "linear"),
                              layer("Activation", {{"activation", "relu"}}),
                              layer("Flatten", Json::object()), dense(2, "softmax")}),
                 "categorical_crossentropy", "accuracy", optimizer("Adam", 0.001)),
      variant);
}

/// A batch that no rule has a word for; all numbers move with `step`.
BatchTrace quiet(std::int64_t step) {
  const auto moved = [&](float value) {
    return Mean{value + 0.01f * static_cast<float>(step), false};
  };
  BatchTrace batch;
  batch.epoch = step / 3;
  batch.batch = step % 3;
  batch.loss = moved(1).value;
  batch.accuracy = moved(0.3f).value;
  batch.layers.resize(4);
  for (LayerTrace& layer : batch.layers) {
    layer.outputs = moved(0.2f);
    layer.output_gradient = moved(0.5f);
  }
  for (const std::size_t i : {0u, 3u}) {
    batch.layers[i].weights = 2;
    batch.layers[i].kernel = moved(-0.9f);
    batch.layers[i].gradient = moved(0.7f);
  }
  return batch;
}

/// What the tool says over at most `steps` batches with `change` made to each; "" for nothing.
std::string said(int steps, const std::function<void(BatchTrace&, int step)>& change,
                 ToolVariant variant = kPublished) {
  Checker checker(model(variant));
  for (int step = 0; step < steps; ++step) {
    BatchTrace batch = quiet(step);
    change(batch, step);
    const Finding finding = checker.check(batch);
    if (!finding.failure.empty()) return finding.failure;
    if (finding.messages.empty()) continue;
    const ToolMessage& message = finding.messages.front();
    EXPECT_EQ(finding.messages.size(), 1u);
    EXPECT_EQ(message.epochs, std::vector<std::int64_t>{batch.epoch});
    EXPECT_FALSE(message.detail.empty());
    EXPECT_TRUE(message.faults.empty());
    const std::string text = in_the_tools_words(message.text);
    const auto at = text.find("layer ");
    const std::set<int> place =
        at == std::string::npos ? std::set<int>{} : std::set<int>{text[at + 6] - '0' + 1};
    EXPECT_EQ(message.layers, place);
    return text;
  }
  return "";
}

TEST(DeepLocalize, QuietTraining) {
  EXPECT_EQ(said(40, [](BatchTrace&, int) {}), "");
}

/// A rule about the mean of one quantity of a layer.
struct Quantity {
  const char* what;  ///< in the message
  int layer;
  std::function<Mean&(BatchTrace&)> of;
};
std::vector<Quantity> quantities() {
  return {
      {"layer 1: Error in forward", 1, [](BatchTrace& b) -> Mean& { return b.layers[1].outputs; }},
      {"layer 3: Error in Weights", 3, [](BatchTrace& b) -> Mean& { return *b.layers[3].kernel; }},
      {"layer 0: Error in delta Weights", 0,
       [](BatchTrace& b) -> Mean& { return *b.layers[0].gradient; }},
      {"layer 1: Error in Output Gradient", 1,
       [](BatchTrace& b) -> Mean& { return *b.layers[1].output_gradient; }}};
}

TEST(DeepLocalize, ValuesThatAreNoNumbers) {
  for (const Quantity& q : quantities()) {
    for (const float bad : {kNaN, kInfinite, -kInfinite}) {
      EXPECT_EQ(said(9,
                     [&](BatchTrace& b, int step) {
                       if (step == 7) q.of(b) = {bad, false};
                     }),
                std::string("Batch 1 ") + q.what + ", terminating training");
    }
    EXPECT_EQ(said(9,
                   [&](BatchTrace& b, int step) {
                     if (step == 7) q.of(b) = {kHuge, false};
                   }),
              "");
  }
}

TEST(DeepLocalize, MeansOfZeroInHalfOfTheBatches) {
  for (const Quantity& q : quantities()) {
    const std::string text = std::string(q.what) + ", terminating training";
    const auto zero_in = [&](std::set<int> steps, bool zeros, ToolVariant variant) {
      return said(
          8,
          [&](BatchTrace& b, int step) {
            if (steps.contains(step)) q.of(b) = {0, zeros};
          },
          variant);
    };
    EXPECT_EQ(zero_in({0}, false, kPublished), "Batch 0 " + text);
    EXPECT_EQ(zero_in({2, 3}, false, kPublished), "Batch 0 " + text);     // 2 of 4
    EXPECT_EQ(zero_in({2, 4}, false, kPublished), "");                    // 1 of 3, 2 of 5
    EXPECT_EQ(zero_in({2, 4, 5}, false, kPublished), "Batch 2 " + text);  // 3 of 6
    EXPECT_EQ(said(8,
                   [&](BatchTrace& b, int step) {
                     q.of(b) = {kTiny * static_cast<float>(step % 2 + 1), false};
                   }),
              "");
    // A mean of other values may be 0.
    EXPECT_EQ(zero_in({0}, false, kRepaired), "");
    EXPECT_EQ(zero_in({0}, true, kRepaired), "Batch 0 " + text);
  }
}

TEST(DeepLocalize, ValuesThatStandStill) {
  for (const Quantity& q : quantities()) {
    std::string text = std::string(q.what) + ", terminating training";
    if (const auto at = text.find("delta"); at != std::string::npos) text[at] = 'D';
    const auto still_in = [&](int from, int to) {
      return said(12, [&](BatchTrace& b, int step) {
        if (step >= from && step < to) q.of(b) = {0.5f, false};
      });
    };
    EXPECT_EQ(still_in(5, 10), "Batch 0 " + text);  // step 9: epoch 3
    EXPECT_EQ(still_in(5, 9), "");
    EXPECT_EQ(still_in(6, 11), "");  // five, but not those of a window
  }
  // Only Dense layers' weights are looked back at, and no Flatten's outputs.
  const auto flatten = [](BatchTrace& b, int) {
    b.layers[2].outputs = b.layers[2].output_gradient.emplace(Mean{0.5f, false});
  };
  EXPECT_EQ(said(12, flatten), "");
  const auto no_dense = [](BatchTrace& b, int) {
    b.layers[1].weights = 2;
    b.layers[1].kernel = Mean{0.5f, false};
  };
  EXPECT_EQ(said(12, no_dense), "");
}

TEST(DeepLocalize, MeansOfASoftmaxStandStill) {
  const std::vector<std::function<void(BatchTrace&, int)>> changes{
      [](BatchTrace& b, int) {
        b.layers[3].outputs = {0.5f, false};
      },
      [](BatchTrace& b, int) {
        b.layers[3].kernel = {0.5f, false};
      },
      [](BatchTrace& b, int) {
        b.layers[3].gradient = {1e-9f, false};
      }};
  for (const auto& change : changes) {
    EXPECT_EQ(said(5, change).substr(0, 15), "Batch 1 layer 3");
    EXPECT_EQ(said(5, change, kRepaired), "");
  }
}

TEST(DeepLocalize, InvalidMetrics) {
  EXPECT_EQ(said(9,
                 [](BatchTrace& b, int step) {
                   if (step == 4) b.loss = kInfinite;
                 }),
            "Batch 1: Invalid loss, terminating training");
  EXPECT_EQ(said(9,
                 [](BatchTrace& b, int step) {
                   if (step == 4) b.accuracy = kNaN;
                 }),
            "Batch 1: Invalid accuracy, terminating training");
  EXPECT_EQ(said(9,
                 [](BatchTrace& b, int step) {
                   if (step != 4) return;
                   b.loss = kHuge;
                   b.accuracy = 0;
                 }),
            "");
  EXPECT_EQ(said(9, [](BatchTrace& b, int) { b.accuracy.reset(); }), "");
}

TEST(DeepLocalize, ModelDoesNotLearn) {
  for (const bool loss : {true, false}) {
    const auto still_in = [&](int from, int to) {
      return said(12, [&](BatchTrace& b, int step) {
        if (step < from || step >= to) return;
        if (loss) {
          b.loss = 0.5f;
        } else {
          b.accuracy = 0.5f;
        }
      });
    };
    EXPECT_EQ(still_in(0, 5), "Batch 1: MDL, terminating training");
    EXPECT_EQ(still_in(0, 4), "");
    EXPECT_EQ(still_in(3, 8), "");
  }
}

TEST(DeepLocalize, OrderOfTheTool) {
  const std::vector<std::function<void(BatchTrace&)>> breaks{
      [](BatchTrace& b) { b.layers[3].output_gradient->value = kNaN; },
      [](BatchTrace& b) { b.layers[0].output_gradient->value = kNaN; },
      [](BatchTrace& b) { b.layers[0].gradient->value = kNaN; },
      [](BatchTrace& b) { b.layers[3].gradient->value = kNaN; },
      [](BatchTrace& b) { b.accuracy = kNaN; },
      [](BatchTrace& b) { b.loss = kNaN; },
      [](BatchTrace& b) { b.layers[0].kernel->value = kNaN; },
      [](BatchTrace& b) { b.layers[3].kernel->value = kNaN; },
      [](BatchTrace& b) { b.layers[3].outputs.value = kNaN; },
      [](BatchTrace& b) { b.layers[0].outputs.value = kNaN; }};
  const std::vector<std::string> first{"layer 3: Error in Output Gradient",
                                       "layer 3: Error in Output Gradient",
                                       "layer 0: Error in delta Weights",
                                       "layer 3: Error in delta Weights",
                                       ": Invalid accuracy",
                                       ": Invalid loss",
                                       "layer 0: Error in Weights",
                                       "layer 3: Error in Weights",
                                       "layer 3: Error in forward",
                                       "layer 0: Error in forward"};
  for (std::size_t n = 0; n < breaks.size(); ++n) {
    const std::string text = said(1, [&](BatchTrace& b, int) {
      for (std::size_t i = 0; i <= n; ++i) breaks[i](b);
    });
    EXPECT_NE(text.find(first[n]), std::string::npos) << text;
  }
}

TEST(DeepLocalize, OutputGradientsThatAreNotKnown) {
  EXPECT_EQ(said(12,
                 [](BatchTrace& b, int) {
                   for (LayerTrace& layer : b.layers) layer.output_gradient.reset();
                 }),
            "");
}

TEST(DeepLocalize, StopsAtWeightsThatItCannotUnpack) {
  const auto four = [](BatchTrace& b, int) { b.layers[1].weights = 4; };
  EXPECT_NE(said(1, four).find("too many values"), std::string::npos);
  EXPECT_EQ(said(12, four, kRepaired), "");
  // What comes before is said.
  EXPECT_EQ(said(1,
                 [&](BatchTrace& b, int step) {
                   four(b, step);
                   b.layers[0].outputs.value = kNaN;
                 }),
            "Batch 0 layer 0: Error in forward, terminating training");
}

TEST(DeepLocalize, DeltaWeightsAreAskedBeforeOutputGradients) {
  const auto both = [](BatchTrace& b, int step) {
    if (step < 7) return;
    b.layers[3].output_gradient = {kNaN, false};
    b.layers[0].gradient = {kNaN, false};
  };
  EXPECT_EQ(said(9, both), "Batch 1 layer 0: Error in delta Weights, terminating training");
}

TEST(DeepLocalize, OutputGradientsOfASoftmaxMayStandStill) {
  const auto still = [](BatchTrace& b, int) { b.layers[3].output_gradient = {0.25f, false}; };
  EXPECT_EQ(said(9, still), "Batch 1 layer 3: Error in Output Gradient, terminating training");
  EXPECT_EQ(said(9, still, kRepaired), "");
}

}  // namespace
}  // namespace neutra::fl_adapters::deeplocalize
