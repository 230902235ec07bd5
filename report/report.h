#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluators/training_log.h"
#include "experiments/network_file.h"
#include "experiments/scores/figures.h"
#include "experiments/scores/scoring.h"
#include "report/patches.h"

namespace neutra::report {

/// What tools' answers take and are worth over all faults of a study.
struct StudyTimes {
  std::string study;                         ///< its name
  int faults = 0;                            ///< that it studied
  std::vector<experiments::ToolTime> tools;  ///< means over them
};

/// Reads scores.json, which a study has left in its folder (docs/formats/study.md). Throws
/// input_error with the place of what is wrong or missing.
StudyTimes read_study_times(const std::filesystem::path& folder);

/// The trainings of one program of a network, done again.
struct ProgramCurves {
  std::optional<std::int64_t> node;  ///< nullopt: the known fix, where it is no node
  bool fixed = false;                ///< the known fix
  /// One training.
  struct Replica {
    int replica = 0;
    std::string status;            ///< RunStatus
    double metric = 0;             ///< NaN where there is none
    std::optional<double> stored;  ///< metric of the search; nullopt: it holds none
    evaluators::TrainingCurves curves;
  };
  std::vector<Replica> replicas;
};

/// Training curves for a report.
struct ReportCurves {
  std::vector<ProgramCurves> programs;
  /// Fingerprints (back end, instruction set, versions, data) of the search and of these trainings.
  std::string searched_with, trained_with;
};

/// What a report is made of.
struct ReportInput {
  experiments::NetworkFile network;
  std::string file;                               ///< that it was read from
  std::optional<experiments::ScoreSheet> scores;  ///< of the network's fault alone
  std::string answers;                            ///< file with the answers that are scored
  std::optional<StudyTimes> times;                ///< of the study that the network is from
  std::optional<ReportCurves> curves;
  std::optional<ReportPatches> patches = {};  ///< nullopt: not wanted
  /// Other searches of the same buggy program, each with its file, to be shown beside this one.
  std::vector<std::pair<experiments::NetworkFile, std::string>> compared;
  Json provenance = {};  ///< of the program that writes the report
};

/// The document of a report (docs/formats/report.md). Every text in it is printable(). The network
/// holds what the other forms of a network hold; where the fault is known, each node has its
/// difference to the buggy program.
Json report_document(const ReportInput& input);

/// One HTML file that needs nothing else: the document inside of the page that shows it. No text of
/// the document can end the element that it is in.
std::string report_page(const Json& document);

}  // namespace neutra::report
