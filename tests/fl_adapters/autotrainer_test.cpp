#include "fl_adapters/tools/autotrainer/problems.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "fl_adapters/tools/autotrainer/repairs.h"
#include "tests/fl_adapters/next_number.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::autotrainer {

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

/// Words about a problem, then its repairs: "text (tries) -> what it adds to the answer".
struct Problem {
  std::string name, answer;
  Words repairs;
};

TEST(AutoTrainer, EachProblemAndItsRepairs) {
  const program::ResolvedProgram p = program::resolve(
      program_of("moons", 2,
                 Json::array({dense(4, "relu"), dense(4, "linear"),
                              layer("Activation", {{"activation", "relu"}}), dense(1, "sigmoid")}),
                 "binary_crossentropy", "accuracy", optimizer("SGD", 0.01)));
  const std::string any =
      "he_uniform, lecun_uniform, glorot_normal, glorot_uniform, he_normal or "
      "lecun_normal";
  const std::string selu =
      "Using 'SeLU' activation in each layers' activations; Use 'lecun_uniform' as the kernel "
      "initializer. (1) -> ACH(0)";
  const std::string relu =
      "Using 'ReLU' activation in each layers' activations; Use 'he_uniform' as the kernel "
      "initializer. (1) -> ACH(0)";
  const std::string bn =
      "Using 'BatchNormalization' layers after each Dense layers in the model. (1) -> LRM";
  const std::string initial = "Using '" + any +
                              "' initializer as each layers' kernel "
                              "initializer; Use '" +
                              any +
                              "' initializer as each layers' bias initializer. (3) -> WCI(0,1)";
  const std::vector<Problem> problems{
      {"abnormal_data", "CPP", {"Features scaled to [0, 1], column by column (1) -> CPP"}},
      {"loss_issue", "LCH", {"Loss: mean_squared_error or mean_absolute_error (1) -> LCH"}},
      {"activation_issue", "ACH(3)", {"Activation of the last layer: sigmoid (1) -> ACH(3)"}},
      {"explode",
       "ACH(0)|LRM|OCG",
       {selu, relu,
        "Using 'Gradient Clip' operation, add clipvalue=9 to 10 to the optimizer (2) -> OCG",
        "Using 'tanh' activation in each layers' activation; Use 'he_uniform' as the kernel "
        "initializer. (1) -> ACH(0)",
        bn}},
      {"vanish", "ACH(0)|LRM", {selu, relu, bn}},
      {"relu",
       "ACH(0)|LRM|WCI(0,1)",
       {selu, bn, initial,
        "Using advanced activation '{}' instead of each layers' activations. (3) -> ACH(0)"}},
      {"not_converge",
       "HLR|OCH|WCI(0,1)",
       {"Using Adam, Nadam, Adamax or RMSprop optimizer in model training, the parameter setting "
        "is default. (3) -> OCH",
        "Using '0.01, 0.1 or 1' learning rate in the optimizer. (3) -> HLR", initial}},
      // The batch size is the one that would be tried first: the tool leaves it alone.
      {"unstable",
       "HLR|LRM|OCH|WCI(0,1)",
       {"Using 'Adam' optimizer, the parameter setting is default. (1) -> OCH",
        "Using '0.01, 0.001 or 0.0001' learning rate in the optimizer. (3) -> HLR",
        "Using 'ReduceLROnPlateau' callbacks in training. (1) -> HLR",
        "Using 'momentum 0.01 to 0.9' in SGD optimizer in the optimizer. (3) -> OCH",
        "Using 'Gaussian_Noise' after the input layer. (1) -> LRM", initial}}};
  std::set<std::string> said;
  for (const Problem& problem : problems) {
    const std::vector<ToolMessage> messages = messages_for(problem.name, p, 3);
    said.insert(problem.name);
    EXPECT_EQ(messages[0].text,
              "['" + problem.name + "'] Found Issue Stop Training! Starting the repair procedure.");
    EXPECT_EQ(messages[0].severity, "Problem");
    EXPECT_EQ(to_string(answer_of(messages)), problem.answer) << problem.name;
    Words repairs;
    for (std::size_t i = 1; i < messages.size(); ++i) {
      const ToolMessage& message = messages[i];
      said.insert(message.code);
      EXPECT_EQ(message.severity, "Repair");
      EXPECT_EQ(message.epochs, std::vector<std::int64_t>{3});
      EXPECT_TRUE(message.faults.empty());
      const std::string tries = message.detail.substr(6, message.detail.find(" time") - 6);
      const std::string part = " is in the choice of " + problem.name;
      ASSERT_TRUE(message.ignored.ends_with(part)) << message.ignored;
      repairs.push_back(message.text + " (" + tries + ") -> " +
                        message.ignored.substr(0, message.ignored.size() - part.size()));
    }
    EXPECT_EQ(repairs, problem.repairs) << problem.name;
  }
  std::set<std::string> all(message_table().codes().begin(), message_table().codes().end());
  EXPECT_EQ(all.erase("repair:batch"), 1u);
  EXPECT_EQ(said, all);
}

