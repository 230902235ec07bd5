#include <gtest/gtest.h>

#include "fl_adapters/registry.h"
#include "tests/fl_adapters/neuralint/programs.h"

namespace neutra::fl_adapters::neuralint::tests {
namespace {

TEST(Neuralint, CountsActivationsAsLayers) {
  const program::Program p =
      mlp(Json::array({layer("InputLayer", Json::object()), dense(4, "relu"), dense(4, "linear"),
                       activation("tanh"), dense(2, "softmax")}));
  EXPECT_EQ(layer_numbers(p, kPublished), (std::vector<int>{1, 1, 2, 3, 4, 4}));
  const program::Program faulty =
      mlp(Json::array({dense(4, "relu"), dense(4, "relu", {{"kernel_initializer", "zeros"}}),
                       dense(2, "softmax")}));
  ASSERT_EQ(check_program(faulty, kPublished).size(), 1u);
  EXPECT_EQ(check_program(faulty, kPublished)[0].layers, std::set<int>{1});
  EXPECT_EQ(check_program(faulty, kPublished)[0].detail, "Layer 3 of the tool");
}

/// "Learner f012; Layer 1 f016" as the tool reported it (outputs recorded with deepmufl's
/// programs).
std::string report(const program::Program& program) {
  std::string text;
  for (const ToolMessage& message : check_program(program, kPublished)) {
    const std::string about = message.severity == "Layer"
                                  ? message.detail.substr(0, message.detail.find(" of"))
                                  : message.severity;
    text += (text.empty() ? "" : "; ") + about + " " + message.code;
  }
  return text;
}

TEST(Neuralint, RecordedReports) {
  // 64387251: linear is spelled out.
  EXPECT_EQ(report(model(Json::array({dense(13000, "relu"), dense(1, "linear")}),
                         "binary_crossentropy", {784})),
            "Learner f012; Learner f020");
  // 34311586
  EXPECT_EQ(report(mlp(Json::array({dense(2, "sigmoid"), dense(3, "sigmoid"), dense(1, "softmax")}),
                       "mean_squared_error")),
            "Learner f015; Learner f017; Layer 1 f019");
  // 48221692
  EXPECT_EQ(report(model(Json::array({dense(5, "sigmoid"), dense(1, "sigmoid")}),
                         "mean_squared_error", {1})),
            "Learner f015");
  // 53749895
  EXPECT_EQ(report(mlp(Json::array({open(dense(32, "")), activation("relu"), dense(3, "softmax")}),
                       "mean_squared_error")),
            "Learner f015");
  // 54282951
  EXPECT_EQ(report(model(Json::array({open(conv(32, 1)), flatten(), open(dense(64, "")), dropout(),
                                      open(dense(1, ""))}),
                         "binary_crossentropy", {230, 230, 3})),
            "Learner f012; Architecture f002; Layer 1 f009; Layer 3 f009");
  // 62055783
  EXPECT_EQ(
      report(model(Json::array({conv(64, 3), conv(128, 3, "relu", {{"padding", "same"}}), pool(),
                                dropout(), conv(64, 3), pool(), dropout(), conv(64, 3), flatten(),
                                dense(64, "relu"), open(dense(7, ""))}),
                   "categorical_crossentropy", {48, 48, 1})),
      "Architecture f002; Layer 3 f023");
  // 47704695
  const auto same = [](int filters, int window) {
    return conv(filters, window, "relu", {{"padding", "same"}});
  };
  EXPECT_EQ(
      report(model(
          Json::array(
              {same(16, 5),  pool(),    dropout(),    same(32, 3),        pool(), dropout(),
               same(32, 3),  dropout(), same(64, 3),  same(64, 3),        pool(), same(128, 3),
               same(128, 3), pool(),    same(256, 3), same(256, 3),       pool(), same(512, 3),
               pool(),       flatten(), dropout(),    dense(1, "softmax")}),
          "binary_crossentropy", {128, 128, 3})),
      "Learner f012; Learner f017; Learner f020; Layer 1 f016; Layer 1 f025; Layer 5 f025");
}

TEST(Neuralint, WhatTheToolCannotRead) {
  const program::Program single = mlp(Json::array({dense(2, "softmax")}));
  EXPECT_EQ(unreadable(single, kPublished), "the tool reads no model of a single layer");
  EXPECT_EQ(
      unreadable(mlp(Json::array({layer("InputLayer", Json::object()),
                                  layer("Reshape", {{"target_shape", {2}}}), dense(2, "softmax")})),
                 kPublished),
      "the tool reads no model of a single layer, and of these 3 layers it knows one, layer "
      "2");
  EXPECT_EQ(unreadable(single, kRepaired), std::nullopt);
  const program::Program alias = mlp(Json::array({dense(4, "relu"), dense(1, "linear")}), "mse");
  EXPECT_EQ(unreadable(alias, kPublished)->substr(0, 8), "loss mse");
  EXPECT_EQ(unreadable(alias, kRepaired), std::nullopt);
  const program::Program poisson =
      mlp(Json::array({dense(4, "relu"), dense(2, "softmax")}), "poisson");
  EXPECT_NE(unreadable(poisson, kPublished), std::nullopt);
  EXPECT_EQ(repaired(poisson), Lines{});
  program::Program broken = single;
  broken.document["model"]["config"]["layers"][0]["class_name"] = "LSTMish";
  EXPECT_NE(unreadable(broken, kRepaired), std::nullopt);
}

TEST(Neuralint, AnswersWithoutATrainer) {
  const Tool* tool = find_tool("neuralint");
  ASSERT_NE(tool, nullptr);
  EXPECT_EQ(tool->needs, std::set<ToolNeed>{ToolNeed::kProgram});
  const Localisation ok = tool->localise(
      {"x", mlp(Json::array({dense(2, "relu"), dense(4, "softmax")}))}, LocaliseContext{});
  EXPECT_EQ(to_string(ok.faults), "LCN(0)");
  const Localisation none = tool->localise({"x", line()}, LocaliseContext{});
  EXPECT_EQ(none.status, LocalisationStatus::kNotApplicable);
  EXPECT_EQ(to_string(none.faults), "N/A");
}

}  // namespace
}  // namespace neutra::fl_adapters::neuralint::tests
