#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/descriptor.h"
#include "base/json.h"
#include "evaluators/answers.h"
#include "experiments/catalog.h"
#include "fl_adapters/tool.h"

namespace neutra::experiments {

/// A tool of a study and how it is asked.
struct StudyTool {
  const fl_adapters::Tool* tool = nullptr;  ///< of the registry, or loaded for good
  int runs = 20;                            ///< of a tool that trains
  double time_limit = 0;                    ///< seconds of one run; 0: none
  std::uint64_t memory_limit = 0;           ///< bytes of one run; 0: none
  fl_adapters::ToolVariant variant = fl_adapters::ToolVariant::kAsPublished;
};

/// Runs of tools that are done, so that a study that goes on asks no tool twice: a JSON line for
/// each run (docs/formats/study.md).
class RunJournal {
 public:
  /// Opens or makes `file` and reads it. A last line without an end (the process died) is cut off.
  /// Throws input_error for a file that is none of these, failure() when another study writes to it
  /// or the machine refuses.
  explicit RunJournal(const std::filesystem::path& file);
  RunJournal(const RunJournal&) = delete;
  RunJournal& operator=(const RunJournal&) = delete;

  /// The run of this key, if it is done. The key is an object: everything that the run depends on.
  std::optional<fl_adapters::Localisation> find(const Json& key) const;
  /// Thread safe; the line is on the disk when this returns. Throws failure().
  void add(const Json& key, const fl_adapters::Localisation& run);

 private:
  void append(const std::string& line);
  std::filesystem::path file_;
  Descriptor descriptor_;
  mutable std::mutex mutex_;
  std::map<std::string, Json> runs_;  ///< by the text of the key
};

/// A program of a fault, as tools are asked about it.
fl_adapters::FaultyProgram faulty_program(const Fault& fault, const program::Program& program);

/// Runs a tool once; what it throws becomes a failed run with the reason, for one tool must not end
/// a study. Throws Error(kInterrupted) when the context's stop is set, and nothing else.
fl_adapters::Localisation run_guarded(const fl_adapters::Tool& tool,
                                      const fl_adapters::FaultyProgram& faulty,
                                      const fl_adapters::LocaliseContext& context);

/// Several runs as one answer: the most frequent faults, the lines of the script that the tool
/// names with them, the rankings merged, mean seconds of the runs in which the tool could be
/// applied, and how the runs ended. `runs` isn't empty.
evaluators::Answer summary_of_runs(const std::string& fault, const std::string& name,
                                   const fl_adapters::Tool& tool,
                                   const std::vector<fl_adapters::Localisation>& runs);

}  // namespace neutra::experiments
