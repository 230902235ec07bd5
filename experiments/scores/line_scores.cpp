#include "experiments/scores/line_scores.h"

#include <algorithm>

#include "base/error.h"
#include "experiments/network_file.h"

namespace neutra::experiments {
namespace {

using evaluators::CodeLines;
using Lines = std::vector<CodeLines>;

const Script& script_of(const Fault& fault) {
  if (fault.script) return *fault.script;
  throw input_error(describe(fault.file.string(), "/script",
                             "a fault that was captured from no script",
                             "one of neutra.capture, or --match type, layer"));
}

}  // namespace

bool overlap(const CodeLines& a, const CodeLines& b, const std::string& script) {
  const std::string &of_a = a.file.empty() ? script : a.file,
                    &of_b = b.file.empty() ? script : b.file;
  return of_a == of_b && a.first <= b.last && b.first <= a.last;
}

evaluators::Score line_score(const Lines& answer, const Lines& truth, const std::string& script,
                             double beta) {
  evaluators::Score score;
  if (answer.empty() || truth.empty()) return score;
  for (const CodeLines& ours : answer) {
    score.precision += std::any_of(truth.begin(), truth.end(), [&](const CodeLines& theirs) {
      return overlap(ours, theirs, script);
    });
  }
  score.recall = score.precision > 0 ? 1 : 0;
  score.precision /= static_cast<double>(answer.size());
  score.f = evaluators::f_beta(score.precision, score.recall, beta);
  return score;
}

LineScorer::LineScorer(const ScoredFault& scored)
    : fault_(scored.fault), script_(script_of(scored.fault)), known_(lines_of_fix()) {
  truths_.push_back(known_);
  if (!scored.network || scored.network->nodes.empty()) return;
  require_root(*scored.network, scored.fault, scored.file);
  if (!scored.minimal) {
    for (const search::Node* node : scored.network->alternatives()) {
      truths_.push_back(lines_of_repair(*node));
    }
    return;
  }
  for (const search::RepairSize& size : repairs_by_size(*scored.network, &scored.fault)) {
    if (counts_as_minimal(size)) truths_.push_back(lines_of_repair(*size.node));
  }
}

Lines LineScorer::lines_of_repair(const search::Node& node) const {
  return lines_of(
      places_of_change(script_, fault_.space, fault_.space.base_parameters(), node.parameters));
}

/// By its hyperparameters where it has some, else by its faults.
Lines LineScorer::lines_of_fix() const {
  if (fault_.fixed_parameters) {
    return lines_of(places_of_change(script_, fault_.space, fault_.space.base_parameters(),
                                     *fault_.fixed_parameters));
  }
  return lines_of(
      places_of(script_, fault_.buggy, known_faults(fault_, evaluators::Variant::kCorrected)));
}

Lines LineScorer::lines_of_answer(const evaluators::Answer& answer,
                                  const program::FaultSet& faults) const {
  if (!answer.lines.empty()) return answer.lines;
  return lines_of(places_of(script_, tools_program(fault_), faults));
}

evaluators::Score LineScorer::before(const Lines& answer, double beta) const {
  return line_score(answer, known_, script_.file, beta);
}

evaluators::BestScore LineScorer::after(const Lines& answer, double beta) const {
  std::vector<evaluators::Score> scores;
  for (const Lines& truth : truths_) {
    if (!truth.empty()) scores.push_back(line_score(answer, truth, script_.file, beta));
  }
  return evaluators::best_score(scores);
}

evaluators::RankScore LineScorer::rank(const evaluators::Ranking& ranking,
                                       const Lines& truth) const {
  return evaluators::rank_score(
      ranking, truth.size(), [&](const evaluators::Suspect& suspect, std::size_t thing) {
        program::FaultEntry place{suspect.type, {}};
        if (suspect.layer >= 0) place.layers.insert(suspect.layer);
        const Lines lines = lines_of(
            places_of(script_, tools_program(fault_), std::vector<program::FaultEntry>{place}));
        return std::any_of(lines.begin(), lines.end(), [&](const CodeLines& line) {
          return overlap(line, truth[thing], script_.file);
        });
      });
}

std::pair<evaluators::RankScore, evaluators::RankScore> LineScorer::ranks(
    const evaluators::Ranking& ranking) const {
  std::vector<evaluators::RankScore> scores;
  for (const Lines& truth : truths_) scores.push_back(rank(ranking, truth));
  return {scores.front(), evaluators::best_rank_score(scores)};
}

}  // namespace neutra::experiments
