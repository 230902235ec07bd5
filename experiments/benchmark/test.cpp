#include "experiments/benchmark/test.h"

#include <algorithm>
#include <mutex>

#include "experiments/benchmark/checkout.h"

namespace neutra::experiments {
namespace {

/// One version to train.
struct Task {
  const BenchmarkSubject* subject = nullptr;
  const program::Program* program = nullptr;
  VersionTest* test = nullptr;
  bool should_fail = false;
};

}  // namespace

BenchmarkTest test_entries(const Benchmark& benchmark,
                           const std::vector<const BenchmarkEntry*>& entries,
                           const BenchmarkTestOptions& options, training::LocalTrainer& trainer) {
  BenchmarkTest result;
  std::vector<program::Program> programs;
  programs.reserve(entries.size());
  result.entries.reserve(entries.size());
  std::vector<Task> tasks;
  for (const BenchmarkEntry* entry : entries) {
    const BenchmarkSubject& subject = subject_of(benchmark, *entry);
    if (result.fixed.try_emplace(subject.id).second) {
      require_same_data(subject, *trainer.dataset(subject.program));
      tasks.push_back({&subject, &subject.program, &result.fixed.at(subject.id), false});
    }
    programs.push_back(program_of(benchmark, *entry, EntryVersion::kBuggy));
    result.entries.push_back({entry, {}});
    tasks.push_back({&subject, &programs.back(), &result.entries.back().buggy, true});
  }

  for (int attempt = 0; attempt <= options.retries && !tasks.empty(); ++attempt) {
    std::vector<std::pair<std::size_t, std::size_t>> runs;  // of tasks
    for (std::size_t i = 0; i < tasks.size(); ++i) {
      const std::size_t count = tasks[i].subject->metrics.size();
      *tasks[i].test = {};
      tasks[i].test->metrics.assign(count, 0);
      tasks[i].test->attempts = attempt + 1;
      for (std::size_t run = 0; run < count; ++run) runs.emplace_back(i, run);
    }
    std::mutex mutex;
    Tally tally{0, runs.size()};
    run_all(
        runs.size(), options.workers, options.stop,
        [&](std::size_t i) {
          const auto& [index, run] = runs[i];
          const Task& task = tasks[index];
          training::TrainingJob job;
          job.program = task.program;
          job.seed = benchmark.seed + 1 + options.seed;
          job.replica =
              static_cast<int>(run + static_cast<std::size_t>(attempt) * task.test->metrics.size());
          job.stream = training::StreamKey::kIndependent;
          job.stop = options.stop;
          const training::ReplicaResult trained = trainer.train(job);
          const std::lock_guard lock(mutex);
          task.test->metrics[run] = trained.metric;
          tally.failed += !training::has_metric(trained.status);
          if (trained.status > task.test->status) {
            task.test->status = trained.status;
            task.test->message = trained.message;
          }
        },
        [&](std::size_t done) {
          const std::lock_guard lock(mutex);
          tally.done = done;
          if (options.progress) options.progress(tally);
        });
    for (const Task& task : tasks) {
      if (!training::has_metric(task.test->status)) {
        task.test->verdict.missing = true;
        continue;
      }
      task.test->verdict = evaluators::kill_test(task.subject->metrics, task.test->metrics,
                                                 {task.subject->goal == program::Goal::kMaximize});
    }
    std::erase_if(tasks, [](const Task& task) { return task.test->fails() == task.should_fail; });
  }
  return result;
}

}  // namespace neutra::experiments
