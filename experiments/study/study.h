#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/parallel.h"
#include "experiments/scores/scoring.h"
#include "experiments/study/file.h"
#include "fl_adapters/tool.h"
#include "search/options.h"

namespace neutra::experiments {

/// How to run a study.
struct StudyOptions {
  std::filesystem::path folder;   ///< of the results; the files kept there: docs/formats/study.md
  std::uint64_t seed = 0;         ///< of searches and runs of tools
  std::vector<std::string> only;  ///< these faults; empty: all
  bool searches_only = false;     ///< ask no tool and score nothing
  std::vector<std::string> forms = {"svg"};  ///< of the figures (experiments/scores/pictures.h)
  /// Workers, stop, provenance, other ranks, ...; `isolated` and `remote_setup` are made for each
  /// fault.
  search::RunOptions search;
  /// Makes the trainer of a fault's programs.
  std::function<std::unique_ptr<training::LocalTrainer>(const Fault&)> trainer;
  /// RunOptions::isolated for a fault.
  std::function<decltype(search::RunOptions::isolated)(const Fault&)> isolated;
  /// RunOptions::remote_setup for a fault.
  std::function<Json(const Fault&, training::LocalTrainer&)> remote_setup;
  std::function<void(const std::string&)> stage;  ///< called with the name of each stage
  /// Told after each run of a tool: runs done, and all runs on this fault. The progress of a search
  /// comes through `search.progress`.
  std::function<void(const Tally& runs)> tool_progress;
};

/// What a study found out.
struct StudyResult {
  /// A fault with its network.
  struct Searched {
    std::string fault, origin;  ///< id; "artificial" or "real"
    search::Network network;
    std::string end;  ///< to_string(SearchEnd), or "recorded"
  };
  /// A fault that can't be studied on this machine.
  struct Skipped {
    std::string fault, reason;  ///< id; in words
  };
  /// Runs of a tool on a fault that ended in one way, not kOk.
  struct Trouble {
    std::string fault, tool;
    fl_adapters::LocalisationStatus status{};
    int runs = 0, of = 0;  ///< runs that ended this way, of this many
    std::string reason;    ///< of the first
  };
  std::vector<Searched> faults;             ///< in the order of the study
  std::vector<Skipped> skipped;             ///< mostly: their data aren't here
  std::vector<evaluators::Answer> answers;  ///< recorded and given here
  ScoreSheet scores;
  std::vector<Trouble> troubles;
};

/// Throws input_error where one of the names is no fault of the study.
void require_faults(const Study& study, const std::vector<std::string>& names);

/// Throws input_error when a result would replace a file that the study reads, or can't be written.
void check_outputs(const Study& study, const std::filesystem::path& folder,
                   const std::vector<std::string>& forms = {"svg"});

/// Runs the searches one after the other, each in parallel, and after each the tools, all their
/// runs in parallel. Started again with the same folder it continues: it trains and asks only what
/// is missing, and repeats failed runs. A fault whose data can't be read is skipped; a failed run
/// of a tool counts as its answer. With searches_only no tool is asked and nothing is scored.
/// Throws what run_search() throws, input_error when no fault is left, and Error(kInterrupted) when
/// stopped.
StudyResult run_study(const Study& study, const StudyOptions& options);

}  // namespace neutra::experiments
