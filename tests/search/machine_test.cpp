#include "search/machine.h"

#include <gtest/gtest.h>

#include <map>

#include "search/store_reader.h"
#include "tests/search/fakes.h"
#include "tests/search/reference_search.h"

namespace neutra::search::tests {
namespace {

training::ReplicaResult counted(std::int64_t correct, std::int64_t total) {
  training::ReplicaResult result;
  result.metric = static_cast<double>(correct) / static_cast<double>(total);
  result.correct = correct;
  result.total = total;
  return result;
}

MetricMean score_of(const std::vector<training::ReplicaResult>& results) {
  MetricMean score;
  for (const auto& result : results) score.add(result);
  return score;
}

TEST(MetricMean, CountsCompareExactlyWhereDoublesDoNot) {
  // .1 + .2 + .3 and .3 + .2 + .1 differ as sums of doubles.
  const MetricMean a = score_of({counted(1, 10), counted(2, 10), counted(3, 10)});
  const MetricMean b = score_of({counted(3, 10), counted(2, 10), counted(1, 10)});
  ASSERT_NE(a.sum, b.sum);
  EXPECT_EQ(compare_means(a, b, program::Goal::kMaximize), 0);
  EXPECT_EQ(compare_means(a, mean_of_level(0.2), program::Goal::kMaximize), 0);
  EXPECT_GT(compare_means(score_of({counted(11, 20)}), a, program::Goal::kMaximize), 0);
}

TEST(MetricMean, NotANumberIsWorstForBothGoals) {
  training::ReplicaResult nan;
  nan.metric = std::numeric_limits<double>::quiet_NaN();
  for (const program::Goal goal : {program::Goal::kMaximize, program::Goal::kMinimize}) {
    EXPECT_LT(compare_means(score_of({counted(9, 9), nan}), score_of({counted(1, 9)}), goal), 0);
  }
  EXPECT_TRUE(std::isnan(score_of({nan}).mean()));
}

TEST(MetricMean, CompletedIsTheBestThatCanCome) {
  const auto best = score_of({counted(5, 10)}).completed(3, 1);
  ASSERT_TRUE(best);
  EXPECT_EQ(best->correct, 25);
  EXPECT_EQ(best->total, 30);
  training::ReplicaResult error;
  error.metric = 0.5;
  EXPECT_EQ(score_of({error}).completed(3, 0)->sum, 0.5);
  EXPECT_FALSE(score_of({counted(5, 10)}).completed(3, 0.9));
}

TEST(Search, EqualsTheSerialAlgorithmOnRandomLandscapes) {
  TemporaryFolder folder;
  std::size_t rows = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Case c = random_case(seed);
    FakeTrainer trainer(c.landscape);
    RunOptions options;
    options.workers = 1 + static_cast<int>(seed % 3);
    options.fresh = true;
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    ASSERT_EQ(tsv(outcome.network), reference_tsv(c)) << "seed " << seed;
    EXPECT_LE(outcome.counters.evaluations, c.config.budget_evaluations.value_or(1000));
    rows += outcome.network.edges.size();
  }
  EXPECT_GT(rows, 500U);  // the landscapes are worth searching
}

TEST(Search, WorkersSavingsAndSpeculationDontShow) {
  TemporaryFolder folder;
  std::int64_t curtailed = 0, identical = 0;
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    const Case c = random_case(seed);
    const std::string expected = reference_tsv(c);
    for (const int variant : {0, 1, 2, 3, 4, 5}) {
      FakeTrainer trainer(c.landscape);
      RunOptions options;
      options.workers = std::array{1, 2, 4, 8, 2, 2}[static_cast<std::size_t>(variant)];
      options.curtail = variant != 4;
      options.speculate = variant != 1;
      options.reuse_identical = variant != 5;
      options.fresh = true;
      const auto outcome = run(c, options, trainer, folder / "s.h5");
      ASSERT_EQ(tsv(outcome.network), expected) << "seed " << seed << ", variant " << variant;
      EXPECT_EQ(outcome.counters.trainings, trainer.trainings);
      EXPECT_TRUE(options.curtail || outcome.counters.trainings_saved_curtailed == 0);
      EXPECT_TRUE(options.reuse_identical || outcome.counters.trainings_saved_identical == 0);
      curtailed += outcome.counters.trainings_saved_curtailed;
      identical += outcome.counters.trainings_saved_identical;
    }
  }
  EXPECT_GT(curtailed, 100);
  EXPECT_GT(identical, 100);
}

