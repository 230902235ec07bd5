#include <gtest/gtest.h>

#include <cmath>

#include "program/vocabulary.h"
#include "programs.h"
#include "training/metrics.h"

namespace neutra::training {
namespace {

/// A line of slope 5 whose targets are scaled by 1/100 and moved, learnt by one unit.
program::Program scaled_line(const Json& metric) {
  program::Program p = line();
  p.document["data"]["preprocess"] = {{{"op", "scale"}, {"on", "y"}, {"by", 100}},
                                      {{"op", "add"}, {"on", "y"}, {"value", 3}}};
  p.document["metric"] = metric;
  return p;
}

/// Three classes, with labels or rows of zeros and a one for targets.
program::Program blobs(const std::string& metric, bool labels) {
  program::Program p =
      program_of("blobs", 2, Json::array({dense(8, "relu"), dense(3, "softmax")}),
                 labels ? "sparse_categorical_crossentropy" : "categorical_crossentropy",
                 "accuracy", optimizer("Adam", 0.01));
  p.document["data"]["arguments"]["classes"] = 3;
  if (!labels) {
    p.document["data"]["preprocess"] = {{{"op", "one_hot"}, {"on", "y"}, {"classes", 3}}};
  }
  p.document["metric"] = {{"name", metric}};
  return p;
}

TrainingJob job(const program::Program& program) {
  TrainingJob made;
  made.program = &program;
  return made;
}

class ProgramMetrics : public EachBackend {
 protected:
  ReplicaResult train(const program::Program& program) const {
    return trainer()->train(job(program));
  }
};
NEUTRA_EACH_BACKEND(ProgramMetrics);

TEST_P(ProgramMetrics, EveryNameOfAClassification) {
  for (const program::Entry& entry : program::entries(program::Vocabulary::kMetric)) {
    const std::string takes = entry.facts.value("targets", "");
    const program::Program p = blobs(entry.name, takes == "labels" || takes == "outputs");
    const ReplicaResult result = train(p);
    EXPECT_EQ(result.status, RunStatus::kOk) << entry.name << ": " << result.message;
    EXPECT_TRUE(std::isfinite(result.metric)) << entry.name;
    EXPECT_EQ(result.total, entry.name.find("accuracy") == std::string::npos ? -1
                            : entry.name == "binary_accuracy"                ? 300
                                                                             : 100)
        << entry.name;
  }
}

/// The same training under another name: the loss without penalties.
TEST_P(ProgramMetrics, ALossAsMetricIsTheLoss) {
  for (const bool labels : {false, true}) {
    program::Program p =
        blobs(labels ? "sparse_categorical_crossentropy" : "categorical_crossentropy", labels);
    const std::unique_ptr<LocalTrainer> trainer = this->trainer();
    const TrainedModel model = trainer->train_model(job(p));
    const Evaluation evaluation = trainer->evaluate(p, DataPart::kHoldout, model.weights);
    EXPECT_NEAR(evaluation.metric, evaluation.loss, 1e-5 * evaluation.loss);
    EXPECT_NEAR(model.training.metric, evaluation.metric, 1e-6);
    program::Program penalised = p;
    penalised.document["model"]["config"]["layers"][0]["config"]["kernel_regularizer"] = "l2";
    const Evaluation more = trainer->evaluate(penalised, DataPart::kHoldout, model.weights);
    EXPECT_GT(more.loss, evaluation.loss + 1e-3);
    EXPECT_DOUBLE_EQ(more.metric, evaluation.metric);
  }
}

TEST_P(ProgramMetrics, OriginalScale) {
  const std::unique_ptr<LocalTrainer> trainer = this->trainer();
  const program::Program plain = scaled_line({{"name", "mae"}});
  const TrainedModel model = trainer->train_model(job(plain));
  const auto value = [&](const Json& metric) {
    return trainer->evaluate(scaled_line(metric), DataPart::kHoldout, model.weights).metric;
  };
  const double mae = value({{"name", "mae"}});
  EXPECT_DOUBLE_EQ(mae, model.training.metric);
  EXPECT_NEAR(value({{"name", "mae"}, {"scale", "original"}}), 100 * mae, 1e-9);
  EXPECT_NEAR(value({{"name", "rmse"}, {"scale", "original"}}), 100 * value({{"name", "rmse"}}),
              1e-9);
  EXPECT_NEAR(value({{"name", "r2"}, {"scale", "original"}}), value({{"name", "r2"}}), 1e-9);
}

TEST(TargetScales, FollowTheStepsBackwards) {
  for (const char* op : {"standardize", "normalize"}) {
    Json data = line().document["data"];
    const auto before = load_dataset(data, {});
    EXPECT_TRUE(target_scale(data, {}).factor.empty());
    data["preprocess"] = {{{"op", "add"}, {"on", "y"}, {"value", -7}},
                          {{"op", op}, {"on", "y"}},
                          {{"op", "scale"}, {"on", "y"}, {"by", 0.5}},
                          {{"op", "add"}, {"on", "y"}, {"value", 2}}};
    const auto after = load_dataset(data, {});
    const TargetScale scale = target_scale(data, {});
    ASSERT_EQ(scale.factor.size(), 1u);
    for (std::size_t i = 0; i < before->y_holdout.values.size(); ++i) {
      EXPECT_NEAR(after->y_holdout.values[i] * scale.factor[0] + scale.offset[0],
                  before->y_holdout.values[i], 1e-5);
    }
  }
  Json data = line().document["data"];  // what the training rows alone go through doesn't count
  data["preprocess"] = {{{"op", "scale"}, {"on", "y"}, {"by", 5}, {"part", "train"}}};
  EXPECT_TRUE(target_scale(data, {}).factor.empty());
}

TEST_P(ProgramMetrics, WhatCannotBeComputedIsInvalid) {
  for (const auto& [p, reason] :
       {std::pair{blobs("sparse_categorical_accuracy", false), "one label"},
        {blobs("categorical_crossentropy", true), "output's shape"}}) {
    const ReplicaResult result = train(p);
    EXPECT_EQ(result.status, RunStatus::kInvalid);
    EXPECT_NE(result.message.find(reason), std::string::npos) << result.message;
  }
  program::Program one_class = line();
  one_class.document["data"]["arguments"]["slope"] = 0;
  one_class.document["metric"] = {{"name", "AUC"}};
  const ReplicaResult result = train(one_class);
  EXPECT_EQ(result.status, RunStatus::kInvalid);
  EXPECT_NE(result.message.find("AUC of rows of one class"), std::string::npos) << result.message;
}

TEST_P(ProgramMetrics, CallbacksHearEveryCompiledMetric) {
  program::Program p = line(50);
  const auto stops = [&](const std::string& metric, const std::string& mode) {
    p.document["compile"]["metrics"] = Json::array({metric});
    p.document["fit"]["validation_split"] = 0.2;
    p.document["fit"]["callbacks"] = {
        {{"class_name", "EarlyStopping"},
         {"config", {{"monitor", "val_" + metric}, {"patience", 1}, {"mode", mode}}}}};
    const ReplicaResult result = train(p);
    return result.steps;
  };
  // In the wrong direction training ends at the second epoch.
  for (const char* metric : {"rmse", "mape", "logcosh"}) {
    EXPECT_EQ(stops(metric, "max"), 2 * 10) << metric;
    EXPECT_GT(stops(metric, "min"), 2 * 10) << metric;
  }
}

}  // namespace
}  // namespace neutra::training
