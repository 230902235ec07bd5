#include "cli/context.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <string_view>
#include <thread>

#include "base/checksum.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/build_info.h"
#include "cli/ranks.h"
#include "cli/stopping.h"
#include "experiments/benchmark/store.h"
#include "experiments/scores/pictures.h"
#include "training/libraries.h"
#include "training/local_trainer.h"

extern char** environ;

namespace neutra::cli {
namespace {

std::atomic<bool> g_stop{false};
std::atomic<bool> g_end_at_second{true};
constexpr int kStopPollMilliseconds = 50;

/// A second signal so soon after the first is the same one, told twice: coreutils' timeout, for
/// one, signals its command and then the whole group.
constexpr std::int64_t kSameSignal = 300'000'000;  // nanoseconds
std::atomic<std::int64_t> g_first_signal{0};

std::int64_t monotonic_nanoseconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{1'000'000'000} * now.tv_sec + now.tv_nsec;
}

extern "C" void on_signal(int signal) {
  const std::int64_t now = monotonic_nanoseconds();
  std::int64_t first = 0;
  if (g_first_signal.compare_exchange_strong(first, now)) {
    g_stop = true;
    note_stop();
    return;
  }
  if (now - first < kSameSignal) return;
  if (g_end_at_second && signal != SIGUSR2) _exit(128 + signal);
}

extern "C" void end_interrupted(int) {
  constexpr std::string_view kMessage = "neutra: interrupted\n";
  (void)!write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(static_cast<int>(Exit::kInterrupted));
}

/// Those that are ignored, as nohup has SIGHUP and a shell its background jobs' SIGINT, stay so;
/// `all`: but SIGHUP none.
void handle_signals(void (*handler)(int), bool all) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR2, SIGHUP}) {
    struct sigaction now {};
    sigaction(signal, nullptr, &now);
    if (now.sa_handler != SIG_IGN || (all && signal != SIGHUP)) sigaction(signal, &action, nullptr);
  }
}

}  // namespace

std::filesystem::path data_folder(const Arguments& arguments) {
  if (arguments.has("data-dir")) {  // or NEUTRA_DATA_DIR, or a configuration file
    const std::filesystem::path folder = arguments.text("data-dir");
    if (!std::filesystem::is_directory(folder))
      throw input_error(describe("data-dir", "", folder.string(), "a folder"));
    return folder;
  }
  const char* shared = std::getenv("NEUTRA_SHARED");
  return shared && *shared ? std::filesystem::path(shared) / "data" : "../shared/data";
}

std::vector<std::filesystem::path> data_path(const Arguments& arguments,
                                             const std::filesystem::path& own_file) {
  std::vector<std::filesystem::path> path;
  if (!own_file.empty()) path.push_back(own_file.has_parent_path() ? own_file.parent_path() : ".");
  path.push_back(experiments::resource_directory() / "data");
  path.push_back(data_folder(arguments));
  path.push_back("/usr/share/datasets");  // where Debian's dataset-* packages install
  // What Keras has fetched: its utils/data_utils.py: get_file().
  if (const char* keras = std::getenv("KERAS_HOME"); keras && *keras)
    path.push_back(std::filesystem::path(keras) / "datasets");
  else if (const char* home = std::getenv("HOME"); home && *home)
    path.push_back(std::filesystem::path(home) / ".keras" / "datasets");
  return path;
}

training::TrainerOptions trainer_options(const Arguments& arguments,
                                         const std::filesystem::path& own_file) {
  training::TrainerOptions options;
  options.data_path = data_path(arguments, own_file);
  if (arguments.has("backend"))
    options.backend = *training::parse_backend(arguments.text("backend"));
  options.skip_dead_epochs = !arguments.has("skip-dead") || arguments.is_on("skip-dead");
  options.reuse_epochs = arguments.has("reuse-epochs") && arguments.is_on("reuse-epochs");
  if (arguments.has("memory")) options.memory = arguments.bytes("memory");
  return options;
}

std::unique_ptr<training::LocalTrainer> make_trainer(const Arguments& arguments,
                                                     const std::filesystem::path& own_file) {
  return make_trainer(arguments, own_file, trainer_options(arguments, own_file).backend);
}

std::unique_ptr<training::LocalTrainer> make_trainer(const Arguments& arguments,
                                                     const std::filesystem::path& own_file,
                                                     training::Backend backend) {
  training::TrainerOptions options = trainer_options(arguments, own_file);
  options.backend = backend;
  return training::make_local_trainer(std::move(options));
}

void require_text_output(const std::string& file, const std::string& option) {
  require_writable(file, option);
  require_outside_benchmarks(file, option);
  // A store must not be overwritten by its own export.
  if (is_hdf5_file(file) || start_of_file(file, kJournalBeginning.size()) == kJournalBeginning)
    throw usage_error(option + ": found " + file + ", " + kind_of_file(file) +
                      "; allowed: a new file or a text");
}

