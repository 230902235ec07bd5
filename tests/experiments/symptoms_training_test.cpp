#include <gtest/gtest.h>

#include "evaluators/symptoms.h"
#include "experiments/benchmark_build.h"
#include "training/monitor.h"
#include "training/parallel.h"

/// Symptoms of the bundled subjects, which are correct programs.
namespace neutra {
namespace {

std::vector<MonitoredRun> monitored(const Program& program, LocalTrainer& trainer,
                                    std::uint64_t seed) {
  std::vector<MonitoredRun> runs(10);
  run_all(runs.size(), 2, nullptr, [&](std::size_t i) {
    TrainingJob job;
    job.program = &program;
    job.seed = seed;
    job.replica = static_cast<int>(i);
    TrainingMonitor monitor(trainer.resolved(program));
    const ReplicaResult result = trainer.train(job, &monitor);
    runs[i] = monitor.run(job, result);
  });
  return runs;
}

TEST(Symptoms, CleanBundledSubjectsShowNone) {
  for (const PlannedSubject& planned : load_benchmark_plan("small").subjects) {
    const Program& program = planned.subject.space.base();
    const auto trainer = make_local_trainer({.data_path = {resource_directory() / "data"}});
    const auto runs = monitored(program, *trainer, 0), others = monitored(program, *trainer, 1);
    for (const std::vector<Symptom>& found : find_all_symptoms(runs, others)) {
      EXPECT_TRUE(found.empty()) << planned.subject.id << ": " << found.front().rule->id << ": "
                                 << found.front().explanation();
    }
  }
}

}  // namespace
}  // namespace neutra
