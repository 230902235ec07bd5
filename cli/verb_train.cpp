#include <cmath>
#include <deque>
#include <set>

#include "base/error.h"
#include "base/files.h"
#include "base/hdf5_file.h"
#include "base/json.h"
#include "base/numbers.h"
#include "cli/originals.h"
#include "cli/outputs.h"
#include "cli/progress_line.h"
#include "cli/provenance.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/train_weights.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "evaluators/monitor_file.h"
#include "evaluators/statistics.h"
#include "evaluators/training_log.h"
#include "experiments/catalog.h"
#include "experiments/scoring_metric.h"
#include "experiments/search_task.h"
#include "search/options.h"
#include "training/curves.h"
#include "training/monitor.h"

namespace neutra::cli {
namespace {

/// Is the file free, or one of monitored trainings? Throws input_error.
void require_monitor_file(const std::filesystem::path& file) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return;
  if (std::filesystem::file_size(file, ignored) == 0) return;
  try {
    if (Hdf5File::open(file).read_string_attribute("/", "format") == evaluators::kMonitorFormat)
      return;
  } catch (const Error&) {
  }
  throw input_error(describe("--monitor", "", file.string() + ", another kind of file",
                             "a file of monitored trainings, or a name that is still free"));
}

/// The monitors of --monitor, one for each job, and the file that they make.
class Monitors {
 public:
  Monitors(const Arguments& arguments, const program::Program& program, std::size_t jobs,
           training::LocalTrainer& trainer) {
    if (!arguments.has("monitor")) return;
    file_ = arguments.text("monitor");
    require_writable(file_, "--monitor");
    require_monitor_file(file_);
    const program::ResolvedProgram resolved = trainer.resolved(program);
    for (std::size_t i = 0; i < jobs; ++i) monitors_.emplace_back(resolved);
  }

  std::vector<training::CurveRecorder*> recorders() {
    std::vector<training::CurveRecorder*> recorders;
    for (training::TrainingMonitor& monitor : monitors_) recorders.push_back(&monitor);
    return recorders;
  }

  /// `content`: all but the runs.
  void write(evaluators::MonitorFile content, const std::vector<training::TrainingJob>& jobs,
             const std::vector<training::ReplicaResult>& results) const {
    if (monitors_.empty()) return;
    for (std::size_t i = 0; i < jobs.size(); ++i)
      content.runs.push_back(monitors_[i].run(jobs[i], results[i]));
    evaluators::write_monitor_file(content, file_);
  }

 private:
  std::filesystem::path file_;
  std::deque<training::TrainingMonitor> monitors_;
};

/// The logs of --log, one for each job.
class Logs {
 public:
  /// `training`: what the logs of all jobs have alike. `recorders`: those of the jobs, if they have
  /// some already.
  Logs(const Arguments& arguments, evaluators::LoggedTraining training, std::size_t jobs,
       std::vector<training::CurveRecorder*> recorders)
      : training_(std::move(training)), recorders_(std::move(recorders)) {
    if (!arguments.has("log")) {
      if (arguments.has("log-format"))
        throw usage_error("--log-format: found no --log; allowed: with --log FOLDER");
      return;
    }
    folder_ = arguments.text("log");
    if (std::filesystem::path(folder_).extension() == ".csv" &&
        !std::filesystem::is_directory(folder_))
      throw usage_error("--log: found " + folder_ +
                        "; allowed: a folder, in which each replica gets its file");
    require_outside_benchmarks(folder_, "--log");
    for (const std::string& name : arguments.list("log-format"))
      formats_.insert(*evaluators::parse_log_format(name));
    if (formats_.empty()) formats_.insert(evaluators::LogFormat::kCsv);
    for (const std::string& inside : {evaluators::log_folder(training_), std::string("mlruns")})
      require_writable_folder(std::filesystem::path(folder_) / inside, "--log");
    if (!recorders_.empty()) return;
    own_ = std::vector<training::CurveRecorder>(jobs);
    for (training::CurveRecorder& recorder : own_) recorders_.push_back(&recorder);
  }

  std::vector<training::Observer*> observers() const {
    return {recorders_.begin(), recorders_.end()};
  }

