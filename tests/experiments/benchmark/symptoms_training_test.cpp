#include <gtest/gtest.h>

#include "base/parallel.h"
#include "evaluators/symptoms.h"
#include "experiments/benchmark/build.h"
#include "training/monitor.h"

/// Symptoms of the bundled subjects, which are correct programs.
namespace neutra::experiments {
namespace {

std::vector<evaluators::MonitoredRun> monitored(const program::Program& program,
                                                training::LocalTrainer& trainer,
                                                std::uint64_t seed) {
  std::vector<evaluators::MonitoredRun> runs(10);
  run_all(runs.size(), 2, nullptr, [&](std::size_t i) {
    training::TrainingJob job;
    job.program = &program;
    job.seed = seed;
    job.replica = static_cast<int>(i);
    training::TrainingMonitor monitor(trainer.resolved(program));
    const training::ReplicaResult result = trainer.train(job, &monitor);
    runs[i] = monitor.run(job, result);
  });
  return runs;
}

TEST(Symptoms, CleanBundledSubjectsShowNone) {
  for (const PlannedSubject& planned : load_benchmark_plan("small").subjects) {
    const program::Program& program = planned.subject.space.base();
    const auto trainer =
        training::make_local_trainer({.data_path = {resource_directory() / "data"}});
    const auto runs = monitored(program, *trainer, 0), others = monitored(program, *trainer, 1);
    for (const std::vector<evaluators::Symptom>& found :
         evaluators::find_all_symptoms(runs, others)) {
      EXPECT_TRUE(found.empty()) << planned.subject.id << ": " << found.front().rule->id << ": "
                                 << found.front().explanation();
    }
  }
}

}  // namespace
}  // namespace neutra::experiments
