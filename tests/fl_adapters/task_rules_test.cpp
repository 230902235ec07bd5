#include "fl_adapters/task_rules.h"

#include <gtest/gtest.h>

#include "tests/training/programs.h"

namespace neutra::fl_adapters {

using namespace training;
namespace {

program::Program with_output(Json output, const std::string& loss, const std::string& task) {
  program::Program p = program_of("moons", 2, Json::array({dense(4, "relu"), std::move(output)}),
                                  loss, "accuracy", optimizer("Adam", 0.01));
  p.document["task"] = task;
  return p;
}
program::DataInfo targets(program::Shape y, double low, double high, bool whole = false) {
  program::DataInfo data;
  data.y = std::move(y);
  data.y_min = low;
  data.y_max = high;
  data.y_is_integer = whole;
  return data;
}

TEST(TaskRules, ARegressionTakesWhatReachesItsTargets) {
  const program::Program p = with_output(dense(1, "linear"), "mean_squared_error", "regression");
  const TaskRules unknown(p), small(p, targets({1}, 0, 1)), large(p, targets({1}, -3, 40));
  for (const TaskRules* rules : {&unknown, &small, &large}) {
    EXPECT_TRUE(rules->regression());
    EXPECT_TRUE(rules->allows_activation("linear"));
    EXPECT_FALSE(rules->allows_activation("softmax"));
    for (const char* loss : {"binary_crossentropy", "categorical_crossentropy", "hinge",
                             "sparse_categorical_crossentropy", "kullback_leibler_divergence"}) {
      EXPECT_FALSE(rules->allows_loss(loss)) << loss;
    }
    EXPECT_TRUE(rules->allows_loss("mean_absolute_error"));
    EXPECT_FALSE(rules->loss_is_settled());
  }
  EXPECT_FALSE(unknown.allows_activation("sigmoid"));
  EXPECT_TRUE(small.allows_activation("sigmoid"));
  EXPECT_FALSE(large.allows_activation("sigmoid"));
  EXPECT_FALSE(large.allows_activation("relu"));
  EXPECT_TRUE(unknown.activation_is_settled());
  EXPECT_FALSE(small.activation_is_settled());
  EXPECT_TRUE(large.activation_is_settled());
}

TEST(TaskRules, OneOutputOfAClassifier) {
  const TaskRules rules(with_output(dense(1, "sigmoid"), "binary_crossentropy", "classification"));
  EXPECT_EQ(rules.outputs(), 1);
  EXPECT_EQ(rules.output_layer(), 1);
  EXPECT_TRUE(rules.allows_activation("sigmoid"));
  for (const char* activation : {"softmax", "linear", "relu", "tanh"}) {
    EXPECT_FALSE(rules.allows_activation(activation)) << activation;
  }
  EXPECT_TRUE(rules.activation_is_settled());
  EXPECT_FALSE(rules.allows_loss("categorical_crossentropy"));
  EXPECT_FALSE(rules.allows_loss("sparse_categorical_crossentropy"));
  EXPECT_TRUE(rules.allows_loss("mean_squared_error"));
  // Ten classes, or -1 and 1, are more than a sigmoid can say.
  EXPECT_FALSE(TaskRules(with_output(dense(1, "sigmoid"), "binary_crossentropy", "classification"),
                         targets({1}, 0, 9, true))
                   .allows_activation("sigmoid"));
  // Losses on margins take any output.
  EXPECT_TRUE(TaskRules(with_output(dense(1, "tanh"), "hinge", "classification"))
                  .allows_activation("linear"));
}

TEST(TaskRules, ClassNumbers) {
  const program::Program p =
      with_output(dense(3, "softmax"), "sparse_categorical_crossentropy", "classification");
  const TaskRules unknown(p), known(p, targets({}, 0, 4, true));
  EXPECT_EQ(unknown.label_width(), 1);
  EXPECT_EQ(unknown.classes(), 3);
  EXPECT_EQ(known.label_width(), 1);
  EXPECT_EQ(known.classes(), 5);
  EXPECT_FALSE(unknown.allows_loss("categorical_crossentropy"));
  EXPECT_TRUE(unknown.loss_is_settled());
  const TaskRules vectors(
      with_output(dense(3, "softmax"), "categorical_crossentropy", "classification"),
      targets({3}, 0, 1, true));
  EXPECT_EQ(vectors.label_width(), 3);
  EXPECT_FALSE(vectors.allows_loss("sparse_categorical_crossentropy"));
  EXPECT_FALSE(vectors.loss_is_settled());
  EXPECT_FALSE(vectors.activation_is_settled());  // a sigmoid for each class would do, too
}

TEST(TaskRules, TheOutputsActivationMayHaveALayerOfItsOwn) {
  program::Program p = program_of("moons", 2,
                                  Json::array({dense(4, "relu"), dense(1, "linear"),
                                               layer("Activation", {{"activation", "softmax"}})}),
                                  "binary_crossentropy", "accuracy", optimizer("Adam", 0.01));
  const TaskRules rules(p);
  EXPECT_EQ(rules.activation(), "softmax");
  EXPECT_EQ(rules.output_layer(), 2);
  EXPECT_EQ(rules.outputs(), 1);
  EXPECT_FALSE(rules.activation_is_settled());
}

TEST(TaskRules, TakeProgramsThatKerasRefuses) {
  program::Program p = with_output(dense(0, "softmax"), "no_such_loss", "classification");
  EXPECT_NO_THROW(TaskRules{p});
  p.document["model"]["config"]["layers"] = Json::array();
  EXPECT_NO_THROW(TaskRules{p});
}

TEST(TaskRules, AdviceToChangeWhatIsSettledIsTakenOut) {
  const TaskRules rules(with_output(dense(1, "sigmoid"), "binary_crossentropy", "classification"));
  const auto kept = [&](std::vector<program::FaultEntry> faults) {
    ToolMessage message;
    message.faults = std::move(faults);
    std::vector<ToolMessage> messages{message};
    rules.keep_to_task(messages);
    EXPECT_EQ(messages[0].faults.empty(), !messages[0].ignored.empty());
    return to_string(answer_of(messages));
  };
  EXPECT_EQ(kept({{"ACH", {1}}}), "-");
  EXPECT_EQ(kept({{"ACH", {}}}), "-");
  EXPECT_EQ(kept({{"ACH", {0, 1}}}), "ACH(0)");
  EXPECT_EQ(kept({{"ACH", {1}}, {"WCI", {1}}}), "WCI(1)");
  EXPECT_EQ(kept({{"LCH", {}}}), "LCH");
}

TEST(TaskRules, WithoutATrainerNothingIsKnownOfTheRows) {
  EXPECT_FALSE(data_of(line(), nullptr).has_value());
}

}  // namespace
}  // namespace neutra::fl_adapters