  /// When the training of a job has ended; thread safe.
  void write(std::size_t job, int replica, const training::ReplicaResult& result) const {
    if (formats_.empty()) return;
    evaluators::LoggedTraining training = training_;
    training.replica = replica;
    training.backend = result.backend;
    training.status = to_string(result.status);
    training.message = result.message;
    training.value = result.metric;
    training.curves = recorders_[job]->curves();
    for (const evaluators::LogFormat format : formats_) {
      for (const evaluators::LogFile& file : evaluators::log_files(format, training, folder_)) {
        const std::filesystem::path path = std::filesystem::path(folder_) / file.path;
        std::filesystem::create_directories(path.parent_path());
        write_file_atomically(path, file.content);
      }
    }
  }

 private:
  evaluators::LoggedTraining training_;
  std::string folder_;
  std::set<evaluators::LogFormat> formats_;
  std::vector<training::CurveRecorder> own_;
  std::vector<training::CurveRecorder*> recorders_;
};

/// A program and its trainings.
struct Trained {
  std::string program, variant, hash;
  experiments::MetricInfo metric;
  std::int64_t seed = 0;
  std::vector<training::ReplicaResult> results;

  std::vector<double> metrics() const {
    std::vector<double> values;
    for (const training::ReplicaResult& result : results) values.push_back(result.metric);
    return values;
  }
  double seconds() const {
    double sum = 0;
    for (const training::ReplicaResult& result : results) sum += result.seconds;
    return sum;
  }
};

Json json_of(const Trained& trained) {
  Json replicas = Json::array();
  for (std::size_t i = 0; i < trained.results.size(); ++i) {
    const training::ReplicaResult& result = trained.results[i];
    Json entry{{"replica", i}};
    entry.update(to_json(result));
    entry["metric"] = json_number(result.metric);
    if (result.total < 0) {
      entry.erase("correct");
      entry.erase("total");
    }
    if (result.epochs_saved == 0) entry.erase("epochs_saved");
    if (result.message.empty()) entry.erase("message");
    replicas.push_back(std::move(entry));
  }
  return {{"format", "neutra-train"},
          {"version", 1},
          {"program", trained.program},
          {"program_version", trained.variant},
          {"hash", trained.hash},
          {"seed", trained.seed},
          {"metric", trained.metric.name},
          {"goal", program::to_string(trained.metric.goal)},
          {"backend", trained.results.front().backend},
          {"mean", json_number(evaluators::mean(trained.metrics()))},
          {"seconds", trained.seconds()},
          {"replicas", std::move(replicas)}};
}

std::string text_of(const Trained& trained) {
  const std::string& metric = trained.metric.name;
  TextTable table({"replica", metric, "status", "steps", "seconds"});
  for (std::size_t i = 0; i < trained.results.size(); ++i) {
    const training::ReplicaResult& result = trained.results[i];
    table.add({std::to_string(i), std::isfinite(result.metric) ? shortest(result.metric) : "-",
               std::string(to_string(result.status)) +
                   (result.message.empty() ? "" : ": " + result.message),
               std::to_string(result.steps), rounded(result.seconds)});
  }
  const std::vector<double> metrics = trained.metrics();
  const std::string not_finite = not_finite_text(trained.results);
  return table.text() + "\n" +
         (not_finite.empty() ? "mean " + metric + " " + rounded(evaluators::mean(metrics)) +
                                   ", standard deviation " +
                                   rounded(std::sqrt(evaluators::sample_variance(metrics)))
                             : "no mean " + metric + ": " + not_finite) +
         ", " + duration_text(trained.seconds()) + " of training, back end " +
         trained.results.front().backend + "\n";
}

std::vector<training::TrainingJob> jobs_of(const program::Program& program,
                                           const Arguments& arguments) {
  std::vector<training::TrainingJob> jobs;
  for (int replica = 0; replica < arguments.integer("replicas"); ++replica) {
    training::TrainingJob job;
    job.program = &program;
    job.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
    job.replica = replica;
    if (arguments.text("stream") == "independent") job.stream = training::StreamKey::kIndependent;
    job.time_limit = arguments.seconds("time-limit");
    job.memory_limit = arguments.bytes("memory-limit");
    jobs.push_back(job);
  }
  return jobs;
}

/// What the logs of all replicas have alike.
evaluators::LoggedTraining logged_training(const Trained& trained, const experiments::Fault& fault,
                                           const Arguments& arguments) {
  evaluators::LoggedTraining logged;
  logged.program = trained.program;
  logged.variant = trained.variant;
  logged.hash = trained.hash;
  logged.stream = arguments.text("stream");
  logged.seed = static_cast<std::uint64_t>(trained.seed);
  if (trained.variant == "buggy")
    logged.parameters = fault.space.base_parameters();
  else if (fault.fixed_parameters)
    logged.parameters = *fault.fixed_parameters;
  logged.metric = trained.metric.name;
  logged.provenance = provenance();
  return logged;
}

/// A monitor file without its runs.
evaluators::MonitorFile monitor_file(const Trained& trained) {
  evaluators::MonitorFile file;
  file.program = trained.program;
  file.variant = trained.variant;
  file.hash = trained.hash;
  file.backend = trained.results.front().backend;
  file.metric = trained.metric.name;
  file.goal = program::to_string(trained.metric.goal);
  file.seed = trained.seed;
  file.provenance = provenance();
  return file;
}

Result run(const Arguments& arguments) {
  catch_signals();
  experiments::Fault fault =
      with_fewer_rows(experiments::load_fault(arguments.positional.front()), arguments);
  if (fault.fixed) {  // both versions by one function
    fault = experiments::scored_alike(std::move(fault));
    experiments::tell_scoring(fault, arguments.flag("quiet"));
  }
  const program::Program program =
      with_initial_weights(chosen_version(fault, arguments), arguments);
  FinalWeights final_weights(arguments);
  Trained trained{fault.id,
                  arguments.text("version"),
                  to_string(program::program_hash(program)),
                  experiments::metric_of(program, fault.file.string()),
                  arguments.integer("seed"),
                  {}};
  const auto trainer = make_trainer(arguments, fault.file);
  if (const auto reason = trainer->refusal(program))
    throw input_error(fault.file.string() + ": " + *reason);
  warn_of(fault.id, program);
  tell_drawn_layers(fault.id, program, arguments, fault.file, *trainer);

  const std::vector<training::TrainingJob> jobs = jobs_of(program, arguments);
  Monitors monitors(arguments, program, jobs.size(), *trainer);
  const Logs logs(arguments, logged_training(trained, fault, arguments), jobs.size(),
                  monitors.recorders());
  {
    ProgressLine progress(arguments.flag("quiet"), "train " + fault.id);
    const auto show = [&](const Tally& tally) { progress.update(progress_of(tally, "replicas")); };
    trained.results = train_all(*trainer, jobs, worker_count(arguments), show,
                                final_weights.watching(logs.observers()),
                                [&](std::size_t job, const training::ReplicaResult& result) {
                                  logs.write(job, jobs[job].replica, result);
                                });
  }
  monitors.write(monitor_file(trained), jobs, trained.results);
  final_weights.write(program, trained.results.front(), *trainer);
  const bool all_trained =
      std::all_of(trained.results.begin(), trained.results.end(),
                  [](const auto& result) { return training::has_metric(result.status); });
  return result_of(std::move(trained), all_trained ? Exit::kDone : Exit::kFailed);
}

}  // namespace

