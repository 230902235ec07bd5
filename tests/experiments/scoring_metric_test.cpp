#include "experiments/scoring_metric.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>

#include "base/error.h"
#include "experiments/network_file.h"
#include "experiments/search_task.h"
#include "search/search.h"
#include "tests/test_folder.h"
#include "training/local_trainer.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

class ScoringMetric : public testing::Test {
 protected:
  /// One unit on a line, with too small a rate; `fixed`: changes of the known fix; null: none.
  Fault fault(const std::string& loss, const Json& fixed = {{"parameters", {{"lr", 0.3}}}},
              const Json& more = Json::object()) const {
    Json program = {
        {"model",
         {{"class_name", "Sequential"},
          {"config",
           {{"layers",
             {{{"class_name", "Dense"},
               {"config", {{"units", 1}, {"batch_input_shape", {nullptr, 1}}}}}}}}}}},
        {"compile",
         {{"loss", loss},
          {"optimizer", {{"class_name", "SGD"}, {"config", {{"learning_rate", 0.0001}}}}}}},
        {"fit", {{"epochs", 2}, {"batch_size", 20}}},
        {"data",
         {{"source", "generator"},
          {"arguments", {{"name", "linear"}, {"rows", 100}, {"slope", 3}}},
          {"split", {{"test_size", 0.2}, {"seed", 42}}}}}};
    program.update(more, true);
    Json document = {{"format", "neutra-fault"}, {"version", 1},       {"id", "line_" + loss},
                     {"title", "a line"},        {"program", program}, {"buggy", Json::object()}};
    if (!fixed.is_null()) document["fixed"] = fixed;
    const fs::path file = folder_ / (loss + ".json");
    std::ofstream(file) << document.dump();
    return load_fault(file.string());
  }

  search::SearchConfig config(const Fault& fault) const {
    search::SearchConfig config;
    config.preset = mutators::Preset::kKeras;
    config.replicas = 2;
    config.budget_evaluations = 40;
    config.fingerprint = search_fingerprint(fault, *trainer_);
    return config;
  }
  search::SearchOutcome search(const Fault& fault, const std::string& store,
                               const std::vector<fs::path>& reuse = {}) const {
    search::RunOptions options;
    options.reuse = reuse;
    return search::run_search(search_task(fault), config(fault), options, *trainer_,
                              folder_ / store);
  }

  neutra::tests::TestFolder folder_;
  std::unique_ptr<training::LocalTrainer> trainer_ = training::make_local_trainer({});
};

TEST_F(ScoringMetric, TheLossBecomesTheMetricOfItsName) {
  const Fault plain = fault("mean_absolute_error");
  EXPECT_EQ(program::resolve(plain.buggy).metric, "loss");
  EXPECT_EQ(scoring_text(plain), "scored by mean_absolute_error, the buggy program's loss");
  const Fault scored = scored_alike(plain);
  EXPECT_EQ(scoring_text(scored), scoring_text(plain));
  for (const program::Program* program : {&scored.buggy, &*scored.fixed, &scored.space.base()}) {
    EXPECT_EQ(program::resolve(*program).metric, "mae");
  }
  EXPECT_EQ(scored.fixed_parameters, plain.fixed_parameters);
  EXPECT_EQ(scored.space.parameters_of(*scored.fixed), plain.fixed_parameters);
  // A candidate with another loss is scored by the same function.
  program::Parameters other = scored.space.base_parameters();
  other["loss"] = "mean_squared_error";
  EXPECT_EQ(program::resolve(scored.space.instantiate(other)).metric, "mae");
  EXPECT_EQ(program::resolve(scored_by_name(plain.buggy)).metric, "mae");
  // The loss of the metric cosine_similarity has the other sign.
  const program::ResolvedProgram cosine =
      program::resolve(scored_alike(fault("cosine_similarity")).buggy);
  EXPECT_EQ(cosine.goal, program::Goal::kMaximize);
}

TEST_F(ScoringMetric, OtherMetricsStayAndTheFixTakesTheBuggyPrograms) {
  const Json mae = {{"compile", {{"metrics", {"mae"}}}}};
  const Fault plain = fault("mean_squared_error", {{"parameters", {{"lr", 0.3}}}}, mae);
  const Fault scored = scored_alike(plain);
  EXPECT_EQ(scored.buggy.document, plain.buggy.document);
  EXPECT_EQ(scored.fixed->document, plain.fixed->document);
  EXPECT_EQ(scoring_text(scored), "");
  Json program = plain.buggy.document;
  program["compile"]["metrics"] = {"mse"};
  const Fault mixed = scored_alike(fault("mean_squared_error", {{"program", program}}, mae));
  EXPECT_EQ(program::resolve(*mixed.fixed).metric, "mae");
}

/// Without penalties, and by one function: what another loss makes of the numbers doesn't count.
TEST_F(ScoringMetric, ASearchComparesOneFunction) {
  const Fault scored = scored_alike(fault("mean_squared_error"));
  const search::SearchOutcome outcome = search(scored, "a.h5");
  EXPECT_EQ(outcome.network.metric, "mse");
  int other_losses = 0;
  for (const search::Node& node : outcome.network.nodes) {
    if (node.parameters.at("loss") == "mean_squared_error" || node.metrics.empty()) continue;
    program::Program alone = scored.space.instantiate(node.parameters);
    alone.document["metric"] = {{"name", "mse"}};
    training::TrainingJob job;
    job.program = &alone;
    const training::ReplicaResult result = trainer_->train(job);
    EXPECT_EQ(result.metric, node.metrics[0]) << program::to_string(node.parameters);
    ++other_losses;
  }
  EXPECT_GE(other_losses, 5);
  const NetworkFile read = read_network_file(folder_ / "a.h5", std::nullopt);
  ASSERT_TRUE(read.fault);
  EXPECT_EQ(program::resolve(read.fault->buggy).metric, "mse");
}

