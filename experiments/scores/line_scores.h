#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "evaluators/answers.h"
#include "evaluators/rank_scores.h"
#include "evaluators/scores.h"
#include "experiments/scores/ground_truths.h"
#include "experiments/script_lines.h"

namespace neutra::experiments {

/// Scores of answers by the lines of the script that a fault was captured from
/// (docs/methods/scores.md, "By line"): an answer is right when one of its lines is a line of a
/// repair's change.
class LineScorer {
 public:
  /// Throws input_error for a fault without a script, and what ground_truths() throws.
  explicit LineScorer(const ScoredFault& scored);

  /// What an answer names: the lines that the tool itself says, else those of its faults.
  /// `faults`: of a ranking without faults its first places.
  std::vector<evaluators::CodeLines> lines_of_answer(const evaluators::Answer& answer,
                                                     const program::FaultSet& faults) const;
  /// Against the known fix; all 0 where none is known, or it has no line.
  evaluators::Score before(const std::vector<evaluators::CodeLines>& answer, double beta) const;
  /// Against the known fix and all repairs. Those without a line are passed over.
  evaluators::BestScore after(const std::vector<evaluators::CodeLines>& answer, double beta) const;
  /// Of a ranking, whose places have the lines of their layers and faults: against the known fix,
  /// and against all.
  std::pair<evaluators::RankScore, evaluators::RankScore> ranks(
      const evaluators::Ranking& ranking) const;
  /// Lines of the change of a repair, as the sheet lists it.
  std::vector<evaluators::CodeLines> lines_of_repair(const search::Node& node) const;

 private:
  using Lines = std::vector<evaluators::CodeLines>;

  Lines lines_of_fix() const;
  evaluators::RankScore rank(const evaluators::Ranking& ranking, const Lines& truth) const;

  const Fault& fault_;
  const Script& script_;
  Lines known_;
  std::vector<Lines> truths_;  ///< the known fix, then the repairs
};

/// Do two have a line in common? A line without a file is one of `script`.
bool overlap(const evaluators::CodeLines& a, const evaluators::CodeLines& b,
             const std::string& script);

/// Recall 1 if any line of an answer is one of the truth's, precision the share of its entries
/// that are. 0 where either is empty.
evaluators::Score line_score(const std::vector<evaluators::CodeLines>& answer,
                             const std::vector<evaluators::CodeLines>& truth,
                             const std::string& script, double beta);

}  // namespace neutra::experiments
