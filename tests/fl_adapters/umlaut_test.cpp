#include "fl_adapters/tools/umlaut.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tests/training/programs.h"

namespace neutra::fl_adapters::umlaut {

using namespace training;
namespace {

constexpr auto kPublished = ToolVariant::kAsPublished;
constexpr auto kRepaired = ToolVariant::kRepaired;

/// A classifier with these layers.
program::Program classifier(Json layers) {
  return program_of("moons", 2, std::move(layers), "categorical_crossentropy", "accuracy",
                    optimizer("Adam", 0.001));
}

Json named(Json layer, const std::string& name) {
  layer["config"]["name"] = name;
  return layer;
}

/// "code(layers) -> answer" of each message.
std::vector<std::string> said(const std::vector<ToolMessage>& messages) {
  std::vector<std::string> lines;
  for (const ToolMessage& message : messages) {
    std::string layers;
    for (const int layer : message.layers) {
      layers += (layers.empty() ? "" : ",") + std::to_string(layer);
    }
    lines.push_back(message.code + "(" + layers + ") -> " + to_string(answer_of({message})));
    EXPECT_EQ(message.faults.empty(),
              !message.ignored.empty() || message_table().kind(message.code).faults.empty());
  }
  return lines;
}
using Lines = std::vector<std::string>;

Lines published(const program::Program& p) { return said(check_program(p, kPublished)); }
Lines repaired(const program::Program& p) { return said(check_program(p, kRepaired)); }

TEST(Umlaut, SoftmaxLayerOfItsOwnIsFine) {
  const program::Program p = classifier(
      Json::array({dense(4, "relu"), dense(2, "linear"), layer("Softmax", Json::object())}));
  EXPECT_EQ(published(p), Lines{});
  EXPECT_EQ(repaired(p), Lines{});
}

TEST(Umlaut, NoSoftmax) {
  const program::Program p = classifier(Json::array({dense(4, "relu"), dense(2, "linear")}));
  EXPECT_EQ(published(p), Lines{"no_softmax(1) -> ACH(1)"});
  EXPECT_EQ(repaired(p), published(p));
}

TEST(Umlaut, LooksForSoftmaxInTheNameOnly) {
  const program::Program in_dense =
      classifier(Json::array({dense(4, "relu"), dense(2, "softmax")}));
  EXPECT_EQ(published(in_dense), (Lines{"no_softmax(1) -> -", "activation_final_layer(1) -> -"}));
  EXPECT_EQ(repaired(in_dense), Lines{});

  const program::Program own_layer =
      classifier(Json::array({dense(4, "relu"), dense(2, "linear"),
                              named(layer("Activation", {{"activation", "softmax"}}), "act")}));
  EXPECT_EQ(published(own_layer), (Lines{"no_softmax(2) -> -", "missing_activations(1) -> -",
                                         "activation_final_layer(2) -> -"}));
  EXPECT_EQ(repaired(own_layer), Lines{});

  const program::Program misnamed =
      classifier(Json::array({dense(4, "relu"), named(dense(2, "linear"), "softmax_out")}));
  EXPECT_EQ(published(misnamed), Lines{"activation_final_layer(0) -> ACH(0)"});
  EXPECT_EQ(repaired(misnamed), Lines{"no_softmax(1) -> ACH(1)"});
  const program::Program renamed = classifier(Json::array(
      {dense(4, "relu"), dense(2, "linear"), named(layer("Softmax", Json::object()), "out")}));
  EXPECT_EQ(published(renamed), (Lines{"no_softmax(2) -> -", "missing_activations(1) -> -"}));
  EXPECT_EQ(repaired(renamed), Lines{});
}

TEST(Umlaut, RegressionNeedsNoSoftmax) {
  EXPECT_EQ(published(line()), Lines{"no_softmax(0) -> -"});
  EXPECT_EQ(repaired(line()), Lines{});
}

TEST(Umlaut, RepairedItAsksForNothingThatTheTaskForbids) {
  const auto binary = [](const char* output, const char* loss) {
    return program_of("moons", 2, Json::array({dense(4, "relu"), dense(1, output)}), loss,
                      "accuracy", optimizer("Adam", 0.001));
  };
  // A softmax over one unit is no repair, and cross entropy needs the sigmoid that is there.
  for (const char* output : {"sigmoid", "linear", "softmax"}) {
    EXPECT_EQ(repaired(binary(output, "binary_crossentropy")), Lines{}) << output;
  }
  EXPECT_EQ(published(binary("sigmoid", "binary_crossentropy")),
            (Lines{"no_softmax(1) -> ACH(1)", "activation_final_layer(1) -> ACH(1)"}));
  // Other losses take logits.
  EXPECT_EQ(repaired(binary("tanh", "hinge")), Lines{"activation_final_layer(1) -> ACH(1)"});
}

TEST(Umlaut, MissingActivations) {
  const Json softmax = layer("Softmax", Json::object());
  EXPECT_EQ(published(classifier(Json::array(
                {dense(4, "linear"), dense(4, "linear"), dense(2, "linear"), softmax}))),
            Lines{"missing_activations(0,1) -> ACH(0,1)"});
  // The last layer may be linear.
  EXPECT_EQ(published(classifier(Json::array({dense(4, "relu"), dense(2, "linear"), softmax}))),
            Lines{});
}

TEST(Umlaut, ActivationInALayerOfItsOwn) {
  const Json relu = layer("Activation", {{"activation", "relu"}});
  const Json none = layer("Activation", {{"activation", "linear"}});
  const Json softmax = layer("Softmax", Json::object());
  const program::Program held = classifier(
      Json::array({dense(4, "linear"), layer("BatchNormalization", Json::object()),
                   layer("Dropout", {{"rate", 0.1}}), relu, dense(2, "linear"), softmax}));
  EXPECT_EQ(published(held), Lines{"missing_activations(0) -> -"});
  EXPECT_EQ(repaired(held), Lines{});
  const program::Program mixed =
      classifier(Json::array({dense(4, "linear"), layer("ReLU", Json::object()), dense(4, "linear"),
                              dense(2, "linear"), softmax}));
  EXPECT_EQ(published(mixed), Lines{"missing_activations(0,2) -> ACH(2)"});
  EXPECT_EQ(repaired(mixed), Lines{"missing_activations(2) -> ACH(2)"});
  const program::Program linear =
      classifier(Json::array({dense(4, "linear"), none, dense(2, "linear"), softmax}));
  EXPECT_EQ(published(linear), Lines{"missing_activations(0,1) -> ACH(0,1)"});
  EXPECT_EQ(repaired(linear), published(linear));
}

TEST(Umlaut, ActivationOfTheFinalLayer) {
  const program::Program p = classifier(Json::array({dense(4, "relu"), dense(2, "softsign")}));
  EXPECT_EQ(published(p),
            (Lines{"no_softmax(1) -> ACH(1)", "activation_final_layer(1) -> ACH(1)"}));
  EXPECT_EQ(repaired(p), published(p));
  const program::Program before = classifier(
      Json::array({dense(4, "relu"), dense(2, "tanh"), layer("Softmax", Json::object())}));
  EXPECT_EQ(published(before), Lines{"activation_final_layer(1) -> ACH(1)"});
  EXPECT_EQ(repaired(before), published(before));
}

TEST(Umlaut, HighDropoutRate) {
  const auto with_rates = [](double a, double b) {
    return classifier(Json::array({dense(4, "relu"), layer("Dropout", {{"rate", a}}),
                                   layer("Dropout", {{"rate", b}}), dense(2, "linear"),
                                   layer("Softmax", Json::object())}));
  };
  EXPECT_EQ(published(with_rates(0.5, 0.2)), Lines{});
  EXPECT_EQ(published(with_rates(std::nextafter(0.5, 1.0), 0.5)),
            Lines{"high_dropout_rate(1) -> RCD(1)"});
  EXPECT_EQ(published(with_rates(0.6, 0.9)), Lines{"high_dropout_rate(1,2) -> RCD(1,2)"});
}

TEST(Umlaut, LayersAreCountedWithTheInputLayer) {
  program::Program p =
      classifier(Json::array({layer("InputLayer", Json::object()), dense(4, "linear"),
                              dense(2, "linear"), layer("Softmax", Json::object())}));
  EXPECT_EQ(published(p), Lines{"missing_activations(1) -> ACH(1)"});
}

/// An epoch that no rule has a word for.
Epoch quiet() {
  Epoch epoch;
  epoch.number = 5;
  epoch.logs = {{"loss", 0.5}, {"val_loss", 0.6}, {"accuracy", 0.8}, {"val_accuracy", 0.8}};
  epoch.previous = {{"loss", 0.6}, {"val_loss", 0.7}, {"accuracy", 0.7}, {"val_accuracy", 0.7}};
  epoch.input = {{8, 8, 1}, -1, 1, true};
  epoch.learning_rate = 0.001;
  return epoch;
}

/// What check_epoch says to quiet() with `change` made.
Lines after(const std::function<void(Epoch&)>& change) {
  Epoch epoch = quiet();
  change(epoch);
  const auto messages = check_epoch(epoch);
  for (const ToolMessage& message : messages) {
    EXPECT_EQ(message.epochs, std::vector<std::int64_t>{epoch.number});
  }
  return said(messages);
}

TEST(Umlaut, QuietEpoch) {
  EXPECT_EQ(after([](Epoch&) {}), Lines{});
}

TEST(Umlaut, InputWrongShape) {
  EXPECT_EQ(after([](Epoch& e) { e.input.row = {8, 9, 1}; }), Lines{"input_wrong_shape() -> IWS"});
  EXPECT_EQ(after([](Epoch& e) { e.input.row = {8, 9}; }), Lines{});  // no image
}

TEST(Umlaut, InputNormalization) {
  const Lines fired{"input_normalization() -> CPP"};
  EXPECT_EQ(after([](Epoch& e) { e.input.min = std::nextafter(-1.0f, -2.0f); }), fired);
  EXPECT_EQ(after([](Epoch& e) { e.input.max = std::nextafter(1.0f, 2.0f); }), fired);
}

TEST(Umlaut, InputNotFloating) {
  EXPECT_EQ(after([](Epoch& e) { e.input.floating = false; }),
            Lines{"input_not_floating() -> CPP"});
}

TEST(Umlaut, NaNInInput) {
  const double nan = std::nan("");
  const auto nan_input = [](Epoch& e) { e.input.min = e.input.max = std::nanf(""); };
  EXPECT_EQ(after([&](Epoch& e) {
              nan_input(e);
              e.logs["loss"] = nan;
            }),
            Lines{"nan_input() -> CPP"});
  EXPECT_EQ(after(nan_input), Lines{});
  EXPECT_EQ(after([&](Epoch& e) { e.logs["loss"] = nan; }), Lines{});
}

TEST(Umlaut, SummaryOfInputs) {
  const std::vector<float> plain{0.5f, -3, 2}, with_nan{0.5f, std::nanf(""), 9};
  EXPECT_EQ(summary({3}, plain).min, -3);
  EXPECT_EQ(summary({3}, plain).max, 2);
  EXPECT_TRUE(std::isnan(summary({3}, with_nan).min));
  EXPECT_TRUE(std::isnan(summary({3}, with_nan).max));
}

TEST(Umlaut, LearningRate) {
  const auto with_rate = [](double rate) {
    return after([&](Epoch& e) { e.learning_rate = rate; });
  };
  // As Keras holds it, in single precision.
  EXPECT_EQ(with_rate(0.01), Lines{});
  EXPECT_EQ(with_rate(std::nextafter(0.01f, 1.0f)), Lines{"lr_high() -> HLR"});
  EXPECT_EQ(with_rate(1e-7), Lines{});
  EXPECT_EQ(with_rate(std::nextafter(1e-7f, 0.0f)), Lines{"lr_low() -> HLR"});
}

TEST(Umlaut, Overfitting) {
  const auto with_losses = [](double loss, double validation) {
    return after([&](Epoch& e) {
      e.logs["loss"] = loss;  // 0.6 and 0.7 before
      e.logs["val_loss"] = validation;
    });
  };
  EXPECT_EQ(with_losses(0.6, std::nextafter(0.7, 1.0)), Lines{"overfitting() -> -"});
  EXPECT_EQ(with_losses(0.5, 0.8), Lines{"overfitting() -> -"});
  EXPECT_EQ(with_losses(0.6, 0.7), Lines{});
  EXPECT_EQ(with_losses(std::nextafter(0.6, 1.0), 0.8), Lines{});
  EXPECT_EQ(after([](Epoch& e) {
              e.previous.clear();  // the first epoch
              e.logs["val_loss"] = 9;
            }),
            Lines{});
  EXPECT_EQ(after([](Epoch& e) {
              e.logs["loss"] = std::nan("");
              e.logs["val_loss"] = 9;
            }),
            Lines{});
}

TEST(Umlaut, OverconfidentValidation) {
  const auto with_accuracies = [](std::int64_t number, double training, double validation) {
    return after([&](Epoch& e) {
      e.number = number;
      e.logs["accuracy"] = training;
      e.logs["val_accuracy"] = validation;
    });
  };
  const Lines fired{"overconfident_val() -> -"};
  EXPECT_EQ(with_accuracies(3, 1, std::nextafter(0.95, 1.0)), fired);
  EXPECT_EQ(with_accuracies(3, 1, 0.95), Lines{});
  EXPECT_EQ(with_accuracies(3, 0, std::nextafter(0.05, 1.0)), fired);
  EXPECT_EQ(with_accuracies(3, 0, 0.05), Lines{});
  EXPECT_EQ(with_accuracies(2, 0.5, 0.99), Lines{});
  EXPECT_EQ(after([](Epoch& e) {
              e.logs.erase("accuracy");
              e.logs["val_accuracy"] = 0.9;
            }),
            Lines{});
}

/// All twelve, in its words.
TEST(Umlaut, OrderOfTheTool) {
  Lines lines;
  const auto hear = [&](const std::vector<ToolMessage>& messages) {
    for (const ToolMessage& message : messages) {
      lines.push_back(message.severity + ": " + message.text);
    }
  };
  const std::vector<ToolMessage> before = check_program(
      classifier(
          Json::array({dense(4, "linear"), layer("Dropout", {{"rate", 0.9}}), dense(2, "tanh")})),
      kPublished);
  for (const ToolMessage& message : before) EXPECT_TRUE(message.epochs.empty());
  hear(before);
  Epoch epoch = quiet();
  epoch.input = {{8, 9, 1}, 0, 255, false};
  epoch.learning_rate = 1;
  epoch.logs = {{"loss", 0.1}, {"val_loss", 9}, {"accuracy", 0.9}, {"val_accuracy", 1}};
  hear(check_epoch(epoch));
  EXPECT_EQ(
      lines,
      (Lines{
          "Critical: Missing Softmax layer before loss", "Critical: Missing activation functions",
          "Warning: Last model layer has nonlinear activation", "Warning: High dropout rate",
          "Error: Image data may have incorrect shape", "Error: Input data exceeds typical limits",
          "Error: Input is not a Float type", "Warning: Learning Rate is high",
          "Warning: Possible overfitting", "Warning: Check validation accuracy"}));
  lines.clear();
  epoch.input.min = epoch.input.max = std::nanf("");
  epoch.learning_rate = 0;
  epoch.logs["loss"] = std::nan("");
  hear(check_epoch(epoch));
  EXPECT_EQ(lines,
            (Lines{"Error: Image data may have incorrect shape", "Error: Input is not a Float type",
                   "Critical: NaN (Not a number) in input", "Warning: Learning Rate is low",
                   "Warning: Check validation accuracy"}));
  EXPECT_EQ(message_table().codes().size(), 12u);
}

}  // namespace
}  // namespace neutra::fl_adapters::umlaut