TEST(Search, OneWorkerCurtailsAtTheSmallestPrefix) {
  TemporaryFolder folder;
  const Case c = plain_case(3);
  FakeTrainer trainer(c.landscape);
  RunOptions options;
  options.speculate = false;
  const auto outcome = run(c, options, trainer, folder / "s.h5");
  int checked = 0;
  for (const Node& node : outcome.network.nodes) {
    if (node.status != "curtailed") continue;
    const Node& parent = *outcome.network.find(node.parent);
    const auto hopeless = [&](std::size_t replicas) {
      double best = 5.0 - static_cast<double>(replicas);
      for (std::size_t i = 0; i < replicas; ++i) best += node.metrics[i];
      return best / 5 < parent.mean - 1e-9 && best / 5 < *outcome.network.ground_truth - 1e-9;
    };
    ASSERT_FALSE(node.metrics.empty());
    EXPECT_TRUE(hopeless(node.metrics.size()));
    EXPECT_FALSE(hopeless(node.metrics.size() - 1));
    ++checked;
  }
  EXPECT_GT(checked, 5);
  EXPECT_EQ(outcome.counters.speculative_trainings, 0);
}

TEST(Search, WhatMayBeNeededYetWasNotInVain) {
  for (int stop = 1; stop < 12; ++stop) {
    TemporaryFolder folder;
    const Case c = plain_case(3);
    FakeTrainer trainer(c.landscape);
    trainer.stop_after = stop;  // within the known fix, the buggy program, its first neighbours
    RunOptions options;
    options.stop = &trainer.stop;
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    ASSERT_EQ(outcome.end, SearchEnd::kInterrupted);
    EXPECT_EQ(outcome.counters.trainings, stop);
    EXPECT_EQ(outcome.counters.speculative_trainings, 0) << stop;
  }
}

TEST(Search, TheBudgetStopsBeforeTheNextCandidate) {
  TemporaryFolder folder;
  Case c = plain_case(1);
  c.config.budget_evaluations = 4;
  FakeTrainer trainer(c.landscape);
  const auto outcome = run(c, {}, trainer, folder / "s.h5");
  EXPECT_EQ(outcome.end, SearchEnd::kEvaluationBudget);
  EXPECT_EQ(outcome.counters.evaluations, 4);
  for (const Node& node : outcome.network.nodes) EXPECT_EQ(node.status == "pending", node.id >= 4);
}

TEST(Search, TimeRunsOut) {
  TemporaryFolder folder;
  Case c = plain_case(1);
  c.config.budget_evaluations.reset();
  c.config.budget_seconds = 0.05;
  c.landscape.microseconds = 20'000;
  FakeTrainer trainer(c.landscape);
  const auto outcome = run(c, {}, trainer, folder / "s.h5");
  EXPECT_EQ(outcome.end, SearchEnd::kTimeBudget);
  EXPECT_LE(trainer.trainings, 6);
  EXPECT_TRUE(run(c, {}, trainer, folder / "s.h5").was_finished);
}

