#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "fl_adapters/tools/deepdiagnosis.h"
#include "tests/fl_adapters/tools_words.h"
#include "tests/training/programs.h"

/// What tests of DeepDiagnosis's rules share.
namespace neutra::fl_adapters::deepdiagnosis::tests {

inline constexpr auto kPublished = ToolVariant::kAsPublished;
inline constexpr auto kRepaired = ToolVariant::kRepaired;
inline const float kNaN = std::nanf("");
inline constexpr float kInfinite = std::numeric_limits<float>::infinity();
inline constexpr float kTiny = std::numeric_limits<float>::denorm_min();
inline constexpr float kHuge = std::numeric_limits<float>::max();
/// The suggestion of another learning rate, and its answer.
inline const std::string kRate = " | Learning Rate -> HLR";

inline Json activation(const std::string& name) {
  return training::layer("Activation", {{"activation", name}});
}

/// What the tool knows and sees; a training that no rule has a word for until a test changes it.
struct Case {
  Json layers =
      Json::array({training::dense(4, "linear"), activation("relu"), training::dense(3, "linear"),
                   activation("tanh"), training::dense(2, "linear"), activation("softmax")});
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
        callback_model(training::program_of("moons", 2, layers, "categorical_crossentropy",
                                            "accuracy", training::optimizer("Adam", 0.001)),
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

/// A last layer of its own kind, with targets from `min` to `max`.
inline Case ending(Json last, const std::string& loss, float min, float max) {
  Case c;
  c.layers = Json::array({training::dense(4, "linear"), std::move(last)});
  c.setting.loss = loss;
  c.setting.target_min = min;
  c.setting.target_max = max;
  return c;
}

}  // namespace neutra::fl_adapters::deepdiagnosis::tests
