#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "program/json.h"

namespace neutra {

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
/// The names of the faults; empty where the folder has no batch. Throws input_error for another
/// kind of file.
std::vector<std::string> batch_faults(const std::filesystem::path& folder);

/// One search in a folder.
struct BatchState {
  std::string fault;
  std::filesystem::path store;
  /// "waiting" (no store yet), "running" (a process writes it), "stopped" (goes on when started
  /// again), "finished", "damaged".
  std::string state;
  std::string note;  ///< who runs it, how it ended (a word of SearchEnd), or what is wrong
  std::int64_t nodes = 0, alternatives = 0, evaluations = 0;
  double seconds = 0;  ///< that it has taken, resumes included; of a running one: at the last save
  std::optional<double> evaluations_an_hour;  ///< at the last save
  std::optional<double> seconds_left;         ///< to the end of its budget, at this rate
  std::optional<double> budget_used = {};     ///< part of it, 0 to 1; none: it has no budget
  /// The last save of a running search: what is told of it is as of then.
  std::optional<std::filesystem::file_time_type> saved = {};
};
/// The note as people read it.
std::string note_text(const BatchState& state);
/// Of every store among `paths`, and in the folders among them, those of batch.json that have none
/// yet included; by path. Throws input_error where there is nothing.
std::vector<BatchState> batch_states(const std::vector<std::filesystem::path>& paths);

}  // namespace neutra
