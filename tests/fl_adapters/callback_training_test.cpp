#include <gtest/gtest.h>

#include "fl_adapters/registry.h"
#include "fl_adapters/tools/deeplocalize.h"
#include "tests/fl_adapters/tools_words.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters {

using namespace training;
namespace {

/// DeepDiagnosis and DeepLocalize on trainings.
class CallbackTraining : public EachBackend {
 protected:
  Localisation run(const std::string& tool, const program::Program& p,
                   ToolVariant variant = ToolVariant::kAsPublished) const {
    const auto trained = trainer();
    LocaliseContext context;
    context.trainer = trained.get();
    context.variant = variant;
    return find_tool(tool)->localise({"test", p}, context);
  }
};
NEUTRA_EACH_BACKEND(CallbackTraining);

std::vector<std::string> texts(const Localisation& found) {
  std::vector<std::string> list;
  for (const ToolMessage& message : found.messages) {
    list.push_back(in_the_tools_words(message.text));
  }
  return list;
}
using Texts = std::vector<std::string>;

/// A softmax of one unit: its output is 1 whatever goes in, so that no weight moves.
program::Program constant_output(int epochs) {
  return program_of(
      "moons", 2,
      Json::array({dense(16, "linear"), layer("Activation", {{"activation", "tanh"}}),
                   dense(1, "linear"), layer("Activation", {{"activation", "softmax"}})}),
      "binary_crossentropy", "accuracy", optimizer("Adam", 0.01), epochs);
}

/// Its weights are infinite within a few steps.
program::Program diverging() {
  return program_of("linear", 1, Json::array({dense(4, "linear"), dense(1, "linear")}),
                    "mean_squared_error", "mae", optimizer("SGD", 1e6), 1000000);
}

TEST_P(CallbackTraining, DeepDiagnosisStopsAtTheFirstProblem) {
  const Localisation found = run("deepdiagnosis", constant_output(1000000));
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  EXPECT_EQ(texts(found),
            (Texts{"Batch 0 layer 2: Numerical Error in delta Weights, terminating training",
                   "Please change the loss function \t OR Please change the activaton function at "
                   "layer: 3"}));
  EXPECT_EQ(to_string(found.faults), "ACH(3)|LCH");
  EXPECT_EQ(found.messages[0].layers, std::set<int>{2});
}

TEST_P(CallbackTraining, DeepDiagnosisOfADivergedTraining) {
  const Localisation found = run("deepdiagnosis", diverging());
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  EXPECT_EQ(texts(found), (Texts{"Batch 0 layer 0: Numerical Problem Forward, terminating training",
                                 "Please change the activaton function at layer: 1"}));
}

TEST_P(CallbackTraining, DeepDiagnosisHasNothingToSayOfAGoodTraining) {
  const Localisation found = run("deepdiagnosis", line(30));
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  EXPECT_EQ(texts(found), Texts{});
  EXPECT_EQ(to_string(found.faults), "-");
}

TEST_P(CallbackTraining, DeepLocalizeStopsAtTheFirstError) {
  // The gradients of all layers are 0; the tool looks at outputs first, but only every fifth batch.
  const Localisation found = run("deeplocalize", constant_output(1000000));
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  EXPECT_EQ(texts(found), Texts{"Batch 0 layer 2: Error in delta Weights, terminating training"});
  EXPECT_EQ(to_string(found.faults), "-");
  ASSERT_EQ(found.ranking.size(), 1u);
  EXPECT_EQ(found.ranking[0].layer, 2);
  EXPECT_EQ(found.ranking[0].type, "");
}

TEST_P(CallbackTraining, DeepLocalizeOfADivergedTraining) {
  // The outputs overflow with weights that still are numbers.
  const Localisation found = run("deeplocalize", diverging());
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  ASSERT_EQ(found.messages.size(), 1u);
  EXPECT_EQ(found.messages[0].detail.find("mean "), 0u) << found.messages[0].detail;
}

TEST_P(CallbackTraining, DeepLocalizeSeesTheAccuracyOfEachBatch) {
  // Targets are 0 and 2, answers 1: never right.
  program::Program p = program_of(
      "moons", 2,
      Json::array({dense(
          1, "sigmoid",
          {{"bias_initializer", {{"class_name", "Constant"}, {"config", {{"value", 3}}}}}})}),
      "mean_squared_error", "accuracy", optimizer("SGD", 0.001), 1000000);
  p.document["data"]["preprocess"] = Json::parse(R"([{"op":"scale","on":"y","by":0.5}])");
  const Localisation found = run("deeplocalize", p);
  EXPECT_EQ(texts(found), Texts{"Batch 4: MDL, terminating training"});
  EXPECT_EQ(found.messages.at(0).detail, "accuracy unchanged in 5 batches");
}

TEST_P(CallbackTraining, DeepLocalizeHasNothingToSayOfAGoodTraining) {
  const Localisation found = run("deeplocalize", line(2));
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  EXPECT_EQ(texts(found), Texts{});
  EXPECT_TRUE(found.ranking.empty());
}

TEST_P(CallbackTraining, LayersWithOtherWeightsEndThePublishedTools) {
  const program::Program p =
      program_of("moons", 2,
                 Json::array({dense(4, "relu"), layer("BatchNormalization", Json::object()),
                              dense(1, "sigmoid")}),
                 "binary_crossentropy", "accuracy", optimizer("Adam", 0.01), 2);
  for (const std::string tool : {"deepdiagnosis", "deeplocalize"}) {
    const Localisation published = run(tool, p);
    EXPECT_EQ(published.status, LocalisationStatus::kNotApplicable);
    EXPECT_NE(published.reason.find("too many values"), std::string::npos) << published.reason;
    EXPECT_EQ(run(tool, p, ToolVariant::kRepaired).status, LocalisationStatus::kOk);
  }
}

TEST_P(CallbackTraining, SameRunSameMessages) {
  for (const std::string tool : {"deepdiagnosis", "deeplocalize"}) {
    const Localisation a = run(tool, diverging()), b = run(tool, diverging());
    EXPECT_EQ(texts(a), texts(b));
    EXPECT_EQ(a.messages.at(0).detail, b.messages.at(0).detail);
  }
}

std::vector<deeplocalize::BatchTrace> traces_of(const program::Program& p,
                                                training::LocalTrainer& trainer) {
  std::vector<deeplocalize::BatchTrace> traces;
  const auto watcher =
      deeplocalize::make_watcher(callback_model(p, ToolVariant::kAsPublished),
                                 [&](const deeplocalize::BatchTrace& trace) -> Finding {
                                   traces.push_back(trace);
                                   return {};
                                 });
  training::TrainingJob job;
  job.program = &p;
  job.keras = training::KerasRelease::k224;
  EXPECT_EQ(trainer.train(job, watcher.get()).status, training::RunStatus::kOk);
  return traces;
}

TEST_P(CallbackTraining, TracesOfEveryBatch) {
  const program::Program p =
      program_of("moons", 2,
                 Json::array({dense(16, "linear"), layer("Activation", {{"activation", "tanh"}}),
                              layer("Reshape", {{"target_shape", {4, 4, 1}}}),
                              layer("MaxPooling2D", Json::object()),
                              layer("Flatten", Json::object()), dense(1, "sigmoid")}),
                 "binary_crossentropy", "accuracy", optimizer("SGD", 0.1), 2);
  const auto trained = trainer();
  const auto traces = traces_of(p, *trained);
  ASSERT_EQ(traces.size(), 26u);  // 400 rows in batches of 32, twice
  for (std::size_t i = 0; i < traces.size(); ++i) {
    const deeplocalize::BatchTrace& trace = traces[i];
    EXPECT_EQ(trace.epoch, static_cast<std::int64_t>(i / 13));
    EXPECT_EQ(trace.batch, static_cast<std::int64_t>(i % 13));
    const float rows = i % 13 == 12 ? 16 : 32;
    ASSERT_TRUE(trace.accuracy.has_value());
    EXPECT_EQ(std::round(*trace.accuracy * rows), *trace.accuracy * rows);
    for (const deeplocalize::LayerTrace& layer : trace.layers) {
      ASSERT_TRUE(layer.output_gradient.has_value());
      EXPECT_NE(layer.output_gradient->value, 0);
      EXPECT_TRUE(std::isfinite(layer.output_gradient->value));
    }
    EXPECT_EQ(trace.layers[4].output_gradient->value, trace.layers[3].output_gradient->value);
    EXPECT_TRUE(trace.layers[5].gradient && trace.layers[5].kernel);
    EXPECT_FALSE(trace.layers[3].gradient || trace.layers[3].kernel);
  }
}

/// One unit in all rows behind the softmax: inputs from about -60 to 110, a rate of 0.1.
program::Program saturated() {
  program::Program p = program_of(
      "moons", 2,
      Json::array({dense(16, "linear"), layer("Activation", {{"activation", "relu"}}),
                   dense(2, "linear"), layer("Activation", {{"activation", "softmax"}})}),
      "categorical_crossentropy", "accuracy", optimizer("SGD", 0.1), 3);
  p.document["data"]["preprocess"] =
      Json::parse(R"([{"op":"scale","by":0.02},{"op":"one_hot","on":"y","classes":2}])");
  return p;
}

TEST_P(CallbackTraining, PublishedToolsWatchATrainingOfKeras224) {
  // Certain and wrong, a clipped probability has no gradient; tf.keras's loss on logits has.
  const Localisation published = run("deepdiagnosis", saturated());
  EXPECT_EQ(published.status, LocalisationStatus::kOk) << published.reason;
  ASSERT_FALSE(published.messages.empty());
  EXPECT_EQ(published.messages[0].code, "numerical_delta_weights");
  program::Program huber = line(2);
  huber.document["compile"]["loss"] = "huber";
  for (const char* tool : {"deepdiagnosis", "deeplocalize"}) {
    const Localisation refused = run(tool, huber);
    EXPECT_EQ(refused.status, LocalisationStatus::kNotApplicable) << tool;
    EXPECT_EQ(refused.reason, "Keras 2.2.4 has no loss huber") << tool;
    EXPECT_EQ(run(tool, huber, ToolVariant::kRepaired).status, LocalisationStatus::kOk) << tool;
  }
}

}  // namespace
}  // namespace neutra::fl_adapters