Verb train_verb() {
  return {
      .name = "train",
      .summary = "train one program several times and print its metric",
      .synopsis =
          "train FAULT|FILE [--version buggy|fixed] [--replicas N] [--log FOLDER] [--monitor "
          "FILE.h5] [options]",
      .options = {.names = {"backend", "data-dir", "final-weights", "initial-weights", "log",
                            "log-format", "memory-limit", "monitor", "replicas", "rows-train",
                            "seed", "skip-dead", "stream", "time-limit", "version", "workers"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "FAULT|FILE"},
      .description =
          "Each replica has random streams of its own, fixed by seed, program and replica: the "
          "same call gives the same numbers\n"
          "with any number of workers. Exit 1 when a replica was cut off or failed.\n"
          "--monitor and --log change no number. neutra symptoms reads the file of --monitor "
          "(docs/formats/monitor.md). --log\n"
          "writes tables, event files of TensorBoard or runs of MLflow "
          "(docs/formats/training_log.md); after an interruption the\n"
          "logs of finished replicas are there. With --initial-weights all replicas begin alike.",
      .example =
          "  neutra train D7 --replicas 10\n"
          "  neutra train D7 --version fixed --json\n"
          "  neutra train D7 --monitor D7.h5\n"
          "  neutra train D7 --log logs --log-format tensorboard",
      .run = run};
}

}  // namespace neutra::cli
