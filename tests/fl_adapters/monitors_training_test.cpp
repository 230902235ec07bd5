#include <gtest/gtest.h>

#include "fl_adapters/registry.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters {

using namespace training;
namespace {

/// Tools that check trainings as they go.
class Monitors : public testing::TestWithParam<const char*> {
 protected:
  Localisation run(const program::Program& p, ToolVariant variant = ToolVariant::kAsPublished,
                   double time_limit = 0) const {
    const auto trainer = training::make_local_trainer({});
    LocaliseContext context;
    context.trainer = trainer.get();
    context.variant = variant;
    context.time_limit = time_limit;
    return find_tool(GetParam())->localise({"test", p}, context);
  }
};
INSTANTIATE_TEST_SUITE_P(Each, Monitors, testing::Values("autotrainer", "thedeepchecker"),
                         [](const auto& info) { return std::string(info.param); });

bool says(const Localisation& localisation, const std::string& code) {
  for (const ToolMessage& message : localisation.messages) {
    if (message.code == code) return true;
  }
  return false;
}

TEST_P(Monitors, SameRunSameMessages) {
  for (const ToolVariant variant : {ToolVariant::kAsPublished, ToolVariant::kRepaired}) {
    const Localisation a = run(moons(8), variant), b = run(moons(8), variant);
    EXPECT_EQ(a.status, LocalisationStatus::kOk);
    ASSERT_EQ(a.messages.size(), b.messages.size());
    for (std::size_t i = 0; i < a.messages.size(); ++i) {
      EXPECT_EQ(a.messages[i].text, b.messages[i].text);
      EXPECT_EQ(a.messages[i].epochs, b.messages[i].epochs);
    }
  }
}

TEST_P(Monitors, Regressions) {
  const Localisation found = run(line(8));
  EXPECT_EQ(found.status, LocalisationStatus::kOk) << found.reason;
  if (std::string(GetParam()) == "autotrainer") {
    EXPECT_TRUE(says(found, "loss_issue") || says(found, "activation_issue"));
    EXPECT_FALSE(says(run(line(8), ToolVariant::kRepaired), "loss_issue"));
  } else {
    EXPECT_TRUE(says(found, "poor_init"));  // a kernel of one number
    EXPECT_FALSE(says(run(line(8), ToolVariant::kRepaired), "poor_init"));
  }
}

TEST_P(Monitors, ProgramsThatKerasRefusesAreNotApplicable) {
  program::Program p = moons();
  p.document["model"]["config"]["layers"][2]["config"]["units"] = 0;
  const Localisation refused = run(p);
  EXPECT_EQ(refused.status, LocalisationStatus::kNotApplicable);
  EXPECT_EQ(to_string(refused.faults), "N/A");
  EXPECT_FALSE(refused.reason.empty());
}

TEST_P(Monitors, TimeLimit) {
  program::Program p = moons(1000000);
  const Localisation cut = run(p, ToolVariant::kAsPublished, 0.2);
  // AutoTrainer may have found a problem and stopped before.
  if (cut.status != LocalisationStatus::kOk) {
    EXPECT_EQ(cut.status, LocalisationStatus::kTimeout);
    EXPECT_FALSE(cut.reason.empty());
  }
  EXPECT_LT(cut.seconds, 30);
}

using AutoTrainerTraining = Monitors;
INSTANTIATE_TEST_SUITE_P(Each, AutoTrainerTraining, testing::Values("autotrainer"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(AutoTrainerTraining, StopsAtTheFirstProblem) {
  program::Program p = program_of("moons", 2, Json::array({dense(8, "relu"), dense(1, "linear")}),
                                  "mean_squared_error", "accuracy", optimizer("SGD", 0.01), 20);
  const Localisation found = run(p);
  ASSERT_FALSE(found.messages.empty());
  EXPECT_EQ(found.messages[0].severity, "Problem");
  for (const ToolMessage& message : found.messages) {
    EXPECT_EQ(message.epochs, found.messages[0].epochs);
    EXPECT_EQ(message.epochs.front() % 3, 0);
  }
  EXPECT_EQ(to_string(found.faults).empty(), false);
  EXPECT_FALSE(found.ranking.empty());
}

TEST_P(AutoTrainerTraining, AGoodTrainingHasNoProblem) {
  program::Program p = moons(60);
  p.document["data"]["arguments"]["noise"] = 0.05;
  const Localisation found = run(p);
  EXPECT_EQ(to_string(found.faults), "-") << found.messages[0].text;
}

using TheDeepCheckerTraining = Monitors;
INSTANTIATE_TEST_SUITE_P(Each, TheDeepCheckerTraining, testing::Values("thedeepchecker"),
                         [](const auto& info) { return std::string(info.param); });

TEST_P(TheDeepCheckerTraining, ConstantWeights) {
  program::Program p = moons(2);
  p.document["model"]["config"]["layers"][2]["config"]["kernel_initializer"] = "zeros";
  const Localisation found = run(p);
  for (const ToolMessage& message : found.messages) {
    if (message.code != "poor_init") continue;
    EXPECT_EQ(message.layers, std::set<int>{2});
    EXPECT_EQ(to_string(answer_of({message})), "WCI(2)");
  }
  EXPECT_TRUE(says(found, "poor_init"));
  EXPECT_FALSE(says(run(moons(2)), "poor_init"));
}

TEST_P(TheDeepCheckerTraining, UnscaledFeatures) {
  program::Program p = moons(2);
  p.document["data"]["preprocess"] = Json::parse(R"([{"op":"scale","by":0.01}])");
  EXPECT_TRUE(says(run(p), "feature_unnormalized"));
  p.document["data"]["preprocess"] = Json::parse(R"([{"op":"standardize","part":"train"}])");
  EXPECT_FALSE(says(run(p, ToolVariant::kRepaired), "feature_unnormalized"));
}

TEST_P(TheDeepCheckerTraining, StepsTooSmallOrTooLarge) {
  const auto with_rate = [&](double rate) {
    program::Program p =
        program_of("moons", 2, Json::array({dense(16, "relu"), dense(1, "sigmoid")}),
                   "binary_crossentropy", "accuracy", optimizer("SGD", rate), 2);
    return run(p);
  };
  EXPECT_TRUE(says(with_rate(1e-5), "fc_w_slow"));
  EXPECT_FALSE(says(with_rate(0.1), "fc_w_slow"));
  EXPECT_TRUE(says(with_rate(1e4), "fc_w_fast"));
  EXPECT_FALSE(says(with_rate(0.1), "fc_w_fast"));
  EXPECT_TRUE(says(with_rate(1e-5), "underfitting_single_batch"));
}

TEST_P(TheDeepCheckerTraining, RegularisationThatOverwhelmsTheLoss) {
  const auto with_l2 = [&](double l2) {
    program::Program p = moons(2);
    p.document["model"]["config"]["layers"][0]["config"]["kernel_regularizer"] =
        Json::parse(R"({"class_name":"L2","config":{}})");
    p.document["model"]["config"]["layers"][0]["config"]["kernel_regularizer"]["config"]["l2"] = l2;
    return run(p);
  };
  EXPECT_TRUE(says(with_l2(100), "overwhelm_reg_loss"));
  EXPECT_FALSE(says(with_l2(1e-6), "overwhelm_reg_loss"));
}

TEST_P(TheDeepCheckerTraining, DropoutThatChangesTheLayers) {
  const auto with_rate = [&](double rate) {
    program::Program p = moons(2);
    p.document["model"]["config"]["layers"][1]["config"]["rate"] = rate;
    return run(p);
  };
  EXPECT_TRUE(says(with_rate(0.97), "switch_mode_out_consistency"));
  EXPECT_FALSE(says(with_rate(0.01), "switch_mode_out_consistency"));
}

/// Tools that watch logs see those of compile.metrics, whatever neutra measures.
class CompiledMetrics : public testing::TestWithParam<const char*> {
 protected:
  static Localisation run(const program::Program& p) {
    const auto trainer = training::make_local_trainer({});
    LocaliseContext context;
    context.trainer = trainer.get();
    return find_tool(GetParam())->localise({"test", p}, context);
  }
  static std::vector<std::string> said(const Localisation& found) {
    std::vector<std::string> list{std::string(to_string(found.status)) + ": " + found.reason,
                                  to_string(found.faults)};
    for (const ToolMessage& message : found.messages) {
      list.push_back(message.text + " / " + message.detail);
    }
    return list;
  }
};
INSTANTIATE_TEST_SUITE_P(Each, CompiledMetrics,
                         testing::Values("autotrainer", "deepdiagnosis", "deepfd", "deeplocalize",
                                         "symptoms", "thedeepchecker", "umlaut"),
                         [](const auto& info) { return std::string(info.param); });

/// Never right, so that the accuracy is 0 and stands still: DeepDiagnosis and DeepLocalize say so.
program::Program never_right() {
  program::Program p =
      program_of("moons", 2, Json::array({dense(1, "relu", {{"bias_initializer", "ones"}})}),
                 "mean_squared_error", "accuracy", optimizer("SGD", 0.0001), 6);
  p.document["data"]["preprocess"] = Json::parse(R"([{"op":"add","on":"y","value":8}])");
  p.document.erase("task");
  return p;
}

TEST_P(CompiledMetrics, TheAnswerIsThatOfTheScript) {
  for (const Json& compiled : {Json{"accuracy"}, Json{"mae", "acc"}, Json{"mae"}, Json::array()}) {
    program::Program p = never_right();
    p.document["compile"]["metrics"] = compiled;
    const Localisation expected = run(p);
    for (const char* metric : {"mae", "mse", "loss"}) {
      p.document["metric"] = {{"name", metric}};
      EXPECT_EQ(said(run(p)), said(expected)) << metric << " " << compiled;
    }
  }
}

TEST(CompiledMetricsOfCallbacks, NoAccuracyIsNoTrouble) {
  const auto trainer = training::make_local_trainer({});
  LocaliseContext context;
  context.trainer = trainer.get();
  for (const char* tool : {"deepdiagnosis", "deeplocalize"}) {
    for (const bool compiled : {true, false}) {
      program::Program p = never_right();
      p.document["compile"]["metrics"] = compiled ? Json{"accuracy"} : Json{"mae"};
      const Localisation found = find_tool(tool)->localise({"test", p}, context);
      const bool accuracy = says(found, "invalid_accuracy") || says(found, "mdl");
      EXPECT_EQ(accuracy, compiled) << tool;
    }
  }
}

}  // namespace
}  // namespace neutra::fl_adapters
