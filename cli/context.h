#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "cli/options.h"
#include "cli/progress_line.h"
#include "cli/texts.h"
#include "experiments/catalog.h"
#include "experiments/search_task.h"
#include "training/local_trainer.h"
#include "training/trainer.h"

namespace neutra::cli {

/// The folder of data sets: --data-dir or its stand-ins.
std::filesystem::path data_folder(const Arguments& arguments);
/// Where data files are looked up: the fault's own folder, the bundled data, the folder of data
/// sets, then where packages and Keras keep theirs.
std::vector<std::filesystem::path> data_path(const Arguments& arguments,
                                             const std::filesystem::path& own_file);

training::TrainerOptions trainer_options(const Arguments& arguments,
                                         const std::filesystem::path& own_file);

/// The back end of --backend for the programs of one file.
std::unique_ptr<training::LocalTrainer> make_trainer(const Arguments& arguments,
                                                     const std::filesystem::path& own_file);
/// The same with a back end that no option names.
std::unique_ptr<training::LocalTrainer> make_trainer(const Arguments& arguments,
                                                     const std::filesystem::path& own_file,
                                                     training::Backend backend);

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
/// The same as require_text_output() for a picture: its ending says a form that can be made.
void require_picture_file(const std::string& file, const std::string& option);
/// Writes a picture in SVG in the form that the file's ending says.
void write_picture(const std::string& svg, const std::string& file);
/// require_text_output() of --output, if it is given.
void require_output(const Arguments& arguments);

/// Where a link leads; any other name as it is. A file that is replaced in one step would take the
/// place of the link.
std::filesystem::path link_target(const std::filesystem::path& file);

/// Writes a result to the file of --output, or to standard output. Precondition: require_output().
void put_result(const Arguments& arguments, const std::string& text);

/// With --rows-train: the fault on the first N training rows, by a preprocessing step before the
/// others; else the fault as it is.
experiments::Fault with_fewer_rows(experiments::Fault fault, const Arguments& arguments);

/// The program that --version names. Throws input_error when the fault has no known fix.
const program::Program& chosen_version(const experiments::Fault& fault, const Arguments& arguments);

/// The same for a fault-localisation tool: the buggy version is the program that the study's tools
/// ran on, which may be another one.
const program::Program& tool_version(const experiments::Fault& fault, const Arguments& arguments);

/// What tools ran on instead of the buggy program: {difference, reason, hash}; null: on that
/// itself.
Json tools_json(const experiments::Fault& fault);

/// A program that a verb starts from: a bundled subject, or a version of a fault.
struct Original {
  std::string id;
  program::Program program;
  program::ProgramSpace space;  ///< with its keys; its base need not be the program
  std::filesystem::path file;
};
/// The one that the first word names, in the version of --version. `for_tool`: see tool_version().
Original load_original(const Arguments& arguments, bool for_tool = false);

/// Jobs of one verb, trained in parallel; results in the order of the jobs. Stops as run_all does.
/// `observers`: one for each job, or none. `trained` is called when a job has ended, from the
/// thread that trained it, before `done`.
std::vector<training::ReplicaResult> train_all(
    training::LocalTrainer& trainer, const std::vector<training::TrainingJob>& jobs, int workers,
    const std::function<void(const Tally& trainings)>& done = {},
    const std::vector<training::Observer*>& observers = {},
    const std::function<void(std::size_t job, const training::ReplicaResult& result)>& trained =
        {});

/// Set by SIGINT, SIGTERM and SIGUSR2, Slurm's warning, once catch_signals() was called. A second
/// SIGINT or SIGTERM ends the process at once, unless it is a rank of an MPI job: there what
/// started the job may send one more than once, and sees to the end.
const std::atomic<bool>& stop_requested();
void catch_signals(bool end_at_second = true);
/// Until then, and in verbs that have nothing to save, each of these signals ends the process with
/// Exit::kInterrupted.
void end_on_signals();
/// Throws Error(kInterrupted) once a stop was requested.
void require_not_stopped();

/// `growing`: more than the total may be needed.
ProgressState progress_of(const Tally& tally, const std::string& unit, bool growing = false);
/// What a search's line of progress says; `budget`: of --budget-evaluations.
ProgressState progress_of(const search::Progress& progress,
                          std::optional<std::int64_t> budget = {});

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
std::optional<training::ReplicaResult> train_isolated(const training::TrainingJob& job,
                                                      const training::TrainerOptions& options);

}  // namespace neutra::cli
