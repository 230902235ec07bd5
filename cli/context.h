#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "experiments/catalog.h"
#include "experiments/search_task.h"
#include "training/local_trainer.h"
#include "training/trainer.h"

namespace neutra::cli {

/// Where data files are looked up: the fault's own folder, the bundled data, then --data-dir or its
/// stand-ins.
std::vector<std::filesystem::path> data_path(const Arguments& arguments,
                                             const std::filesystem::path& own_file);

TrainerOptions trainer_options(const Arguments& arguments, const std::filesystem::path& own_file);

/// The back end of --backend for the programs of one file.
std::unique_ptr<LocalTrainer> make_trainer(const Arguments& arguments,
                                           const std::filesystem::path& own_file);

int worker_count(const Arguments& arguments);

/// The form of the result: --json or --format; "text" of a verb that takes no --format.
std::string chosen_format(const Arguments& arguments);

/// Can the file of an option be written, and is it no store, benchmark or journal, which a text
/// would replace? Asked before any work. Throws input_error or usage_error.
void require_text_output(const std::string& file, const std::string& option);
/// Throws usage_error for a path in the folder of a benchmark, which anything else would damage.
void require_outside_benchmarks(const std::string& path, const std::string& option);
/// Throws usage_error where an output would take the place of a file that is read.
void require_not_read(const std::string& output, const std::string& option,
                      const std::vector<std::filesystem::path>& read);
/// Throws usage_error where two of these, each with what it is ("--report"), are one file.
void require_apart(const std::vector<std::pair<std::string, std::filesystem::path>>& files);
/// Can a model file be written there? A new file, or one in the place of another model: nothing of
/// neutra's own, and no text. Throws input_error or usage_error.
void require_model_output(const std::string& file, const std::string& option);
/// require_text_output() of --output, if it is given.
void require_output(const Arguments& arguments);

/// Where a link leads; any other name as it is. A file that is replaced in one step would take the
/// place of the link.
std::filesystem::path link_target(const std::filesystem::path& file);

/// Writes a result to the file of --output, or to standard output. Precondition: require_output().
void put_result(const Arguments& arguments, const std::string& text);

/// With --rows-train: the fault on the first N training rows, by a preprocessing step before the
/// others; else the fault as it is.
Fault with_fewer_rows(Fault fault, const Arguments& arguments);

/// The program that --version names. Throws input_error when the fault has no known fix.
const Program& chosen_version(const Fault& fault, const Arguments& arguments);

/// A program that a verb starts from: a bundled subject, or a version of a fault.
struct Original {
  std::string id;
  Program program;
  ProgramSpace space;  ///< with its keys; its base need not be the program
  std::filesystem::path file;
};
/// The one that the first word names, in the version of --version.
Original load_original(const Arguments& arguments);

/// Jobs of one verb, trained in parallel; results in the order of the jobs. Stops as run_all does.
/// `observers`: one for each job, or none.
std::vector<ReplicaResult> train_all(LocalTrainer& trainer, const std::vector<TrainingJob>& jobs,
                                     int workers,
                                     const std::function<void(std::size_t finished)>& done = {},
                                     const std::vector<Observer*>& observers = {});

/// Set by SIGINT, SIGTERM and SIGUSR2, Slurm's warning, once catch_signals() was called. A second
/// SIGINT or SIGTERM ends the process at once, unless it is a rank of an MPI job: there what
/// started the job may send one more than once, and sees to the end.
const std::atomic<bool>& stop_requested();
void catch_signals(bool end_at_second = true);

/// One line of progress on standard error: a bar with rate and time left on a terminal, a line a
/// minute elsewhere.
class ProgressLine {
 public:
  ProgressLine(bool quiet, std::string what);
  ~ProgressLine();
  /// `fraction` in [0, 1], negative when unknown; `text` says what is done so far.
  void update(double fraction, const std::string& text);

 private:
  bool quiet_, terminal_;
  std::string what_;
  double started_, last_ = 0;
  double first_ = -1;  ///< fraction at the first update
  bool drawn_ = false;
};

/// "120 evaluations (35 trainings/s), 12 repairs, 4 queued"
std::string progress_text(const Progress& progress);

/// Left-aligned text columns, numbers (cells that start with a digit, '-' or '.') to the right.
/// Cells are printable(), so that each row stays one line.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> header);
  void add(std::vector<std::string> row);
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

/// Four significant digits for people; files get the shortest decimal that reads back.
std::string rounded(double value);
/// "1 h 03 min", "12.3 s"
std::string duration_text(double seconds);

/// NaN and infinity as null, which is what JSON has for them.
Json json_number(double value);

/// Versions, machine and build: for file headers and --version.
Json provenance();

/// What a process wrote into a pipe until it closed it, and its status (waitpid).
struct ChildAnswer {
  std::string text;
  int status = 0;
};
/// Reads from the pipe, closes it and waits for the process. `waiting` is called again and again
/// while nothing comes.
ChildAnswer answer_of_child(pid_t child, int from_child, const std::function<void()>& waiting = {});

/// Trains one job in a process of its own (for a program that other processes died in); nullopt
/// when it dies. Throws Error(kInterrupted) when the job's stop is set.
std::optional<ReplicaResult> train_isolated(const TrainingJob& job, const TrainerOptions& options);

}  // namespace neutra::cli