void require_outside_benchmarks(const std::string& path, const std::string& option) {
  if (const auto folder = experiments::benchmark_around(path))
    throw usage_error(option + ": found " + path + ", in the folder of the benchmark " +
                      folder->string() + "; allowed: a place outside of it");
}

void require_not_read(const std::string& output, const std::string& option,
                      const std::vector<std::filesystem::path>& read) {
  for (const std::filesystem::path& file : read) {
    std::error_code ignored;
    if (std::filesystem::equivalent(file, output, ignored))
      throw usage_error(option + ": found " + output + ", which is read; allowed: another file");
  }
}

void require_apart(const std::vector<std::pair<std::string, std::filesystem::path>>& files) {
  for (std::size_t i = 1; i < files.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (std::filesystem::weakly_canonical(files[i].second) ==
          std::filesystem::weakly_canonical(files[j].second))
        throw usage_error(files[i].first + ": found " + files[i].second.string() + ", which is " +
                          files[j].first + ", too; allowed: a file of its own");
    }
  }
}

void require_model_output(const std::string& file, const std::string& option) {
  require_writable(file, option);
  require_outside_benchmarks(file, option);
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored)) return;
  const bool model = start_of_file(file, kZipStart.size()) == kZipStart ||
                     (is_hdf5_file(file) && !read_seal(file));
  if (!model && std::filesystem::file_size(file, ignored) > 0)
    throw usage_error(option + ": found " + file +
                      ", which is no model; allowed: a new file or a model's");
}

void require_picture_file(const std::string& file, const std::string& option) {
  require_text_output(file, option);
  experiments::require_picture_form(experiments::picture_form(file, option));
}

void write_picture(const std::string& svg, const std::string& file) {
  write_file_atomically(file, experiments::picture(svg, experiments::picture_form(file, "")));
}

void require_output(const Arguments& arguments) {
  if (arguments.has("output")) require_text_output(arguments.text("output"), "--output");
}

std::filesystem::path link_target(const std::filesystem::path& file) {
  std::error_code ignored;
  return std::filesystem::is_symlink(file, ignored) ? std::filesystem::weakly_canonical(file)
                                                    : file;
}

void put_result(const Arguments& arguments, const std::string& text) {
  if (arguments.has("output")) {
    write_file_atomically(arguments.text("output"), text);
  } else {
    std::cout << text;
  }
}

experiments::Fault with_fewer_rows(experiments::Fault fault, const Arguments& arguments) {
  if (!arguments.has("rows-train")) return fault;
  const auto limit = [&](program::Program& program) {
    Json& data = program.document["data"];
    Json steps = Json::array(
        {{{"op", "take"}, {"rows", arguments.integer("rows-train")}, {"part", "train"}}});
    for (const Json& step : data.value("preprocess", Json::array())) steps.push_back(step);
    data["preprocess"] = std::move(steps);
  };
  limit(fault.buggy);
  if (fault.fixed) limit(*fault.fixed);
  if (fault.tools) limit(*fault.tools);
  return fault;
}

const program::Program& chosen_version(const experiments::Fault& fault,
                                       const Arguments& arguments) {
  if (arguments.text("version") == "buggy") return fault.buggy;
  if (!fault.fixed)
    throw input_error(describe(fault.file.string(), "/fixed", "no known fix", "--version buggy"));
  return *fault.fixed;
}

const program::Program& tool_version(const experiments::Fault& fault, const Arguments& arguments) {
  return arguments.text("version") == "buggy" ? experiments::tools_program(fault)
                                              : chosen_version(fault, arguments);
}

Json tools_json(const experiments::Fault& fault) {
  if (!fault.tools) return nullptr;
  return {{"difference", experiments::tools_difference(fault)},
          {"reason", fault.tools_reason},
          {"hash", to_string(program::program_hash(*fault.tools))}};
}

Original load_original(const Arguments& arguments, bool for_tool) {
  const experiments::Fault fault =
      with_fewer_rows(experiments::load_fault(arguments.positional.front()), arguments);
  return {fault.id, for_tool ? tool_version(fault, arguments) : chosen_version(fault, arguments),
          fault.space, fault.file};
}

std::string chosen_format(const Arguments& arguments) {
  if (arguments.flag("json")) return "json";
  return arguments.has("format") ? arguments.text("format") : "text";
}

int worker_count(const Arguments& arguments) {
  if (arguments.has("workers")) return static_cast<int>(arguments.integer("workers"));
  if (other_ranks()) return 1;
  const auto cores = std::thread::hardware_concurrency();
  return cores == 0 ? 1 : static_cast<int>(cores);
}

