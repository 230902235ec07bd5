#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/json.h"
#include "evaluators/answers.h"
#include "evaluators/rank_scores.h"
#include "evaluators/rank_tests.h"
#include "evaluators/scores.h"
#include "evaluators/statistics.h"
#include "experiments/scores/ground_truths.h"

namespace neutra::experiments {

/// A ranking against the known fix and against all ground truths.
struct RankRow {
  evaluators::RankScore before, after;
};

/// A tool's answer on a fault, scored against the known fix and against all ground truths.
struct ScoreRow {
  std::string fault, origin, tool;  ///< id; "artificial" or "real"; name
  program::FaultSet answer;         ///< of a ranking without faults: its first places
  program::FaultSet known;          ///< the faults of the known fix
  evaluators::Score before;
  evaluators::BestScore after;
  std::optional<RankRow> ranks;     ///< of a tool that ranks: one with a ranking on any fault
  std::optional<double> seconds;    ///< of one localisation
  std::optional<double> stability;  ///< share of the runs that gave this answer
  /// Of a fault that was captured from a script: what the answer names there.
  std::vector<evaluators::CodeLines> lines = {};
};

/// Means of a tool over a group of faults.
struct ScoreAverage {
  std::string of, tool;  ///< group: "artificial", "real" or "all"; name
  int faults = 0;        ///< that the means are over
  evaluators::Score before, after;
  evaluators::Interval recall;  ///< 95 % bootstrap interval of recall after
  std::optional<evaluators::RankSummary> ranks_before, ranks_after;  ///< of a tool that ranks
  std::optional<double> seconds, stability;                          ///< where known
};

/// Two tools on the faults that both answered: signed-rank tests on recall.
struct ToolComparison {
  std::string first, second;  ///< names of the tools
  int faults = 0;             ///< that both answered
  evaluators::RankTest before, after;
  double before_holm = 1, after_holm = 1;  ///< p adjusted for all pairs of tools
  /// Nemenyi's p, where the sheet has an order.
  std::optional<double> before_nemenyi, after_nemenyi;
};

/// All tools on the faults that each of them answered: Friedman's test on recall. Treatments are in
/// the order of the sheet's tools.
struct ToolOrder {
  evaluators::FriedmanTest before, after;
};

/// A repair of a network that was scored against.
struct ScoredRepair {
  std::string fault;  ///< id
  Json node;          ///< id
  program::FaultSet faults;
  Json size;                                      ///< to_json(RepairSize)
  bool counts = true;                             ///< it is one of the ground truths
  std::vector<evaluators::CodeLines> lines = {};  ///< of its change, likewise
};

/// All scores of some tools on some faults.
struct ScoreSheet {
  evaluators::ScoreOptions options;
  bool minimal = false;                     ///< of some fault only the small repairs count
  std::vector<ScoredRepair> repairs;        ///< by fault, small ones first
  std::vector<std::string> faults, tools;   ///< in the order of the faults, of the answers
  std::set<std::string> recorded;           ///< tools whose answers were read, not asked for
  std::vector<ScoreRow> rows;               ///< by fault, then tool
  std::vector<ScoreAverage> averages;       ///< for two faults and more
  std::vector<ToolComparison> comparisons;  ///< for two faults and two tools and more
  std::optional<ToolOrder> order;    ///< for three tools and two faults that all answered, and more
  std::vector<std::string> missing;  ///< "TOOL on FAULT": no answer in the file
  /// The row of a fault and a tool; nullptr: there is none.
  const ScoreRow* find(const std::string& fault, const std::string& tool) const;
};

/// Scores every tool of `answers` on every fault (docs/methods/scores.md). A fault is known in the
/// answers by its id. Throws input_error where Match::kLine finds a fault without a script, and
/// what ground_truths() throws.
ScoreSheet score_answers(const std::vector<ScoredFault>& faults,
                         const std::vector<evaluators::Answer>& answers,
                         const evaluators::ScoreOptions& options);

/// The mean of a group ("artificial", "real", "all"), nullptr where the sheet has none.
const ScoreAverage* find_average(const ScoreSheet& sheet, const std::string& of,
                                 const std::string& tool);

}  // namespace neutra::experiments