TEST(AutoTrainer, RepairsThatAreThereAlready) {
  program::Program p = moons();
  p.document["fit"]["batch_size"] = 31;
  const auto has = [&](const std::string& problem, const std::string& code) {
    const auto messages = messages_for(problem, program::resolve(p), 0);
    return std::any_of(messages.begin(), messages.end(),
                       [&](const ToolMessage& message) { return message.code == code; });
  };
  for (const ToolMessage& message : messages_for("unstable", program::resolve(p), 0)) {
    if (message.code != "repair:batch") continue;
    EXPECT_EQ(message.text, "Using 'batch_size 32, 64, 128 or 256' in model training.");
    EXPECT_EQ(message.detail, "tried 4 times for unstable");
    EXPECT_EQ(message.ignored, "HBS is in the choice of unstable");
  }
  EXPECT_TRUE(has("unstable", "repair:batch"));
  EXPECT_FALSE(has("unstable", "repair:adam"));  // moons() has Adam
  EXPECT_TRUE(has("explode", "repair:gradient"));
  p.document["fit"]["batch_size"] = 32;
  p.document["compile"]["optimizer"] = optimizer("SGD", 0.01);
  p.document["compile"]["optimizer"]["config"]["clipvalue"] = 1;
  EXPECT_FALSE(has("unstable", "repair:batch"));
  EXPECT_TRUE(has("unstable", "repair:adam"));
  EXPECT_FALSE(has("explode", "repair:gradient"));
}

/// What the repaired tool asks for.
std::set<std::string> asked(const std::string& problem, const program::Program& p,
                            bool scaled = false) {
  const Care care{TaskRules(p), scaled};
  std::set<std::string> texts;
  for (const ToolMessage& message : messages_for(problem, program::resolve(p), 0, &care)) {
    if (message.severity == "Repair") texts.insert(message.text);
  }
  return texts;
}

TEST(AutoTrainer, RepairedItAsksForNothingThatIsThere) {
  program::Program p = moons();
  const auto names = [&](const std::string& problem, const std::string& word, bool scaled = false) {
    const auto texts = asked(problem, p, scaled);
    return std::any_of(texts.begin(), texts.end(), [&](const std::string& text) {
      return text.find(word) != std::string::npos;
    });
  };
  EXPECT_TRUE(names("vanish", "ReLU"));
  EXPECT_TRUE(names("vanish", "BatchNormalization"));
  EXPECT_TRUE(names("abnormal_data", "scaled"));
  EXPECT_FALSE(names("abnormal_data", "scaled", true));
  p = program_of("moons", 2,
                 Json::array({dense(4, "relu"), layer("BatchNormalization", Json::object()),
                              layer("GaussianNoise", {{"stddev", 0.1}}), dense(4, "relu"),
                              dense(1, "sigmoid")}),
                 "binary_crossentropy", "accuracy", optimizer("SGD", 0.01));
  EXPECT_FALSE(names("vanish", "'ReLU'"));
  EXPECT_TRUE(names("vanish", "SeLU"));
  EXPECT_FALSE(names("vanish", "BatchNormalization"));
  EXPECT_FALSE(names("unstable", "Gaussian_Noise"));
  EXPECT_TRUE(names("unstable", "momentum"));
  EXPECT_TRUE(names("unstable", "'0.001 or 0.0001' learning rate"));
  EXPECT_TRUE(names("unstable", "batch_size 64, 128 or 256") ||
              !names("unstable", "batch_size"));  // 32 is there
  p.document["compile"]["optimizer"]["config"]["momentum"] = 0.9;
  EXPECT_FALSE(names("unstable", "momentum"));
}

TEST(AutoTrainer, RepairedItAsksForNothingThatTheTaskForbids) {
  using Texts = std::set<std::string>;
  const auto with = [](const char* output, int units, const char* loss, const char* task) {
    program::Program p =
        program_of("moons", 2, Json::array({dense(4, "relu"), dense(units, output)}), loss,
                   "accuracy", optimizer("SGD", 0.01));
    p.document["task"] = task;
    return p;
  };
  const program::Program regression = with("relu", 1, "binary_crossentropy", "regression");
  EXPECT_EQ(asked("loss_issue", regression), Texts{"Loss: mean_squared_error"});
  EXPECT_EQ(asked("activation_issue", regression), Texts{"Activation of the last layer: linear"});
  const program::Program sparse =
      with("softmax", 3, "sparse_categorical_crossentropy", "classification");
  EXPECT_EQ(asked("loss_issue", sparse), Texts{});
  const program::Program one = with("softmax", 1, "binary_crossentropy", "classification");
  EXPECT_EQ(asked("activation_issue", one), Texts{"Activation of the last layer: sigmoid"});
  // All is as the task asks for: nothing is said against it.
  const Care care{TaskRules(sparse), false};
  EXPECT_EQ(to_string(answer_of(messages_for("loss_issue", program::resolve(sparse), 0, &care))),
            "-");
}

TEST(AutoTrainer, Ranking) {
  const auto ranking = ranking_of(messages_for("relu", program::resolve(moons()), 0));
  Words types;
  for (const evaluators::Suspect& suspect : ranking) types.push_back(suspect.type);
  EXPECT_EQ(types, (Words{"ACH", "LRM", "WCI"}));
  EXPECT_GT(ranking[0].suspiciousness, ranking[1].suspiciousness);
}

}  // namespace
}  // namespace neutra::fl_adapters::autotrainer
