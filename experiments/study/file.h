#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "evaluators/answers.h"
#include "evaluators/scores.h"
#include "experiments/catalog.h"
#include "experiments/tool_runs.h"
#include "search/options.h"

namespace neutra::experiments {

/// A fault of a study and where its network comes from.
struct StudyFault {
  Fault fault;
  search::SearchConfig search;                   ///< seed and fingerprint are set by the command
  std::optional<std::filesystem::path> network;  ///< recorded: read instead of searched
};

/// Faults, tools and how they are scored: a study file (docs/formats/study.md).
struct Study {
  std::string name;                         ///< part of names of files
  std::string title;                        ///< in words
  std::vector<StudyFault> faults;           ///< in the order of the file
  std::vector<evaluators::Answer> answers;  ///< recorded earlier
  std::vector<StudyTool> tools;             ///< that this run asks
  evaluators::ScoreOptions score;
  std::vector<std::filesystem::path> inputs;  ///< files that it reads
};

/// Names of the bundled studies, sorted.
std::vector<std::string> bundled_studies();
/// The file of a study: `name` is a file, or else the name of a bundled study
/// (experiments/studies). Throws input_error where it is neither.
std::filesystem::path study_file(const std::string& name);
/// Reads a study file. `quick`: with the changes of the file's own `quick`. Throws input_error:
/// file, JSON path, what was found, what is allowed.
Study load_study(const std::filesystem::path& file, bool quick = false);
/// The name of the answers that neutra obtained from a tool ("umlaut-native"), which tells them
/// from the recorded answers of the tool that it stands for.
std::string name_here(const fl_adapters::Tool& tool);

}  // namespace neutra::experiments
