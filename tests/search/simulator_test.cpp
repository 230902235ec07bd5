#include "search/simulator.h"

#include <gtest/gtest.h>

#include "search/recorded_search.h"
#include "tests/search/fakes.h"
#include "tests/search/reference_search.h"

namespace neutra::search::tests {
namespace {

/// Trains in no time, but says it took some.
class TimedTrainer : public FakeTrainer {
 public:
  using Cost = std::function<double(const Hash& program, int replica)>;
  TimedTrainer(Landscape landscape, Cost cost)
      : FakeTrainer(std::move(landscape)), cost_(std::move(cost)) {}
  training::ReplicaResult train(const training::TrainingJob& job) override {
    training::ReplicaResult result = FakeTrainer::train(job);
    result.seconds = cost_(FakeSpace().hash(*job.program), job.replica);
    return result;
  }

 private:
  Cost cost_;
};

double share(const Hash& program, int replica) {
  return static_cast<double>(mixed(program.low + static_cast<std::uint64_t>(replica)) >> 11) *
         0x1p-53;
}
/// As of small image networks: a factor of two between replicas, of eight between programs.
double image_like(const Hash& program, int replica) {
  return 20 * std::exp2(3 * share(program, -1)) * (0.9 + 0.2 * share(program, replica));
}

SimulatedRun simulated(const Case& c, const SimulatedCluster& cluster,
                       const TimedTrainer::Cost& cost = image_like) {
  TimedTrainer trainer(c.landscape, cost);
  return simulate(c.task, c.space, c.config, trainer, cluster);
}

TEST(LowerBound, ChainsAndWork) {
  // The second and the third block have the first one's programs as parents, the fourth the
  // second's.
  const std::vector<WorkBlock> blocks = {{0, 10, 5}, {0, 40, 4}, {0, 20, 10}, {1, 8, 2}};
  EXPECT_EQ(lower_bound(blocks, 1, 1, false), 78);
  EXPECT_EQ(lower_bound(blocks, 1, 1, true), 78);
  EXPECT_EQ(lower_bound(blocks, 1000, 1, false), 5 + 4 + 10 + 2);
  EXPECT_EQ(lower_bound(blocks, 1000, 1, true), 5 + 10);  // the fourth one fits in beside the third
  EXPECT_EQ(lower_bound(blocks, 1000, 0.5, true), 30);
  // Ten at a time: 1 + 4 + 2 + 0.8, where the longest ones don't count more.
  EXPECT_EQ(lower_bound(blocks, 10, 1, false), 5 + 4 + 10 + 2);
  EXPECT_EQ(lower_bound({{0, 10, 1}, {0, 40, 1}, {1, 10, 1}}, 10, 1, true), 6);
  EXPECT_EQ(lower_bound({{0, 10, 1}, {0, 40, 1}, {1, 10, 8}}, 10, 1, true), 13);
  EXPECT_EQ(lower_bound({}, 10, 1, true), 0);
}

TEST(LowerBound, CountsWhatTheSerialSearchTrains) {
  TemporaryFolder folder;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    const Case c = random_case(seed);
    FakeTrainer trainer(c.landscape);
    RunOptions options;
    options.speculate = false;
    options.fresh = true;
    const SearchOutcome outcome = run(c, options, trainer, folder / "s.h5");
    int count = 0;
    const auto blocks = needed_work(outcome.network, c.space.hash(*c.task.fixed),
                                    [&](const EvaluationKey&) { return ++count, 1.0; });
    // The known fix is trained even where it gives no metric.
    if (!outcome.network.fixed_metrics.empty()) {
      EXPECT_EQ(count, trainer.trainings) << seed;
    }
    double sum = 0;
    for (const WorkBlock& block : blocks) sum += block.seconds;
    EXPECT_EQ(sum, count);
  }
}

TEST(Simulator, OneWorkerTakesAllTimesOneAfterTheOther) {
  const Case c = plain_case(3);
  const SimulatedRun run = simulated(c, {});
  EXPECT_EQ(tsv(run.network), reference_tsv(c));
  EXPECT_EQ(run.trainings, run.needed);
  EXPECT_NEAR(run.seconds, run.needed_seconds, 1e-6);
  EXPECT_EQ(run.efficiency(), 1);  // sums in another order differ in the last bits
  EXPECT_NEAR(run.training_seconds, run.seconds, 1e-6);
  EXPECT_EQ(run.messages, 0);
}

TEST(Simulator, EfficiencyIsAtMostOneButForAWrongBound) {
  SimulatedRun run;
  EXPECT_EQ(run.efficiency(), 1);
  run.seconds = 0.3;
  run.lower_bound = 0.1 + 0.2;  // 0.30000000000000004
  EXPECT_EQ(run.efficiency(), 1);
  run.lower_bound = 0.15;
  EXPECT_EQ(run.efficiency(), 0.5);
  run.lower_bound = 0.6;
  EXPECT_EQ(run.efficiency(), 2);
}

TEST(Simulator, NothingShowsInTheNetworkNorBeatsTheBound) {
  std::int64_t failures = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Case c = random_case(seed);
    SimulatedCluster cluster;
    cluster.workers = 1 + static_cast<int>(mixed(seed) % 200);
    cluster.rank_threads = 1 + static_cast<int>(seed % 5);
    cluster.straggler_share = seed % 2 == 0 ? 0.2 : 0;
    cluster.straggler_factor = 5;
    // Of all ranks together; often enough to hit a search, rarely enough that it ends.
    cluster.failures_per_hour = seed % 3 == 0 ? 10.0 / cluster.workers : 0;
    cluster.speculate = seed % 7 != 0;
    cluster.curtail = seed % 11 != 0;
    cluster.seed = seed;
    const SimulatedRun run = simulated(c, cluster);
    ASSERT_EQ(tsv(run.network), reference_tsv(c)) << "seed " << seed;
    EXPECT_GE(run.seconds, run.lower_bound * (1 - 1e-9)) << "seed " << seed;
    EXPECT_GE(run.trainings, run.needed);
    EXPECT_LE(run.training_seconds, cluster.workers * run.seconds * (1 + 1e-9));
    failures += run.failures;
  }
  EXPECT_GT(failures, 5);
}

