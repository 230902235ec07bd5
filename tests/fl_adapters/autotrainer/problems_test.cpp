#include "fl_adapters/tools/autotrainer/problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "tests/fl_adapters/next_number.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::autotrainer::tests {

using namespace training;
namespace {

constexpr auto kPublished = ToolVariant::kAsPublished;
constexpr auto kRepaired = ToolVariant::kRepaired;
const double kNaN = std::nan("");
using Words = std::vector<std::string>;

Model classifier(const std::string& loss, int outputs, const std::string& activation) {
  return {loss, outputs, activation, false, 12};
}
Features seen(const Model& model, ToolVariant variant = kPublished) {
  Features features;
  see_model(features, model, variant);
  return features;
}

TEST(AutoTrainer, LossOfAClassifier) {
  EXPECT_FALSE(seen(classifier("binary_crossentropy", 1, "sigmoid")).improper_loss);
  EXPECT_FALSE(seen(classifier("binary_crossentropy", 2, "softmax")).improper_loss);
  EXPECT_TRUE(seen(classifier("binary_crossentropy", 3, "softmax")).improper_loss);
  EXPECT_TRUE(seen(classifier("categorical_crossentropy", 2, "softmax")).improper_loss);
  EXPECT_FALSE(seen(classifier("sparse_categorical_crossentropy", 3, "softmax")).improper_loss);
  EXPECT_TRUE(seen(classifier("mean_squared_error", 1, "linear")).improper_loss);
}

TEST(AutoTrainer, ActivationOfAClassifier) {
  EXPECT_FALSE(seen(classifier("binary_crossentropy", 1, "sigmoid")).activation_output);
  EXPECT_TRUE(seen(classifier("binary_crossentropy", 1, "softmax")).activation_output);
  EXPECT_FALSE(seen(classifier("binary_crossentropy", 2, "linear")).activation_output);
  EXPECT_TRUE(seen(classifier("categorical_crossentropy", 3, "sigmoid")).activation_output);
  // With a wrong loss, nothing is said about the activation.
  EXPECT_FALSE(seen(classifier("mean_squared_error", 3, "relu")).activation_output);
}

TEST(AutoTrainer, EveryRegressionHasAWrongLossUnlessRepaired) {
  Model model{"mean_squared_error", 1, "linear", true, 12};
  EXPECT_TRUE(seen(model).improper_loss);
  EXPECT_FALSE(seen(model, kRepaired).improper_loss);
  EXPECT_FALSE(seen(model, kRepaired).activation_output);
  model.activation = "relu";
  EXPECT_TRUE(seen(model, kRepaired).activation_output);
  model.loss = "binary_crossentropy";
  EXPECT_TRUE(seen(model, kRepaired).improper_loss);
}

TEST(AutoTrainer, ReadsTheModel) {
  const Model model = model_of(program::resolve(moons(7)));
  EXPECT_EQ(model.loss, "binary_crossentropy");
  EXPECT_EQ(model.outputs, 1);
  EXPECT_EQ(model.activation, "sigmoid");
  EXPECT_EQ(model.epochs, 7);
  EXPECT_FALSE(model.regression);
  EXPECT_TRUE(model_of(program::resolve(line())).regression);
  const program::Program own_layer =
      program_of("moons", 2, Json::array({dense(2, "linear"), layer("Softmax", Json::object())}),
                 "categorical_crossentropy", "accuracy", optimizer("SGD", 0.1));
  EXPECT_EQ(model_of(program::resolve(own_layer)).activation, "softmax");
}

TEST(AutoTrainer, SumOfTheOutputs) {
  const auto after = [](double sum) {
    Features features;
    see_outputs(features, {sum, {}});
    return features.activation_output;
  };
  EXPECT_FALSE(after(1.1));
  EXPECT_TRUE(after(above(1.1)));
}

TEST(AutoTrainer, OutputsOfTheLayers) {
  const auto after = [](double mean, bool activation) {
    Features features;
    features.activation_output = activation;
    see_outputs(features, {1, {0.5, mean, 0.5}});
    return features.abnormal_output;
  };
  EXPECT_FALSE(after(below(10.0), false));
  EXPECT_TRUE(after(10, false));
  EXPECT_FALSE(after(10, true));  // the output activation is to blame
}

TEST(AutoTrainer, SummaryOfOutputs) {
  const std::vector<float> hidden{1, -3, 2, 2}, output{0.5f, -0.5f, 2, 1};
  std::vector<training::LayerView> layers(2);
  layers[0].activations = hidden;
  layers[1].activations = output;
  EXPECT_EQ(outputs_of(layers, 2).largest_sum, 3);
  EXPECT_EQ(outputs_of(layers, 2).mean_abs, std::vector<double>{2});
  const std::vector<float> broken{0.5f, std::nanf("")};
  layers[1].activations = broken;
  EXPECT_TRUE(std::isinf(outputs_of(layers, 2).largest_sum));
}

TEST(AutoTrainer, VanishingGradients) {
  const auto after = [](double first, double last) {
    Features features;
    see_gradients(features, {first, last, 0, true});
    return features.vanishing;
  };
  EXPECT_EQ(after(below(1e-4), 1), 1);
  EXPECT_EQ(after(1e-4, 1), 0);  // beta_2
  EXPECT_EQ(after(5e-5, above(0.05)), 1);
  EXPECT_EQ(after(5e-5, 0.05), 0);  // beta_1
  EXPECT_EQ(after(0, 0), 0);
}

TEST(AutoTrainer, ExplodingGradients) {
  const auto after = [](double first) {
    Features features;
    see_gradients(features, {first, 1, 0, true});
    return features.exploding;
  };
  EXPECT_EQ(after(70), 0);
  EXPECT_EQ(after(above(70.0)), 1);
}

TEST(AutoTrainer, DeadReLUs) {
  const auto after = [](double zeros) {
    Features features;
    see_gradients(features, {1, 1, zeros, true});
    return features.dead_relu;
  };
  EXPECT_EQ(after(below(0.7)), 0);
  EXPECT_EQ(after(0.7), 1);
}

TEST(AutoTrainer, GradientsThatAreNoNumbers) {
  Features features;
  see_gradients(features, {100, 1, 0.9, false});
  EXPECT_TRUE(features.nan_gradient);
  EXPECT_EQ(features.exploding + features.dead_relu, 0);
}

TEST(AutoTrainer, SummaryOfGradients) {
  const std::vector<float> a{3, 0, 4}, bias{0}, b{6, 8}, gamma{100};
  std::vector<training::LayerView> layers(3);
  layers[0].gradients = {a, bias};
  layers[1].gradients = {b, bias};
  layers[2].gradients = {gamma};
  layers[2].class_name = "BatchNormalization";
  const Gradients gradients = gradients_of(layers);
  EXPECT_EQ(gradients.first_norm, 5);
  EXPECT_EQ(gradients.last_norm, 10);
  EXPECT_DOUBLE_EQ(gradients.zeros, 3.0 / 8);
  EXPECT_TRUE(gradients.finite);
}

TEST(AutoTrainer, Oscillation) {
  // Ten values, peaks 0.03 above the troughs after them.
  const auto curve = [](double height, int peaks) {
    std::vector<double> accuracy(10);
    for (int i = 0; i < 10; ++i) accuracy[static_cast<std::size_t>(i)] = 0.1 * i;
    for (int i = 0; i < peaks; ++i) {
      const auto at = static_cast<std::size_t>(1 + 2 * i);
      accuracy[at] = accuracy[at + 1] + height;
    }
    return accuracy;
  };
  EXPECT_TRUE(oscillates(curve(0.0301, 2)));
  EXPECT_FALSE(oscillates(curve(0.0299, 2)));  // zeta
  EXPECT_FALSE(oscillates(curve(0.0301, 1)));  // eta: 0.2 of 10 epochs
  // Two peaks of that height above troughs of 0.
  const auto peaks = [](double height, std::size_t epochs) {
    std::vector<double> accuracy(epochs);
    accuracy[1] = accuracy[3] = height;
    return oscillates(accuracy);
  };
  EXPECT_TRUE(peaks(0.03, 10));
  EXPECT_FALSE(peaks(below(0.03), 10));
  EXPECT_FALSE(peaks(0.03, 11));
}

/// Logs of some epochs, all alike but for what a test changes.
History quiet(std::size_t epochs = 4) {
  History history;
  for (std::size_t i = 0; i < epochs; ++i) {
    history.loss.push_back(0.5);
    history.validation_loss.push_back(0.5);
    history.accuracy.push_back(0.7 + 0.05 * static_cast<double>(i));
    history.validation_accuracy.push_back(0.7 + 0.05 * static_cast<double>(i));
  }
  return history;
}
Features after(const std::function<void(History&)>& change, std::int64_t epochs = 12,
               ToolVariant variant = kPublished, bool regression = false) {
  History history = quiet();
  change(history);
  Features features;
  see_history(features, history, {"", 1, "", regression, epochs}, variant);
  return features;
}

TEST(AutoTrainer, LossThatIsNoNumberOrTooLarge) {
  EXPECT_FALSE(after([](History&) {}).nan_loss);
  EXPECT_TRUE(after([](History& h) { h.loss[1] = kNaN; }).nan_loss);
  EXPECT_TRUE(after([](History& h) { h.validation_loss[1] = 1000; }).nan_loss);
  EXPECT_FALSE(after([](History& h) { h.loss[1] = below(1000.0); }).nan_loss);
}

TEST(AutoTrainer, NegativeLoss) {
  EXPECT_TRUE(after([](History& h) { h.validation_loss[2] = below(0.0); }).abnormal_loss);
  EXPECT_FALSE(after([](History& h) { h.validation_loss[2] = 0; }).abnormal_loss);
}

TEST(AutoTrainer, AccuracyTooLow) {
  const auto low = [](double training, double validation) {
    return after([&](History& h) {
             h.accuracy = {0, 0, training, 0};
             h.validation_accuracy = {0, validation, 0, 0};
           })
        .not_converge;
  };
  EXPECT_TRUE(low(below(0.7), below(0.7)));
  EXPECT_FALSE(low(0.7, 0.5));
  EXPECT_FALSE(low(0.5, 0.7));
}

TEST(AutoTrainer, AccuracyThatHardlyRises) {
  const auto slow = [](double training, double validation) {
    return after([&](History& h) {
             h.accuracy = {0.9, 0, training, 0};
             h.validation_accuracy = {0.9, 0, validation, 0};
           })
        .slow_accuracy;
  };
  EXPECT_TRUE(slow(below(0.01), below(0.01)));
  EXPECT_FALSE(slow(0.01, 0));
  EXPECT_FALSE(slow(0, 0.01));
}

TEST(AutoTrainer, AccuraciesAreLookedAtLate) {
  const auto stuck = [](History& h) { h.accuracy = h.validation_accuracy = {0.1, 0.1, 0.1, 0.1}; };
  // Four epochs of 23: from 0.3 * 23 - 3 on.
  EXPECT_TRUE(after(stuck, 23).slow_accuracy);
  EXPECT_FALSE(after(stuck, 24).slow_accuracy);
}

TEST(AutoTrainer, ARegressionIsJudgedByItsAccuracyUnlessRepaired) {
  const auto none = [](History& h) { h.accuracy = h.validation_accuracy = {0, 0, 0, 0}; };
  EXPECT_TRUE(after(none, 12, kPublished, true).not_converge);
  EXPECT_FALSE(after(none, 12, kRepaired, true).not_converge);
  EXPECT_TRUE(after(none, 12, kRepaired, false).not_converge);
}

TEST(AutoTrainer, OneEpochHasNoRiseUnlessRepaired) {
  for (const auto variant : {kPublished, kRepaired}) {
    Features features;
    see_history(features, quiet(1), classifier("", 1, ""), variant);
    EXPECT_EQ(features.slow_accuracy, variant == kPublished);
  }
}

Words judged(const std::function<void(Features&)>& change) {
  Features features;
  change(features);
  return judge(features);
}

TEST(AutoTrainer, Judgement) {
  EXPECT_EQ(judged([](Features&) {}), Words{});
  EXPECT_EQ(judged([](Features& f) { f.abnormal_output = true; }), Words{"abnormal_data"});
  EXPECT_EQ(judged([](Features& f) { f.abnormal_loss = true; }), Words{"loss_issue"});
  EXPECT_EQ(judged([](Features& f) { f.improper_loss = true; }), Words{"loss_issue"});
  EXPECT_EQ(judged([](Features& f) { f.unstable = true; }), Words{"unstable"});
  EXPECT_EQ(judged([](Features& f) { f.unstable = f.activation_output = true; }),
            Words{"activation_issue"});
  EXPECT_EQ(judged([](Features& f) { f.nan_loss = true; }), Words{});
  EXPECT_EQ(judged([](Features& f) { f.nan_loss = f.nan_weight = true; }), Words{"explode"});
  EXPECT_EQ(judged([](Features& f) { f.nan_loss = f.nan_gradient = true; }), Words{"explode"});
  EXPECT_EQ(judged([](Features& f) { f.nan_loss = f.nan_weight = f.activation_output = true; }),
            Words{"activation_issue"});
}

TEST(AutoTrainer, JudgementOfATrainingThatDoesNotConverge) {
  const auto low = [](const std::function<void(Features&)>& change) {
    return judged([&](Features& f) {
      f.not_converge = true;
      change(f);
    });
  };
  // A low accuracy alone is none of the problems.
  EXPECT_EQ(low([](Features&) {}), Words{});
  EXPECT_EQ(low([](Features& f) { f.slow_accuracy = true; }), Words{"not_converge"});
  EXPECT_EQ(low([](Features& f) { f.slow_accuracy = f.abnormal_output = true; }),
            Words{"abnormal_data"});
  EXPECT_EQ(low([](Features& f) { f.vanishing = 1; }), Words{"vanish"});
  EXPECT_EQ(low([](Features& f) { f.vanishing = f.exploding = 1; }), Words{"explode"});
  EXPECT_EQ(low([](Features& f) { f.vanishing = f.exploding = f.dead_relu = 1; }), Words{"relu"});
  EXPECT_EQ(low([](Features& f) { f.activation_output = true; }), Words{"activation_issue"});
  EXPECT_EQ(judged([](Features& f) { f.vanishing = f.exploding = f.dead_relu = 1; }), Words{});
}

TEST(AutoTrainer, Priority) {
  EXPECT_EQ(most_urgent({}), "");
  EXPECT_EQ(most_urgent({"unstable", "vanish", "loss_issue", "abnormal_data"}), "abnormal_data");
  EXPECT_EQ(most_urgent({"unstable", "vanish", "loss_issue"}), "loss_issue");
  EXPECT_EQ(most_urgent({"unstable", "vanish"}), "vanish");
  EXPECT_EQ(most_urgent({"activation_issue", "loss_issue"}), "activation_issue");  // the first
}

TEST(AutoTrainer, WhenItChecks) {
  const Monitor published({"", 1, "", false, 12}, kPublished);
  EXPECT_TRUE(published.checks(0) && published.checks(3) && published.checks(9));
  EXPECT_FALSE(published.checks(1) || published.checks(11));
  EXPECT_FALSE(published.looks_at_outputs(5));
  EXPECT_TRUE(published.looks_at_outputs(6));
  const Monitor repaired({"", 1, "", false, 12}, kRepaired);
  EXPECT_TRUE(repaired.checks(11) && repaired.looks_at_outputs(11));
  EXPECT_FALSE(repaired.checks(10));
}

/// A training of 12 epochs whose accuracy doesn't rise from the start on.
Words problems_of(const Model& model, ToolVariant variant, double accuracy) {
  Monitor monitor(model, variant);
  History history;
  Words problems;
  for (std::int64_t epoch = 0; epoch < model.epochs; ++epoch) {
    history.loss.push_back(0.5);
    history.validation_loss.push_back(0.5);
    history.accuracy.push_back(accuracy);
    history.validation_accuracy.push_back(accuracy);
    if (!monitor.checks(epoch)) continue;
    const Outputs outputs{1, {1}};
    const std::string problem = monitor.check(epoch, history, {1, 1, 0, true}, true,
                                              monitor.looks_at_outputs(epoch) ? &outputs : nullptr);
    if (!problem.empty()) problems.push_back(std::to_string(epoch) + " " + problem);
  }
  return problems;
}

TEST(AutoTrainer, OutputsAreLookedAtOnceAccuraciesHardlyRose) {
  const Model model = classifier("binary_crossentropy", 1, "sigmoid");
  EXPECT_EQ(problems_of(model, kPublished, 0.5),
            (Words{"3 not_converge", "6 not_converge", "9 not_converge"}));
  EXPECT_EQ(problems_of(model, kPublished, 0.9), Words{});
}

TEST(AutoTrainer, ShortTrainingsAreNotJudgedUnlessRepaired) {
  Model model = classifier("categorical_crossentropy", 1, "softmax");  // the wrong loss
  model.epochs = 1;
  EXPECT_EQ(problems_of(model, kPublished, 0.5), Words{});
  EXPECT_EQ(problems_of(model, kRepaired, 0.5), Words{"0 loss_issue"});
  model.epochs = 3;
  EXPECT_EQ(problems_of(model, kPublished, 0.5), Words{});
  EXPECT_EQ(problems_of(model, kRepaired, 0.5), Words{"2 loss_issue"});
}

}  // namespace
}  // namespace neutra::fl_adapters::autotrainer::tests