/// Trains until it is told to stop.
struct Endless : FakeTrainer {
  using FakeTrainer::FakeTrainer;
  training::ReplicaResult train(const training::TrainingJob& job) override {
    if (trainings < finish) return FakeTrainer::train(job);
    ++begun;
    while (!job.stop->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw Error(Exit::kInterrupted, "interrupted");
  }
  int finish = 0;  ///< so many trainings end by themselves
  std::atomic<int> begun = 0;
};

TEST(Search, TrainingsInFlightAreGivenUpWhenTimeRunsOut) {
  for (const int finish : {0, 2, 20}) {  // in the known fix, the buggy program, a neighbour
    TemporaryFolder folder;
    Case c = plain_case(1);
    c.config.budget_evaluations.reset();
    c.config.budget_seconds = 0.2;
    Endless trainer(c.landscape);
    trainer.finish = finish;
    RunOptions options;
    options.workers = 2;
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    EXPECT_EQ(outcome.end, SearchEnd::kTimeBudget);
    EXPECT_GT(trainer.begun, 0);
    EXPECT_TRUE(read_store(folder / "s.h5").finished);
    EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.journal"));

    c.config.budget_seconds = 1e9;
    ::testing::internal::CaptureStderr();
    FakeTrainer whole(c.landscape);
    EXPECT_EQ(tsv(run(c, options, whole, folder / "s.h5").network), reference_tsv(c));
    ::testing::internal::GetCapturedStderr();
  }
}

/// Metrics by a table, else those of the buggy program.
struct Told : FakeTrainer {
  using FakeTrainer::FakeTrainer;
  training::ReplicaResult train(const training::TrainingJob& job) override {
    const auto text = job.program->document.at("meaning").get<std::string>();
    const auto found = metrics.find(text);
    training::ReplicaResult result;
    result.metric =
        (found == metrics.end() ? buggy : found->second).at(static_cast<std::size_t>(job.replica));
    if (!std::isfinite(result.metric)) result.status = training::RunStatus::kDiverged;
    const std::lock_guard lock(mutex);
    ++trained[text];
    ++trainings;
    return result;
  }
  std::mutex mutex;
  std::vector<double> buggy;
  std::map<std::string, std::vector<double>> metrics;
  std::map<std::string, int> trained;
};

Case improving_case() {
  Case c = plain_case(1);
  c.config.improve = true;
  c.config.ground_truth_metric.reset();
  c.config.max_depth = 1;
  c.task.fixed.reset();
  c.task.fixed_parameters.reset();
  return c;
}

TEST(Improve, ARepairIsSignificantlyBetterThanTheBuggyProgram) {
  const Case c = improving_case();
  TemporaryFolder folder;
  Told trainer(c.landscape);
  trainer.buggy = {0.5, 0.52, 0.48, 0.5, 0.5};
  const auto name = [](const std::string& key, const std::string& value) {
    program::Parameters parameters = FakeSpace(4, 3).start();
    parameters[key] = value;
    return FakeSpace(4, 3).program(parameters).document.at("meaning").get<std::string>();
  };
  trainer.metrics[name("a", "1")] = {0.6, 0.62, 0.6, 0.61, 0.6};  // better
  trainer.metrics[name("c", "1")] = {0.5, 0.52, 0.49, 0.5, 0.5};  // hardly better
  trainer.metrics[name("c", "2")] = {0.4, 0.7, 0.9, 0.1, 0.45};   // better at random
  trainer.metrics[name("d", "1")] = {0.6, 0.6, std::nan(""), 0.6, 0.6};
  const auto outcome = run(c, {}, trainer, folder / "s.h5");
  const auto repairs = outcome.network.alternatives();
  ASSERT_EQ(repairs.size(), 1U);
  EXPECT_EQ(repairs[0]->mutation.key, "a");
  EXPECT_TRUE(repairs[0]->significant);
  EXPECT_LT(repairs[0]->p, 0.05);
  EXPECT_GE(repairs[0]->d, 0.5);
  EXPECT_TRUE(outcome.network.improve);
  EXPECT_FALSE(outcome.network.ground_truth);
  EXPECT_TRUE(read_store(folder / "s.h5").network.improve);
  EXPECT_EQ(to_json(outcome.network).at("repair"), "improves_significantly");

  Case level = c;  // that none of them reaches
  level.config.ground_truth_metric = 0.7;
  EXPECT_TRUE(run(level, {}, trainer, folder / "l.h5").network.alternatives().empty());
}

TEST(Improve, TheKnownFixIsNotTrained) {
  Case c = improving_case();
  c.task.fixed = plain_case(1).task.fixed;
  c.config.budget_evaluations = 1;
  TemporaryFolder folder;
  FakeTrainer trainer(c.landscape);
  const auto outcome = run(c, {}, trainer, folder / "s.h5");
  EXPECT_EQ(outcome.counters.trainings, c.config.replicas);
  EXPECT_TRUE(outcome.network.fixed_metrics.empty());
}

TEST(Improve, CurtailmentIsExact) {
  TemporaryFolder folder;
  std::int64_t curtailed = 0, repairs = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    Case c = random_case(seed);
    c.config.improve = true;
    if (seed % 3 != 0) c.config.ground_truth_metric.reset();
    if (seed % 2 == 0) c.task.fixed.reset();
    c.landscape.not_a_number = seed % 4 == 0 ? 0.1 : 0;
    if (FakeTrainer(c.landscape).refusal(c.space.program(c.task.start))) continue;  // an error
    Json networks[2];
    for (const bool curtail : {false, true}) {
      FakeTrainer trainer(c.landscape);
      RunOptions options;
      options.curtail = curtail;
      options.workers = 1 + static_cast<int>(seed % 3);
      options.fresh = true;
      const auto outcome = run(c, options, trainer, folder / "s.h5");
      networks[curtail ? 1 : 0] = to_json(outcome.network);
      curtailed += outcome.counters.trainings_saved_curtailed;
      repairs += static_cast<std::int64_t>(outcome.network.alternatives().size());
    }
    ASSERT_EQ(networks[0], networks[1]) << seed;
  }
  EXPECT_GT(curtailed, 100);
  EXPECT_GT(repairs, 100);
}

