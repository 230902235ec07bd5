#include "cli/context.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <mutex>
#include <sstream>
#include <thread>

#include "cli/build_info.h"
#include "cli/ranks.h"
#include "experiments/benchmark_store.h"
#include "program/error.h"
#include "program/file_kind.h"
#include "program/files.h"
#include "program/printable.h"
#include "program/seal.h"
#include "program/words.h"
#include "training/libraries.h"
#include "training/local_trainer.h"
#include "training/parallel.h"

extern char** environ;

namespace neutra::cli {
namespace {

std::atomic<bool> g_stop{false};
std::atomic<bool> g_end_at_second{true};
constexpr int kStopPollMilliseconds = 50;

extern "C" void on_signal(int signal) {
  if (g_stop.exchange(true) && g_end_at_second && signal != SIGUSR2) _exit(128 + signal);
}

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace

std::vector<std::filesystem::path> data_path(const Arguments& arguments,
                                             const std::filesystem::path& own_file) {
  std::vector<std::filesystem::path> path;
  if (!own_file.empty()) path.push_back(own_file.has_parent_path() ? own_file.parent_path() : ".");
  path.push_back(resource_directory() / "data");
  if (arguments.has("data-dir")) {  // or NEUTRA_DATA_DIR, or a configuration file
    const std::filesystem::path folder = arguments.text("data-dir");
    if (!std::filesystem::is_directory(folder))
      throw input_error(describe("data-dir", "", folder.string(), "a folder"));
    path.push_back(folder);
  } else if (const char* shared = std::getenv("NEUTRA_SHARED"); shared && *shared) {
    path.push_back(std::filesystem::path(shared) / "data");
  } else {
    path.push_back("../shared/data");
  }
  path.push_back("/usr/share/datasets");  // where Debian's dataset-* packages install
  return path;
}

TrainerOptions trainer_options(const Arguments& arguments, const std::filesystem::path& own_file) {
  TrainerOptions options;
  options.data_path = data_path(arguments, own_file);
  options.backend = *parse_backend(arguments.text("backend"));
  options.skip_dead_epochs = !arguments.has("skip-dead") || arguments.is_on("skip-dead");
  options.reuse_epochs = arguments.has("reuse-epochs") && arguments.is_on("reuse-epochs");
  if (arguments.has("memory")) options.memory = arguments.bytes("memory");
  return options;
}

std::unique_ptr<LocalTrainer> make_trainer(const Arguments& arguments,
                                           const std::filesystem::path& own_file) {
  check_blas_route();
  return make_local_trainer(trainer_options(arguments, own_file));
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
  if (const auto folder = benchmark_around(path))
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

Fault with_fewer_rows(Fault fault, const Arguments& arguments) {
  if (!arguments.has("rows-train")) return fault;
  const auto limit = [&](Program& program) {
    Json& data = program.document["data"];
    Json steps = Json::array(
        {{{"op", "take"}, {"rows", arguments.integer("rows-train")}, {"part", "train"}}});
    for (const Json& step : data.value("preprocess", Json::array())) steps.push_back(step);
    data["preprocess"] = std::move(steps);
  };
  limit(fault.buggy);
  if (fault.fixed) limit(*fault.fixed);
  return fault;
}

const Program& chosen_version(const Fault& fault, const Arguments& arguments) {
  if (arguments.text("version") == "buggy") return fault.buggy;
  if (!fault.fixed)
    throw input_error(describe(fault.file.string(), "/fixed", "no known fix", "--version buggy"));
  return *fault.fixed;
}

Original load_original(const Arguments& arguments) {
  const Fault fault = with_fewer_rows(load_fault(arguments.positional.front()), arguments);
  return {fault.id, chosen_version(fault, arguments), fault.space, fault.file};
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

std::vector<ReplicaResult> train_all(LocalTrainer& trainer, const std::vector<TrainingJob>& jobs,
                                     int workers, const std::function<void(std::size_t)>& done,
                                     const std::vector<Observer*>& observers) {
  std::vector<ReplicaResult> results(jobs.size());
  const auto train = [&](std::size_t i) {
    TrainingJob job = jobs[i];
    job.stop = &g_stop;
    results[i] = trainer.train(job, observers.empty() ? nullptr : observers[i]);
  };
  run_all(jobs.size(), workers, &g_stop, train, done);
  return results;
}

const std::atomic<bool>& stop_requested() { return g_stop; }

void catch_signals(bool end_at_second) {
  g_end_at_second = end_at_second;
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM, SIGUSR2}) sigaction(signal, &action, nullptr);
  struct sigaction hangup {};
  sigaction(SIGHUP, nullptr, &hangup);
  // nohup has it ignored.
  if (hangup.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);
}

ProgressLine::ProgressLine(bool quiet, std::string what)
    : quiet_(quiet),
      terminal_(isatty(STDERR_FILENO) == 1),
      what_(std::move(what)),
      started_(now()) {
  if (!terminal_) last_ = started_;
}

ProgressLine::~ProgressLine() {
  if (drawn_) std::fputs("\r\033[K", stderr);
}

void ProgressLine::update(double fraction, const std::string& text) {
  if (quiet_) return;
  const double time = now();
  if (first_ < 0) first_ = std::max(fraction, 0.0);
  if (time - last_ < (terminal_ ? 0.1 : 60)) return;
  last_ = time;
  std::ostringstream line;
  line << printable(what_) << ": ";
  const double elapsed = time - started_;
  if (fraction >= 0) {
    fraction = std::min(fraction, 1.0);
    if (terminal_) {
      constexpr int kWidth = 24;
      const int full = static_cast<int>(fraction * kWidth);
      line << '[' << std::string(static_cast<std::size_t>(full), '#')
           << std::string(static_cast<std::size_t>(kWidth - full), '.') << "] ";
    }
    line << static_cast<int>(fraction * 100) << " %, ";
  }
  line << text << ", " << duration_text(elapsed);
  // Of this process: a resumed search begins further on.
  if (const double done = fraction - first_; done > 0.01 && elapsed > 1)
    line << ", about " << duration_text(elapsed / done * (1 - fraction)) << " left";
  if (terminal_) {
    std::fprintf(stderr, "\r\033[K%.300s", line.str().c_str());
    drawn_ = true;
  } else {
    std::fprintf(stderr, "%s\n", line.str().c_str());
  }
  std::fflush(stderr);
}

std::string progress_text(const Progress& progress) {
  const SearchCounters& counters = progress.counters;
  std::string text = std::to_string(counters.evaluations) + " evaluations";
  if (counters.seconds > 0)
    text += " (" + rounded(static_cast<double>(counters.trainings) / counters.seconds) +
            " trainings/s)";
  return text + ", " + std::to_string(progress.alternatives) + " repairs, " +
         std::to_string(progress.queue) + " queued";
}

TextTable::TextTable(std::vector<std::string> header) { rows_.push_back(std::move(header)); }
void TextTable::add(std::vector<std::string> row) {
  for (std::string& cell : row) cell = printable(cell);
  rows_.push_back(std::move(row));
}

std::string TextTable::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i >= widths.size()) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  const auto is_number = [](const std::string& cell) {
    if (cell.empty()) return false;
    char* end = nullptr;
    std::strtod(cell.c_str(), &end);
    return *end == '\0';
  };
  std::string text;
  for (const auto& row : rows_) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      const std::string space(widths[i] - row[i].size(), ' ');
      line += (i ? "  " : "") + (is_number(row[i]) ? space + row[i] : row[i] + space);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string rounded(double value) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string duration_text(double seconds) {
  char text[64];
  if (seconds < 60) {
    std::snprintf(text, sizeof text, "%.1f s", seconds);
  } else if (seconds < 3600) {
    std::snprintf(text, sizeof text, "%d min %02d s", static_cast<int>(seconds) / 60,
                  static_cast<int>(seconds) % 60);
  } else {
    const auto minutes = static_cast<long>(seconds / 60);
    std::snprintf(text, sizeof text, "%ld h %02ld min", minutes / 60, minutes % 60);
  }
  return text;
}

Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

Json provenance() {
  const auto libraries = library_versions(false);
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

std::optional<ReplicaResult> train_isolated(const TrainingJob& job, const TrainerOptions& options) {
  TrainerOptions one = options;  // there is nothing to share with other trainings
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
  return replica_result_from_json(parse_json(answer, "answer of the isolated training"));
}

}  // namespace neutra::cli