TEST(Simulator, TheSameArgumentsGiveTheSameRun) {
  const Case c = wide_case();
  SimulatedCluster cluster;
  cluster.workers = 37;
  cluster.rank_threads = 2;
  cluster.straggler_share = 0.1;
  cluster.straggler_factor = 3;
  cluster.failures_per_hour = 0.2;
  Case limited = c;
  limited.config.budget_evaluations = 200;
  const SimulatedRun first = simulated(limited, cluster), second = simulated(limited, cluster);
  EXPECT_EQ(first.seconds, second.seconds);
  EXPECT_EQ(first.trainings, second.trainings);
  EXPECT_EQ(first.messages, second.messages);
  cluster.seed = 1;
  EXPECT_NE(simulated(limited, cluster).seconds, first.seconds);
}

TEST(Simulator, FailuresCostTimeOnly) {
  Case c = wide_case();
  c.config.budget_evaluations = 200;
  SimulatedCluster cluster;
  cluster.workers = 20;
  const SimulatedRun whole = simulated(c, cluster);
  cluster.failures_per_hour = 1;
  const SimulatedRun broken = simulated(c, cluster);
  EXPECT_GT(broken.failures, 2);
  EXPECT_GT(broken.begun_in_vain, whole.begun_in_vain);
  EXPECT_GT(broken.seconds, whole.seconds + static_cast<double>(broken.failures) * 60);
  EXPECT_EQ(tsv(broken.network), tsv(whole.network));
  cluster.failures_per_hour = 1e9;
  EXPECT_THROW(simulated(c, cluster), Error);
}

TEST(Simulator, TinyTasksKeepAllThreadsBusy) {
  Case c = wide_case();
  c.config.budget_evaluations = 600;
  SimulatedCluster cluster;
  cluster.workers = 4;
  cluster.task_seconds = 0;
  // 1 ms each, half the time that a message takes.
  const SimulatedRun run = simulated(c, cluster, [](const Hash&, int) { return 0.001; });
  EXPECT_GT(run.trainings, 500);
  EXPECT_GT(run.training_seconds / (4 * run.seconds), 0.8);
  EXPECT_GT(run.efficiency(), 0.8);
}