std::vector<training::ReplicaResult> train_all(
    training::LocalTrainer& trainer, const std::vector<training::TrainingJob>& jobs, int workers,
    const std::function<void(const Tally&)>& done,
    const std::vector<training::Observer*>& observers,
    const std::function<void(std::size_t, const training::ReplicaResult&)>& trained) {
  std::vector<training::ReplicaResult> results(jobs.size());
  std::atomic<std::size_t> failed = 0;
  const auto train = [&](std::size_t i) {
    training::TrainingJob job = jobs[i];
    job.stop = &g_stop;
    results[i] = trainer.train(job, observers.empty() ? nullptr : observers[i]);
    if (trained) trained(i, results[i]);
    failed += !training::has_metric(results[i].status);
  };
  run_all(jobs.size(), workers, &g_stop, train, [&](std::size_t finished) {
    if (done) done({finished, jobs.size(), failed});
  });
  return results;
}

const std::atomic<bool>& stop_requested() { return g_stop; }

void catch_signals(bool end_at_second) {
  g_end_at_second = end_at_second;
  watch_stops();
  handle_signals(on_signal, true);
}

void end_on_signals() { handle_signals(end_interrupted, false); }

void require_not_stopped() {
  if (g_stop) throw Error(Exit::kInterrupted, "interrupted");
}

ProgressState progress_of(const Tally& tally, const std::string& unit, bool growing) {
  return {static_cast<std::int64_t>(tally.done), static_cast<std::int64_t>(tally.total), unit,
          growing, static_cast<std::int64_t>(tally.failed)};
}

ProgressState progress_of(const search::Progress& progress, std::optional<std::int64_t> budget) {
  const search::SearchCounters& counters = progress.counters;
  ProgressState state{counters.evaluations, budget.value_or(-1), "evaluations"};
  state.invalid = counters.invalid;
  state.failed = counters.failed;
  state.fraction = progress.fraction.value_or(-1);
  state.text = std::to_string(progress.alternatives) + " repairs, " +
               std::to_string(progress.queue) + " queued";
  return state;
}

Json provenance() {
  const auto libraries = training::library_versions(false);
  struct utsname machine {};
  uname(&machine);
  return Json{
      {"program_version", version()},
      {"git_commit", git_commit()},
      {"libraries",
       {{"torch", libraries.torch}, {"onednn", libraries.onednn}, {"hdf5", libraries.hdf5}}},
      {"machine", std::string(machine.nodename) + " " + machine.sysname + " " + machine.machine}};
}

ChildAnswer answer_of_child(pid_t child, int from_child, const std::function<void()>& waiting) {
  ChildAnswer answer;
  std::array<char, 4096> block;
  for (;;) {
    struct pollfd readable {
      from_child, POLLIN, 0
    };
    if (poll(&readable, 1, kStopPollMilliseconds) <= 0) {  // nothing yet, or a signal came
      if (waiting) waiting();
      continue;
    }
    const ssize_t got = read(from_child, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.text.append(block.data(), static_cast<std::size_t>(got));
  }
  close(from_child);
  while (waitpid(child, &answer.status, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

std::optional<training::ReplicaResult> train_isolated(const training::TrainingJob& job,
                                                      const training::TrainerOptions& options) {
  training::TrainerOptions one = options;  // there is nothing to share with other trainings
  one.reuse_epochs = false;
  one.memory = 0;
  const Json request{{"program", job.program->document},
                     {"job", to_json(job)},
                     {"options", to_json(one)},
                     {"parent", static_cast<std::int64_t>(getpid())}};
  const std::string text = request.dump();

  int to_child[2], from_child[2];
  if (pipe2(to_child, O_CLOEXEC) != 0)
    throw failure(std::string("cannot make a pipe: ") + std::strerror(errno));
  if (pipe2(from_child, O_CLOEXEC) != 0) {
    close(to_child[0]);
    close(to_child[1]);
    throw failure(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  std::string name = "neutra", verb = "train-isolated";
  char* words[] = {name.data(), verb.data(), nullptr};
  pid_t child = 0;
  // In a process group of its own: Ctrl-C is for the search, which then kills it.
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, handled;
  sigemptyset(&none);
  sigemptyset(&handled);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&handled, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &handled);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(to_child[0]);
  close(from_child[1]);
  if (error != 0) {
    close(to_child[1]);
    close(from_child[0]);
    throw failure(std::string("cannot start a process to train in: ") + std::strerror(error));
  }
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(to_child[1], text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  close(to_child[1]);
  bool stopped = false;
  const auto [answer, status] = answer_of_child(child, from_child[0], [&] {
    if (stopped || !job.stop || !job.stop->load()) return;
    stopped = true;
    kill(child, SIGKILL);
  });
  if (stopped) throw Error(Exit::kInterrupted, "interrupted");
  if (WIFSIGNALED(status)) return std::nullopt;
  const int code = WEXITSTATUS(status);
  if (code == static_cast<int>(Exit::kUsage) || code == static_cast<int>(Exit::kBadInput))
    throw failure("the process that trains one program alone ended with exit code " +
                  std::to_string(code));  // its message is on standard error
  if (code != 0) return std::nullopt;     // as dead as one that crashed
  return training::replica_result_from_json(parse_json(answer, "answer of the isolated training"));
}

}  // namespace neutra::cli
