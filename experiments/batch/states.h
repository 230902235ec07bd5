#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace neutra::experiments {

/// One search in a folder, and how far it is.
struct BatchState {
  std::string fault;            ///< id
  std::filesystem::path store;  ///< its file
  /// "waiting" (no store yet, and no job that gave up), "running" (a process writes it), "stopped"
  /// (goes on when started again), "finished", "damaged".
  std::string state;
  /// Who runs it, how it ended (a word of SearchEnd), how its job failed, or what is wrong.
  std::string note;
  std::int64_t nodes = 0, alternatives = 0, evaluations = 0;  ///< of the network so far
  /// Time that it has taken, resumes included; of a running one: up to the last save.
  double seconds = 0;
  std::optional<double> evaluations_an_hour = {};  ///< up to the last save
  std::optional<double> seconds_left = {};         ///< to the end of its budget, at this rate
  std::optional<double> budget_used = {};          ///< share of it, 0 to 1; none: it has no budget
  std::string title = {};                          ///< of a bundled fault: what is wrong
  std::string metric = {};  ///< what programs are compared by; "" where nothing could be read
  bool maximize = true;     ///< is more of it better?
  /// Mean of the buggy program; none: not evaluated, or diverged.
  std::optional<double> buggy = {};
  std::optional<double> level = {};  ///< mean from which on a program is a repair
  std::optional<double> best = {};   ///< mean of the best repair
  bool buggy_reaches_level = false;  ///< so a repair need not repair anything
  /// The last save of a running search: what is told of it is as of then.
  std::optional<std::filesystem::file_time_type> saved = {};
};
/// The note as people read it.
std::string note_text(const BatchState& state);
/// Whole seconds since the last save of a running search; none: it doesn't run, or never saved.
std::optional<double> saved_ago(const BatchState& state);

/// The state of every search among `paths`, which are stores and folders, sorted by path. Of a
/// folder: its stores, and the faults of its batch.json that have no store yet. Throws input_error
/// for a folder without either, and for a file that is no store.
std::vector<BatchState> batch_states(const std::vector<std::filesystem::path>& paths);

}  // namespace neutra::experiments
