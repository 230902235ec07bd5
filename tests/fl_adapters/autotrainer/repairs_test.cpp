#include "fl_adapters/tools/autotrainer/repairs.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "fl_adapters/tools/autotrainer/problems.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::autotrainer::tests {

using namespace training;
namespace {

using Words = std::vector<std::string>;

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
}  // namespace neutra::fl_adapters::autotrainer::tests