TEST_F(ScoringMetric, ReuseNeverMixesTwoLosses) {
  const Fault squared = scored_alike(fault("mean_squared_error"));
  const Fault absolute = scored_alike(fault("mean_absolute_error"));
  const search::SearchOutcome first = search(squared, "squared.h5");
  // Each search visits the other's buggy program.
  program::Parameters other = absolute.space.base_parameters();
  other["loss"] = "mean_squared_error";
  EXPECT_NE(program::program_hash(absolute.space.instantiate(other)),
            program::program_hash(squared.buggy));
  EXPECT_EQ(search(absolute, "absolute.h5", {folder_ / "squared.h5"}).counters.trainings_reused, 0);
  const search::SearchOutcome again = search(squared, "again.h5", {folder_ / "squared.h5"});
  EXPECT_EQ(again.counters.trainings_reused, first.counters.trainings);
  EXPECT_EQ(again.counters.trainings, 0);
}

TEST_F(ScoringMetric, AStoreGoesOnAsItWasBegun) {
  const Fault plain = fault("mean_squared_error");
  std::string warning;
  EXPECT_EQ(program::resolve(scored_as_begun(plain, folder_ / "none.h5", warning).buggy).metric,
            "mse");
  search(plain, "old.h5");  // as an earlier version did
  EXPECT_EQ(program::resolve(scored_as_begun(plain, folder_ / "old.h5", warning).buggy).metric,
            "loss");
  EXPECT_NE(warning.find("can't be compared"), std::string::npos) << warning;
  warning.clear();
  search(scored_alike(plain), "new.h5");
  EXPECT_EQ(program::resolve(scored_as_begun(plain, folder_ / "new.h5", warning).buggy).metric,
            "mse");
  EXPECT_EQ(warning, "");
  // Readers know both.
  EXPECT_EQ(
      program::resolve(read_network_file(folder_ / "old.h5", std::nullopt).fault.value().buggy)
          .metric,
      "loss");
  EXPECT_EQ(
      program::resolve(read_network_file(folder_ / "old.h5", plain).fault.value().buggy).metric,
      "loss");
}

TEST_F(ScoringMetric, ACandidateThatCannotBeScoredIsInvalid) {
  const Json classes = {
      {"model",
       {{"class_name", "Sequential"},
        {"config",
         {{"layers",
           {{{"class_name", "Dense"},
             {"config",
              {{"units", 3},
               {"activation", "softmax"},
               {"batch_input_shape", {nullptr, 2}}}}}}}}}}},
      {"data",
       {{"source", "generator"},
        {"arguments", {{"name", "blobs"}, {"rows", 100}, {"classes", 3}, {"slope", nullptr}}},
        {"split", {{"test_size", 0.2}, {"seed", 42}}}}}};
  Fault labels = fault("sparse_categorical_crossentropy", Json(), classes);
  labels.buggy.document["data"]["arguments"].erase("slope");
  labels.space = program::ProgramSpace(labels.buggy, labels.space.keys(), "");
  const Fault scored = scored_alike(labels);
  EXPECT_EQ(trainer_->refusal(scored.buggy), std::nullopt);
  program::Program wide = scored.buggy;
  wide.document["compile"]["loss"] = "mean_squared_error";
  wide.document["model"]["config"]["layers"][0]["config"]["units"] = 1;  // no output for class 2
  training::TrainingJob job;
  job.program = &wide;
  const training::ReplicaResult result = trainer_->train(job);
  EXPECT_EQ(result.status, training::RunStatus::kInvalid);
  EXPECT_NE(result.message.find("/metric/name"), std::string::npos) << result.message;
}

TEST_F(ScoringMetric, WarnsOfScales) {
  const auto steps = [](double by) {
    return Json{{{"op", "standardize"}, {"on", "x"}}, {{"op", "scale"}, {"on", "y"}, {"by", by}}};
  };
  const auto warning = [&](const Json& metric, double buggy, double fixed) {
    Json more = {{"data", {{"preprocess", steps(buggy)}}}};
    if (!metric.is_null()) more["metric"] = metric;
    Json program = fault("mean_squared_error", Json(), more).buggy.document;
    program["data"]["preprocess"] = steps(fixed);
    return scale_warning(fault("mean_squared_error", {{"program", program}}, more));
  };
  EXPECT_EQ(warning({}, 100, 100), "");
  for (const Json& metric : {Json(), Json{{"name", "mae"}}, Json{{"name", "rmse"}}}) {
    EXPECT_NE(warning(metric, 1, 100).find("different scales"), std::string::npos) << metric;
  }
  EXPECT_EQ(warning({{"name", "r2"}}, 1, 100), "");
  EXPECT_EQ(warning({{"name", "mae"}, {"scale", "original"}}, 1, 100), "");
  EXPECT_EQ(warning({{"name", "cosine_similarity"}}, 1, 100), "");
}

}  // namespace
}  // namespace neutra::experiments