TEST(Improve, ABuggyProgramWithoutResultsIsNothingToImproveOn) {
  struct Failing : FakeTrainer {
    using FakeTrainer::FakeTrainer;
    training::ReplicaResult train(const training::TrainingJob& job) override {
      training::ReplicaResult result = FakeTrainer::train(job);
      result.status = training::RunStatus::kTimeout;
      result.metric = std::nan("");
      return result;
    }
  };
  const Case c = improving_case();
  TemporaryFolder folder;
  Failing trainer(c.landscape);
  EXPECT_THROW(run(c, {}, trainer, folder / "s.h5"), Error);
  // Nor is one that Keras would refuse.
  struct Refusing : FakeTrainer {
    using FakeTrainer::FakeTrainer;
    std::optional<std::string> refusal(const program::Program&) override { return "refused"; }
  };
  Refusing refusing(c.landscape);
  EXPECT_THROW(run(c, {}, refusing, folder / "r.h5"), Error);
}

TEST(Search, TheKnownFixGivesTheGroundTruth) {
  TemporaryFolder folder;
  Case c = plain_case(2);
  c.config.ground_truth_metric.reset();
  FakeTrainer trainer(c.landscape);
  const auto outcome = run(c, {}, trainer, folder / "s.h5");
  const Network& network = outcome.network;
  ASSERT_EQ(network.fixed_metrics.size(), static_cast<std::size_t>(c.config.replicas));
  double sum = 0;
  for (const double metric : network.fixed_metrics) sum += metric;
  EXPECT_NEAR(*network.ground_truth, sum / c.config.replicas, 1e-12);
  // The fix is a neighbour of the buggy program: it ties with itself, so it is a repair.
  bool found = false;
  for (const Node* node : network.alternatives())
    found |= node->parameters == *c.task.fixed_parameters;
  EXPECT_TRUE(found);

  c.task.fixed.reset();
  EXPECT_THROW(run(c, {}, trainer, folder / "t.h5"), Error);
}

TEST(Search, AKnownFixThatDoesNotTrainNeedsALevel) {
  TemporaryFolder folder;
  Case c = plain_case(2);
  c.landscape.refused = 1;
  FakeTrainer trainer(c.landscape);
  const auto outcome = run(c, {}, trainer, folder / "s.h5");
  EXPECT_EQ(outcome.counters.trainings, 0);
  EXPECT_EQ(outcome.counters.invalid, outcome.counters.evaluations);
  c.config.ground_truth_metric.reset();
  EXPECT_THROW(run(c, {}, trainer, folder / "t.h5"), Error);
  EXPECT_FALSE(std::filesystem::exists(folder / "t.h5.journal"));
}

/// A trainer whose programs with `b` 1 run out of time, with `b` 2 out of memory.
class LimitedTrainer : public FakeTrainer {
 public:
  using FakeTrainer::FakeTrainer;
  training::ReplicaResult train(const training::TrainingJob& job) override {
    training::ReplicaResult result = FakeTrainer::train(job);
    const auto text = job.program->document.at("meaning").get<std::string>();
    for (const auto& [part, status] : {std::pair{"b=1", training::RunStatus::kTimeout},
                                       std::pair{"b=2", training::RunStatus::kOutOfMemory}}) {
      if (text.find(part) != std::string::npos) result.status = status;
    }
    return result;
  }
};

