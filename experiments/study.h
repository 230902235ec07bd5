#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "evaluators/answers.h"
#include "evaluators/scores.h"
#include "experiments/catalog.h"
#include "experiments/scoring.h"
#include "fl_adapters/tool.h"
#include "search/options.h"

namespace neutra {

/// A fault of a study and where its network comes from.
struct StudyFault {
  Fault fault;
  SearchConfig search;                           ///< seed and fingerprint are the command's
  std::optional<std::filesystem::path> network;  ///< recorded: read instead of searched
};

/// Faults, tools and how they are scored: a study file (docs/formats/study.md).
struct Study {
  std::string name;
  std::string title;
  std::vector<StudyFault> faults;
  std::vector<Answer> answers;     ///< recorded ones
  std::vector<const Tool*> tools;  ///< asked here
  int runs = 20;                   ///< of each tool that trains; the most frequent answer counts
  ScoreOptions score;
  std::vector<std::filesystem::path> inputs;  ///< files that it reads
};
/// A file, or else the name of a bundled study (experiments/studies). Throws input_error.
std::filesystem::path study_file(const std::string& name);
/// Throws input_error: file, JSON path, what was found, what is allowed.
Study load_study(const std::filesystem::path& file);

/// How to run it.
struct StudyOptions {
  std::filesystem::path folder;  ///< FAULT.h5, .tsv and .dot of each search, answers.csv, scores.*
  std::uint64_t seed = 0;
  RunOptions search;  ///< workers, stop, provenance, ...; `isolated` is made for each fault
  std::function<std::unique_ptr<LocalTrainer>(const Fault&)> trainer;
  std::function<decltype(RunOptions::isolated)(const Fault&)> isolated;
  /// What begins now. A search's progress comes through `search.progress`, that of a tool through
  /// `tool_progress`, with runs done and all runs.
  std::function<void(const std::string&)> stage;
  std::function<void(std::size_t done, std::size_t runs)> tool_progress;
};

/// What a study found out.
struct StudyResult {
  struct Searched {
    std::string fault;
    Network network;
    std::string end;  ///< to_string(SearchEnd), or "recorded"
  };
  std::vector<Searched> faults;
  std::vector<Answer> answers;  ///< recorded and given here
  ScoreSheet scores;
  std::vector<std::string> troubles;  ///< runs of tools that failed or were cut off
};

/// Throws input_error when a result would replace a file that the study reads.
void check_outputs(const Study& study, const std::filesystem::path& folder);

/// Runs the searches and tools one after the other, each in parallel. Started again with the same
/// folder it continues. Throws what run_search() and localise_runs() throw; Error(kInterrupted)
/// when stopped.
StudyResult run_study(const Study& study, const StudyOptions& options);

/// A table on the repairs, then the scores; as one table the scores alone.
Report study_report(const Study& study, const StudyResult& result, Layout layout);

}  // namespace neutra
