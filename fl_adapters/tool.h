#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "evaluators/answers.h"
#include "evaluators/ranking.h"
#include "program/faults.h"
#include "training/local_trainer.h"

namespace neutra::fl_adapters {

/// Where a tool's answers come from.
enum class ToolKind {
  kNative,    ///< a detector in this room, after the tool's public behaviour
  kExternal,  ///< the tool itself, run as a command
  kRecorded   ///< answers that the tool gave earlier, looked up by fault
};
std::string_view to_string(ToolKind kind);  ///< "native", "external", "recorded"

/// What a run of a tool takes.
enum class ToolNeed { kProgram, kSource, kTraining, kCommand };
/// "program", "source", "training run", "external command"
std::string_view to_string(ToolNeed need);

/// What a developer learns from a message (Humbatova et al., 2025, section 5.5).
enum class Actionability {
  kNone,      ///< a symptom: neither place nor change
  kLocation,  ///< the place: a layer, a hyperparameter or the data
  kFix        ///< the change to make
};
std::string_view to_string(Actionability actionability);  ///< "none", "location", "fix"

/// Tools have defects that are part of their published results.
enum class ToolVariant {
  kAsPublished,  ///< defects included
  kRepaired      ///< known defects fixed (docs/methods/NAME.md lists them)
};

/// What the numbers of a message count, and when a message without numbers was given.
enum class Said {
  kInEpochs,      ///< epochs of the program's training; none: before it
  kInIterations,  ///< iterations of a training of the tool's own on a few rows; none: before it
  kAfterTraining  ///< said after the training or trainings that the tool watched
};
std::string_view to_string(Said said);  ///< "epochs", "iterations", "after training"

/// One thing that a tool says about a program.
struct ToolMessage {
  std::string code;      ///< the tool's own id of the message
  std::string severity;  ///< the tool's word
  std::string text;      ///< the tool's words
  Actionability actionability = Actionability::kNone;
  std::vector<std::int64_t> epochs;  ///< from 0, ascending; what they count says `said`
  Said said = Said::kInEpochs;
  std::set<int> layers;  ///< 0-based over config.layers; empty: none named
  std::string detail;    ///< what was found, at the first epoch
  /// What it adds to the answer: one fault, or a choice of several. Empty: nothing.
  std::vector<program::FaultEntry> faults;
  std::string ignored;  ///< why this message adds no fault although its kind maps to some
  std::vector<evaluators::CodeLines> lines = {};  ///< of the script, where the tool names some
};
/// Adds a message; one with the same code and layers gets its epochs and lines instead.
void record(std::vector<ToolMessage>& messages, ToolMessage message);
/// The answer that the messages make. Faults of one type become one, with all their layers; so do
/// choices between the same types.
program::FaultSet answer_of(const std::vector<ToolMessage>& messages);

/// How a run of a tool ended.
enum class LocalisationStatus {
  kOk,
  kNotApplicable,  ///< the tool cannot work on this program
  kTimeout,        ///< cut off; messages and faults are those until then
  kFailed          ///< the tool or its training broke
};
/// Did a run fail or run out of time?
bool broken(LocalisationStatus status);
std::string_view to_string(LocalisationStatus status);  ///< "ok", "not_applicable", ...

/// What a tool answers.
struct Localisation {
  program::FaultSet faults;     ///< not applicable where the status is kNotApplicable or kFailed
  evaluators::Ranking ranking;  ///< layers before neurons; empty: the tool doesn't rank
  std::vector<ToolMessage> messages;
  double seconds = 0;  ///< wall time
  LocalisationStatus status = LocalisationStatus::kOk;
  std::string reason;  ///< why the status isn't kOk, or what else is to be known of the run
  std::vector<evaluators::CodeLines> lines = {};  ///< those that no message is about
};
/// All lines of the script that a run names, each once.
std::vector<evaluators::CodeLines> lines_named(const Localisation& run);

/// A file of the script that a program was captured from.
struct ScriptSource {
  std::string name;    ///< as the fault file has it: "train.py"
  std::string file;    ///< absolute
  std::string sha256;  ///< of the text that the program was captured from
};

/// The program that a tool is asked about.
struct FaultyProgram {
  std::string id;  ///< of the fault: "D4"
  program::Program program;
  std::string script = {};     ///< absolute name of the script that it was captured from; "": none
  std::string framework = {};  ///< of that script: "PyTorch 2.13.0"
  /// The user's files that made this very program, the script first; empty: none did.
  std::vector<ScriptSource> sources = {};
};

class DataFiles;
class MessageTable;

/// One run of a tool.
struct LocaliseContext {
  training::LocalTrainer* trainer = nullptr;  ///< given to tools that need a training run
  std::uint64_t seed = 0;                     ///< of the study
  int run = 0;                                ///< index of the replica used as the training run
  double time_limit = 0;                      ///< seconds; 0: none
  std::uint64_t memory_limit = 0;             ///< bytes; 0: none
  const std::atomic<bool>* stop = nullptr;    ///< checked in training runs: give up
  ToolVariant variant = ToolVariant::kAsPublished;
  std::filesystem::path model;  ///< the learned model; empty: the bundled one
  std::filesystem::path keep;   ///< external tools' folders are kept in here; empty: they are not
  /// The rows as files, for all runs that share them and no longer; nullptr: each run has its own.
  std::shared_ptr<DataFiles> data_files;
};

/// A fault-localisation tool: one file each, one line in registry.cpp.
struct Tool {
  std::string name;     ///< "umlaut"
  std::string version;  ///< of the tool that it stands for
  ToolKind kind{};
  std::set<ToolNeed> needs;
  std::string description;  ///< one line
  std::string source;       ///< paper and repository
  /// Thread safe; the result depends on the arguments alone. Throws Error for what a user must fix
  /// (a missing data file); anything else that goes wrong is a status.
  std::function<Localisation(const FaultyProgram&, const LocaliseContext&)> localise;
  /// Of a native tool: all that it may say.
  const MessageTable& (*messages)() = nullptr;
  /// Of a native tool: does it read Sequential models alone? Others are not applicable then.
  bool chains_only = false;
  /// Of an external tool: digest of its description and its own files. Empty: it has none.
  std::string digest = {};
};

/// A message with the runs and epochs that had it.
struct HeardMessage {
  const ToolMessage* message;
  std::set<std::int64_t> epochs;
  int runs = 0;
  std::set<evaluators::CodeLines> lines = {};
};
/// When it was said: "before training", "0-3", "iterations 10-190", "after training".
std::string when_said(const HeardMessage& message);
/// Messages of all runs, equal ones together; they point into `runs`.
std::vector<HeardMessage> messages_heard(const std::vector<Localisation>& runs);

/// All runs of one tool on a program.
struct ToolAnswers {
  const Tool* tool = nullptr;
  std::vector<Localisation> runs;

  /// Each answer with the number of runs that gave it, the most frequent first (ties by text).
  std::vector<std::pair<std::string, int>> counted() const;
  /// The most frequent one.
  const program::FaultSet& answer() const;
  double mean_seconds() const;
};

}  // namespace neutra::fl_adapters
