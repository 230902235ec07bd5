#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "search/store.h"

namespace neutra::experiments {

/// An array job of Slurm.
struct BatchJob {
  std::string id;                   ///< as sbatch told it
  std::vector<std::string> faults;  ///< by element
};

/// The searches of a study as jobs of a batch system, one for each fault
/// (docs/howto/submit_a_study.md).
struct SearchBatch {
  std::string name;                  ///< of the study
  std::vector<std::string> faults;   ///< that are searched: no recorded networks
  std::vector<std::string> command;  ///< neutra study ... for one of them, without --only
  std::filesystem::path folder;      ///< of the study's results; absolute
  int ranks = 1;                     ///< MPI processes of a job
  int workers = 1;                   ///< trainings at the same time in each
  int attempts = 20;                 ///< starts of a job, the first included
  std::vector<BatchJob> jobs = {};   ///< submitted into the folder so far
};

/// A script for sbatch: an array job with one element for each fault. An element that Slurm ends at
/// its time limit, or that is killed, is requeued until it is through or out of attempts.
std::string slurm_script(const SearchBatch& batch);
/// A script for bash that does the same on this machine, one fault after the other.
std::string local_script(const SearchBatch& batch);

/// A word as sh takes it back.
std::string shell_quoted(const std::string& word);

/// What `neutra status` learns of a batch from its folder: FOLDER/batch.json.
Json to_json(const SearchBatch& batch);
/// Name, faults and jobs of the folder's batch; none: it has no batch. Throws input_error for
/// another kind of file.
std::optional<SearchBatch> read_batch(const std::filesystem::path& folder);

/// One `neutra submit` into a folder, where earlier ones may have been; no other can begin while it
/// lives.
class Submission {
 public:
  /// Makes the folder. Throws input_error where it can't, where the folder's batch is of another
  /// study, or where what would be replaced was not made by neutra submit; failure() where another
  /// process submits into it.
  Submission(std::filesystem::path folder, const std::string& study);

  const std::vector<BatchJob>& earlier_jobs() const { return all_.jobs; }
  /// Writes batch.json, with the faults and jobs of earlier submissions, then batch.sh.
  void write(const SearchBatch& batch, const std::string& script);
  /// Slurm took the faults as this job: how earlier ones ended is forgotten.
  void took(const BatchJob& job);
  /// What this process becomes by exec goes on keeping others out, until it and its children end.
  void keep_over_exec();

 private:
  std::filesystem::path folder_;
  search::StoreLock lock_;
  SearchBatch all_;
};
/// The script in there.
std::filesystem::path batch_script(const std::filesystem::path& folder);

/// An element of an array job, as squeue tells it.
struct QueuedElement {
  std::string id;  ///< "13_2", as scancel takes it
  std::string fault, state, time, time_limit, where;
};
/// Those elements of the jobs that are in Slurm's queue; nullopt where squeue doesn't say.
std::optional<std::vector<QueuedElement>> queued_elements(const std::vector<BatchJob>& jobs);

/// One search in a folder.
struct BatchState {
  std::string fault;
  std::filesystem::path store;
  /// "waiting" (no store yet, and no job that gave up), "running" (a process writes it), "stopped"
  /// (goes on when started again), "finished", "damaged".
  std::string state;
  /// Who runs it, how it ended (a word of SearchEnd), how its job failed, or what is wrong.
  std::string note;
  std::int64_t nodes = 0, alternatives = 0, evaluations = 0;
  double seconds = 0;  ///< that it has taken, resumes included; of a running one: at the last save
  std::optional<double> evaluations_an_hour = {};  ///< at the last save
  std::optional<double> seconds_left = {};         ///< to the end of its budget, at this rate
  std::optional<double> budget_used = {};          ///< part of it, 0 to 1; none: it has no budget
  std::string title = {};                          ///< of a bundled fault: what is wrong
  std::string metric = {};  ///< what programs are compared by; "" where nothing could be read
  bool maximize = true;     ///< is more of it better?
  std::optional<double> buggy =
      {};  ///< mean of the buggy program; none: not evaluated, or diverged
  std::optional<double> level = {};  ///< that a repair reaches
  std::optional<double> best = {};   ///< mean of the best repair
  bool buggy_reaches_level = false;  ///< so a repair need not repair anything
  /// The last save of a running search: what is told of it is as of then.
  std::optional<std::filesystem::file_time_type> saved = {};
};
/// The note as people read it.
std::string note_text(const BatchState& state);
/// Whole seconds since the last save of a running search; none: it doesn't run, or never saved.
std::optional<double> saved_ago(const BatchState& state);
/// Of every store among `paths`, and in the folders among them, those of batch.json that have none
/// yet included; by path. Throws input_error where there is nothing.
std::vector<BatchState> batch_states(const std::vector<std::filesystem::path>& paths);

}  // namespace neutra::experiments
