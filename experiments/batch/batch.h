#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/file_lock.h"
#include "base/json.h"

namespace neutra::experiments {

/// The folder of logs in that of a study's results.
inline constexpr const char* kBatchLogs = "logs";
/// Ending of the file in there, FAULT.end, in which a job that gave up leaves one line for
/// `neutra status`.
inline constexpr const char* kBatchEnding = ".end";

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
  /// Variables that jobs of Slurm start with, values by name, whatever sbatch hands on.
  std::map<std::string, std::string> environment = {};
};

/// FOLDER/batch.json: what `neutra status` learns of a batch from its folder.
Json to_json(const SearchBatch& batch);
/// Name, faults and jobs of the batch in a folder; nullopt: there is none. Throws input_error for
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

  /// The jobs of earlier submissions into the folder.
  const std::vector<BatchJob>& earlier_jobs() const { return all_.jobs; }
  /// Writes batch.json, with the faults and jobs of earlier submissions, then batch.sh.
  void write(const SearchBatch& batch, const std::string& script);
  /// Adds a job that Slurm took, and forgets how earlier jobs of its faults ended.
  void took(const BatchJob& job);
  /// Keeps others out also after an exec of this process, until it and its children end.
  void keep_over_exec();

 private:
  std::filesystem::path folder_;
  FileLock lock_;
  SearchBatch all_;
};
/// FOLDER/batch.sh, the script that a submission writes.
std::filesystem::path batch_script(const std::filesystem::path& folder);

/// An element of an array job, as squeue tells it.
struct QueuedElement {
  std::string id;                       ///< "13_2", as scancel takes it
  std::string fault;                    ///< that it searches
  std::string state, time, time_limit;  ///< "RUNNING", "1:02:03", "2-00:00:00"
  std::string where;                    ///< the nodes that it runs on, or why it waits
};
/// The elements of these jobs that are in Slurm's queue; nullopt where squeue fails or takes more
/// than 10 seconds.
std::optional<std::vector<QueuedElement>> queued_elements(const std::vector<BatchJob>& jobs);

}  // namespace neutra::experiments