TEST(Search, FailedProgramsAreThoseWithoutAResultThatKerasWouldTrain) {
  TemporaryFolder folder;
  Case c = plain_case(3);
  c.landscape.refused = 0.1;
  c.task.fixed.reset();
  c.task.fixed_parameters.reset();
  LimitedTrainer trainer(c.landscape);
  const SearchOutcome outcome = run(c, {}, trainer, folder / "s.h5");
  std::map<std::string, std::int64_t> programs;
  for (const Node& node : outcome.network.nodes) ++programs[node.status];
  EXPECT_GT(programs["timeout"], 0);
  EXPECT_GT(programs["out_of_memory"], 0);
  EXPECT_EQ(outcome.counters.failed, programs["timeout"] + programs["out_of_memory"]);
  EXPECT_GT(programs["invalid"], 0);
  EXPECT_EQ(outcome.counters.invalid, programs["invalid"]);
}

TEST(Search, RepairsOfAFaultWhoseKnownFixDivergesAreBetterThanIt) {
  struct OtherFix : FakeTrainer {
    using FakeTrainer::FakeTrainer;
    training::ReplicaResult train(const training::TrainingJob& job) override {
      training::ReplicaResult result = FakeTrainer::train(job);
      if (job.program->document == fix.document &&
          (job.replica > 0 || status == training::RunStatus::kDiverged)) {
        result.status = job.replica == 1 ? status : training::RunStatus::kDiverged;
        result.metric = std::numeric_limits<double>::quiet_NaN();
        result.correct = result.total = -1;
      }
      return result;
    }
    program::Program fix;
    training::RunStatus status = training::RunStatus::kDiverged;
  };
  for (const bool maximize : {true, false}) {
    for (const training::RunStatus status :
         {training::RunStatus::kDiverged, training::RunStatus::kTimeout}) {
      TemporaryFolder folder;
      Case c = plain_case(2);
      c.task.goal = maximize ? program::Goal::kMaximize : program::Goal::kMinimize;
      c.task.metric_bound = maximize ? 1 : 0;
      c.config.ground_truth_metric = 0.5;
      OtherFix trainer(c.landscape);
      trainer.fix = *c.task.fixed;
      trainer.status = status;
      const Network network = run(c, {}, trainer, folder / "s.h5").network;
      const auto repairs = network.alternatives();
      ASSERT_FALSE(repairs.empty());
      const bool diverged = status == training::RunStatus::kDiverged;
      // What was cut off is compared with nothing.
      EXPECT_EQ(network.fixed_metrics.size(),
                diverged ? static_cast<std::size_t>(c.config.replicas) : 0u);
      for (const Node* node : repairs) {
        EXPECT_EQ(node->significant, diverged);
        EXPECT_FALSE(std::isnan(node->d) || std::isnan(node->p));
      }
      // As stored.
      const Network again = read_store(folder / "s.h5").network;
      EXPECT_EQ(again.fixed_metrics.size(), network.fixed_metrics.size());
      EXPECT_EQ(again.alternatives().front()->significant, diverged);
    }
  }
}

TEST(Search, ProgressAndErrorsOfWorkersComeOut) {
  struct Failing : FakeTrainer {
    using FakeTrainer::FakeTrainer;
    training::ReplicaResult train(const training::TrainingJob& job) override {
      if (trainings >= 30) throw input_error("data.csv is missing");
      return FakeTrainer::train(job);
    }
  };
  TemporaryFolder folder;
  Case c = plain_case(5);
  c.landscape.microseconds = 100;
  Failing trainer(c.landscape);
  int calls = 0;
  RunOptions options;
  options.workers = 4;
  options.progress = [&](const Progress& progress) {
    ++calls;
    EXPECT_LE(progress.fraction.value_or(0), 1);
  };
  EXPECT_THROW(run(c, options, trainer, folder / "s.h5"), Error);
  EXPECT_GE(calls, 1);
  FakeTrainer working(c.landscape);
  const auto outcome = run(c, options, working, folder / "s.h5");
  EXPECT_EQ(tsv(outcome.network), reference_tsv(c));
  EXPECT_GE(outcome.counters.trainings_from_store + outcome.counters.trainings_saved_identical, 25);
}

}  // namespace
}  // namespace neutra::search::tests