TEST(Simulator, ASlowProcessLeavesNoTail) {
  Case c = wide_case();
  c.config.budget_evaluations = 300;
  SimulatedCluster cluster;
  cluster.workers = 4;
  cluster.straggler_share = 0.25;
  cluster.straggler_factor = 8;
  const auto cost = [](const Hash& program, int) { return 0.05 + 0.1 * share(program, 0); };
  const SimulatedRun run = simulated(c, cluster, cost);
  EXPECT_GT(run.trainings, 300);
  // What three and an eighth can do at best, and one training of the slow one.
  EXPECT_LT(run.seconds, 1.1 * run.lower_bound + 8 * 0.15);
}

TEST(Simulator, AThousandWorkersComeNearTheBound) {
  Case c = wide_case();
  c.config.budget_evaluations = 580;
  c.config.replicas = 10;
  SimulatedCluster cluster;
  cluster.workers = 1000;
  for (const bool speculate : {true, false}) {
    cluster.speculate = speculate;
    EXPECT_GT(simulated(c, cluster).efficiency(), 0.95) << speculate;
  }
}

// --- recorded searches ---

TEST(RecordedSearch, GivesTheNetworkOfItsStore) {
  TemporaryFolder folder;
  std::int64_t estimated = 0;
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    Case c = random_case(seed);
    TimedTrainer trainer(c.landscape, image_like);
    RunOptions options;
    options.fresh = true;
    options.curtail = seed % 4 != 0;
    const SearchOutcome outcome = run(c, options, trainer, folder / "s.h5");
    RecordedSearch recorded(folder / "s.h5");
    EXPECT_EQ(recorded.config().budget_evaluations, c.config.budget_evaluations);
    for (const int workers : {1, 50}) {
      SimulatedCluster cluster;
      cluster.workers = workers;
      cluster.curtail = options.curtail || seed % 8 != 0;
      const SimulatedRun again =
          simulate(recorded.task(), recorded, recorded.config(), recorded, cluster);
      ASSERT_EQ(tsv(again.network), tsv(outcome.network)) << "seed " << seed;
      EXPECT_EQ(again.end, outcome.end);
      if (workers == 1) {
        EXPECT_EQ(again.estimated, 0);
      }
      estimated += again.estimated;
    }
  }
  EXPECT_GT(estimated, 10);
}

TEST(RecordedSearch, EstimatesAreOfTheSameProgram) {
  TemporaryFolder folder;
  const Case c = plain_case(3);
  TimedTrainer trainer(c.landscape, image_like);
  run(c, {}, trainer, folder / "s.h5");
  RecordedSearch recorded(folder / "s.h5", 3);
  int estimated = 0;
  for (const Node& node : recorded.network().nodes) {
    if (node.status != "curtailed") continue;
    const program::Program program = recorded.program(node.parameters);
    training::TrainingJob job;
    job.program = &program;
    for (job.replica = 0; job.replica < c.config.replicas; ++job.replica) {
      const training::ReplicaResult result = recorded.train(job);
      const bool known = job.replica < static_cast<int>(node.metrics.size());
      if (known) {
        EXPECT_NE(result.backend, RecordedSearch::kEstimated);
      }
      if (result.backend != RecordedSearch::kEstimated) {
        EXPECT_DOUBLE_EQ(result.seconds, 3 * image_like(node.hash, job.replica));
        continue;
      }
      ++estimated;
      EXPECT_NEAR(result.seconds, 3 * image_like(node.hash, 0), 0.3 * result.seconds);
    }
  }
  EXPECT_GT(estimated, 10);
}

TEST(RecordedSearch, OthersAreRefused) {
  TemporaryFolder folder;
  const Case c = plain_case(4);
  const auto message = [&](const char* store) -> std::string {
    try {
      RecordedSearch recorded(folder / store);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("none.h5").find("no such file"), std::string::npos);
  FakeTrainer stopped(c.landscape);
  stopped.stop_after = 20;
  RunOptions options;
  options.stop = &stopped.stop;
  run(c, options, stopped, folder / "part.h5");
  EXPECT_NE(message("part.h5").find("unfinished"), std::string::npos);
  FakeTrainer trainer(c.landscape);
  run(c, {}, trainer, folder / "whole.h5");
  EXPECT_EQ(message("whole.h5"), "");
  options = {};
  options.reuse = {folder / "part.h5"};
  run(c, options, trainer, folder / "reused.h5");
  EXPECT_NE(message("reused.h5").find("--reuse"), std::string::npos);
}

}  // namespace
}  // namespace neutra::search::tests
