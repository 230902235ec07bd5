#include <cmath>
#include <deque>
#include <iostream>

#include "cli/context.h"
#include "cli/verbs.h"
#include "evaluators/monitor_file.h"
#include "evaluators/statistics.h"
#include "program/error.h"
#include "program/files.h"
#include "program/hdf5_file.h"
#include "search/options.h"
#include "training/monitor.h"

namespace neutra::cli {
namespace {

/// Is the file free, or one of monitored trainings? Throws input_error.
void require_monitor_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return;
  if (std::filesystem::file_size(file, ignored) == 0) return;
  try {
    if (Hdf5File::open(file).read_string_attribute("/", "format") == kMonitorFormat) return;
  } catch (const Error&) {
  }
  throw input_error(describe("--monitor", "", file.string() + ", another kind of file",
                             "a file of monitored trainings, or a name that is still free"));
}

/// The monitors of --monitor, one for each job, and the file that they make.
class Monitors {
 public:
  Monitors(const Arguments& arguments, const Program& program, std::size_t jobs,
           LocalTrainer& trainer) {
    if (!arguments.has("monitor")) return;
    file_ = arguments.text("monitor");
    require_writable(file_, "--monitor");
    require_monitor_file(file_);
    const ResolvedProgram resolved = trainer.resolved(program);
    for (std::size_t i = 0; i < jobs; ++i) monitors_.emplace_back(resolved);
  }

  std::vector<Observer*> observers() {
    std::vector<Observer*> observers;
    for (TrainingMonitor& monitor : monitors_) observers.push_back(&monitor);
    return observers;
  }

  /// `content`: all but the runs.
  void write(MonitorFile content, const std::vector<TrainingJob>& jobs,
             const std::vector<ReplicaResult>& results) const {
    if (monitors_.empty()) return;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      content.runs.push_back(monitors_[i].run(jobs[i], results[i]));
    write_monitor_file(content, file_);
  }

 private:
  std::filesystem::path file_;
  std::deque<TrainingMonitor> monitors_;
};

int run(const Arguments& arguments) {
  catch_signals();
  const Fault fault = with_fewer_rows(load_fault(arguments.positional.front()), arguments);
  const Program& program = chosen_version(fault, arguments);
  const MetricInfo metric = metric_of(program, fault.file.string());
  const auto trainer = make_trainer(arguments, fault.file);
  if (const auto reason = trainer->refusal(program))
    throw input_error(describe(fault.file.string(), "", *reason, ""));

  std::vector<TrainingJob> jobs;
  for (int replica = 0; replica < arguments.integer("replicas"); ++replica) {
    TrainingJob job;
    job.program = &program;
    job.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
    job.replica = replica;
    if (arguments.text("stream") == "independent") job.stream = StreamKey::kIndependent;
    job.time_limit = arguments.seconds("time-limit");
    job.memory_limit = arguments.bytes("memory-limit");
    jobs.push_back(job);
  }
  Monitors monitors(arguments, program, jobs.size(), *trainer);
  std::vector<ReplicaResult> results;
  {
    ProgressLine progress(arguments.flag("quiet"), "train " + fault.id);
    const auto show = [&](const Tally& tally) { progress.update(progress_of(tally, "replicas")); };
    results = train_all(*trainer, jobs, worker_count(arguments), show, monitors.observers());
  }
  MonitorFile recorded;
  recorded.program = fault.id;
  recorded.variant = arguments.text("version");
  recorded.hash = to_string(program_hash(program));
  recorded.backend = results.front().backend;
  recorded.metric = metric.name;
  recorded.goal = to_string(metric.goal);
  recorded.seed = arguments.integer("seed");
  recorded.provenance = provenance();
  monitors.write(std::move(recorded), jobs, results);
  const bool all_trained = std::all_of(results.begin(), results.end(), [](const auto& result) {
    return result.status == RunStatus::kOk || result.status == RunStatus::kDiverged;
  });
  const int code = static_cast<int>(all_trained ? Exit::kDone : Exit::kFailed);
  std::vector<double> metrics;
  double seconds = 0;
  for (const auto& result : results) {
    metrics.push_back(result.metric);
    seconds += result.seconds;
  }
  if (arguments.flag("json")) {
    Json replicas = Json::array();
    for (std::size_t i = 0; i < results.size(); ++i) {
      Json entry{{"replica", i}};
      entry.update(to_json(results[i]));
      entry["metric"] = json_number(results[i].metric);
      if (results[i].total < 0) {
        entry.erase("correct");
        entry.erase("total");
      }
      if (results[i].epochs_saved == 0) entry.erase("epochs_saved");
      if (results[i].message.empty()) entry.erase("message");
      replicas.push_back(std::move(entry));
    }
    std::cout << to_text({{"format", "neutra-train"},
                          {"version", 1},
                          {"program", fault.id},
                          {"program_version", arguments.text("version")},
                          {"hash", to_string(program_hash(program))},
                          {"seed", arguments.integer("seed")},
                          {"metric", metric.name},
                          {"goal", to_string(metric.goal)},
                          {"backend", results.front().backend},
                          {"mean", json_number(mean(metrics))},
                          {"seconds", seconds},
                          {"replicas", replicas}});
    return code;
  }
  TextTable table({"replica", metric.name, "status", "steps", "seconds"});
  for (std::size_t i = 0; i < results.size(); ++i)
    table.add({std::to_string(i), shortest(results[i].metric),
               std::string(to_string(results[i].status)) +
                   (results[i].message.empty() ? "" : ": " + results[i].message),
               std::to_string(results[i].steps), rounded(results[i].seconds)});
  std::cout << table.text() << "\nmean " << metric.name << " " << rounded(mean(metrics))
            << ", standard deviation " << rounded(std::sqrt(sample_variance(metrics))) << ", "
            << duration_text(seconds) << " of training, back end " << results.front().backend
            << '\n';
  return code;
}

}  // namespace

Verb train_verb() {
  return {"train",
          "train one program several times and print its metric",
          "train FAULT|FILE [--version buggy|fixed] [--replicas N] [--monitor FILE.h5] [options]",
          {{"backend", "data-dir", "memory-limit", "monitor", "replicas", "rows-train", "seed",
            "skip-dead", "stream", "time-limit", "version", "workers"},
           1,
           1,
           "FAULT|FILE"},
          "Each replica has random streams of its own, fixed by seed, program and replica: the "
          "same call gives the same\n"
          "numbers with any number of workers. Exit 1 when a replica was cut off or failed.\n"
          "--monitor changes no number; neutra symptoms reads its file (docs/formats/monitor.md).",
          "  neutra train D7 --replicas 10\n  neutra train D7 --version fixed --json\n"
          "  neutra train D7 --monitor D7.h5",
          run};
}

}  // namespace neutra::cli
