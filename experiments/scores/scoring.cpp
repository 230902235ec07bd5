#include "experiments/scores/scoring.h"

#include <algorithm>
#include <functional>

#include "evaluators/bootstrap.h"
#include "experiments/network_file.h"
#include "experiments/scores/line_scores.h"

namespace neutra::experiments {
namespace {

double average(const std::vector<const ScoreRow*>& rows,
               const std::function<double(const ScoreRow&)>& value) {
  std::vector<double> values;
  for (const ScoreRow* row : rows) values.push_back(value(*row));
  return evaluators::mean(values);
}

/// Over the rows that have the value; nullopt where none has.
std::optional<double> average_known(const std::vector<const ScoreRow*>& rows,
                                    std::optional<double> ScoreRow::*value) {
  std::vector<double> values;
  for (const ScoreRow* row : rows) {
    if (row->*value) values.push_back(*(row->*value));
  }
  if (values.empty()) return std::nullopt;
  return evaluators::mean(values);
}

std::optional<evaluators::RankSummary> average_ranks(const std::vector<const ScoreRow*>& rows,
                                                     evaluators::RankScore RankRow::*stage) {
  std::vector<evaluators::RankScore> scores;
  for (const ScoreRow* row : rows) {
    if (row->ranks) scores.push_back((*row->ranks).*stage);
  }
  if (scores.empty()) return std::nullopt;
  return evaluators::summary_of(scores);
}

ScoreAverage averages_of(const std::string& of, const std::string& tool,
                         const std::vector<const ScoreRow*>& rows) {
  ScoreAverage result;
  result.of = of;
  result.tool = tool;
  result.faults = static_cast<int>(rows.size());
  result.before = {average(rows, [](const ScoreRow& row) { return row.before.recall; }),
                   average(rows, [](const ScoreRow& row) { return row.before.precision; }),
                   average(rows, [](const ScoreRow& row) { return row.before.f; })};
  result.after = {average(rows, [](const ScoreRow& row) { return row.after.score.recall; }),
                  average(rows, [](const ScoreRow& row) { return row.after.score.precision; }),
                  average(rows, [](const ScoreRow& row) { return row.after.score.f; })};
  std::vector<double> recalls;
  for (const ScoreRow* row : rows) recalls.push_back(row->after.score.recall);
  result.recall = evaluators::bootstrap_mean(recalls);
  result.ranks_before = average_ranks(rows, &RankRow::before);
  result.ranks_after = average_ranks(rows, &RankRow::after);
  result.seconds = average_known(rows, &ScoreRow::seconds);
  result.stability = average_known(rows, &ScoreRow::stability);
  return result;
}

void add_averages(ScoreSheet& sheet) {
  for (const char* of : {"artificial", "real", "all"}) {
    for (const std::string& tool : sheet.tools) {
      std::vector<const ScoreRow*> rows;
      for (const ScoreRow& row : sheet.rows) {
        const bool in_group = row.origin == of || std::string(of) == "all";
        if (row.tool == tool && in_group) rows.push_back(&row);
      }
      if (!rows.empty()) sheet.averages.push_back(averages_of(of, tool, rows));
    }
  }
}

void add_comparisons(ScoreSheet& sheet) {
  std::vector<std::vector<const ScoreRow*>> rows(sheet.tools.size());  // by tool, then fault
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const std::string& fault : sheet.faults) {
      rows[i].push_back(sheet.find(fault, sheet.tools[i]));
    }
  }
  for (std::size_t i = 0; i < sheet.tools.size(); ++i) {
    for (std::size_t j = i + 1; j < sheet.tools.size(); ++j) {
      std::vector<double> before[2], after[2];
      for (std::size_t f = 0; f < sheet.faults.size(); ++f) {
        const ScoreRow *first = rows[i][f], *second = rows[j][f];
        if (first == nullptr || second == nullptr) continue;
        before[0].push_back(first->before.recall);
        before[1].push_back(second->before.recall);
        after[0].push_back(first->after.score.recall);
        after[1].push_back(second->after.score.recall);
      }
      if (before[0].size() < 2) continue;
      ToolComparison pair;
      pair.first = sheet.tools[i];
      pair.second = sheet.tools[j];
      pair.faults = static_cast<int>(before[0].size());
      pair.before = evaluators::wilcoxon_signed_rank(before[0], before[1]);
      pair.after = evaluators::wilcoxon_signed_rank(after[0], after[1]);
      if (sheet.order) {
        pair.before_nemenyi = evaluators::nemenyi_p(sheet.order->before, i, j);
        pair.after_nemenyi = evaluators::nemenyi_p(sheet.order->after, i, j);
      }
      sheet.comparisons.push_back(std::move(pair));
    }
  }
  std::vector<double> before, after;
  for (const ToolComparison& pair : sheet.comparisons) {
    before.push_back(pair.before.p);
    after.push_back(pair.after.p);
  }
  const std::vector<double> before_holm = evaluators::holm(before),
                            after_holm = evaluators::holm(after);
  for (std::size_t i = 0; i < sheet.comparisons.size(); ++i) {
    sheet.comparisons[i].before_holm = before_holm[i];
    sheet.comparisons[i].after_holm = after_holm[i];
  }
}

void add_order(ScoreSheet& sheet) {
  constexpr std::size_t kLeastTools = 3, kLeastFaults = 2;
  std::vector<std::vector<double>> before(sheet.tools.size()), after(sheet.tools.size());
  for (const std::string& fault : sheet.faults) {
    std::vector<const ScoreRow*> rows;
    for (const std::string& tool : sheet.tools) rows.push_back(sheet.find(fault, tool));
    if (std::find(rows.begin(), rows.end(), nullptr) != rows.end()) continue;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      before[i].push_back(rows[i]->before.recall);
      after[i].push_back(rows[i]->after.score.recall);
    }
  }
  if (sheet.tools.size() < kLeastTools || before.front().size() < kLeastFaults) return;
  sheet.order = {evaluators::friedman(before), evaluators::friedman(after)};
}

}  // namespace

const ScoreRow* ScoreSheet::find(const std::string& fault, const std::string& tool) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ScoreRow& row) {
    return row.fault == fault && row.tool == tool;
  });
  return found == rows.end() ? nullptr : &*found;
}

namespace {

/// Those that minimising found are listed, but count only where the small ones alone do.
void add_repairs(ScoreSheet& sheet, const ScoredFault& scored, evaluators::Variant variant,
                 const LineScorer* by_line) {
  if (!scored.network || scored.network->nodes.empty()) return;
  const TruthMaker truth_of(scored, variant);
  for (const search::RepairSize& size : repairs_by_size(*scored.network, &scored.fault)) {
    const bool counts = scored.minimal ? counts_as_minimal(size) : size.node->id >= 0;
    sheet.repairs.push_back({scored.fault.id,
                             search::node_id(*size.node),
                             truth_of(*size.node),
                             to_json(size),
                             counts,
                             {}});
    if (by_line != nullptr) sheet.repairs.back().lines = by_line->lines_of_repair(*size.node);
  }
}

bool ranks(const std::string& tool, const std::vector<evaluators::Answer>& answers) {
  return std::any_of(answers.begin(), answers.end(), [&](const evaluators::Answer& answer) {
    return answer.tool == tool && !answer.ranking.empty();
  });
}

}  // namespace

ScoreSheet score_answers(const std::vector<ScoredFault>& faults,
                         const std::vector<evaluators::Answer>& answers,
                         const evaluators::ScoreOptions& options) {
  ScoreSheet sheet;
  sheet.options = options;
  for (const evaluators::Answer& answer : answers) {
    if (std::find(sheet.tools.begin(), sheet.tools.end(), answer.tool) == sheet.tools.end()) {
      sheet.tools.push_back(answer.tool);
    }
  }
  for (const ScoredFault& scored : faults) {
    const std::string& id = scored.fault.id;
    sheet.faults.push_back(id);
    const program::FaultSet known = known_faults(scored.fault, options.variant);
    const std::vector<program::FaultSet> truths = ground_truths(scored, options.variant);
    sheet.minimal = sheet.minimal || scored.minimal;
    std::optional<LineScorer> by_line;
    const bool located = scored.fault.script && options.variant == evaluators::Variant::kCorrected;
    if (located || options.match == evaluators::Match::kLine) by_line.emplace(scored);
    add_repairs(sheet, scored, options.variant, by_line ? &*by_line : nullptr);
    for (const std::string& tool : sheet.tools) {
      const auto answer = std::find_if(
          answers.begin(), answers.end(),
          [&](const evaluators::Answer& one) { return one.fault == id && one.tool == tool; });
      if (answer == answers.end()) {
        sheet.missing.push_back(tool + " on " + id);
        continue;
      }
      ScoreRow row;
      row.fault = id;
      row.origin = scored.fault.origin;
      row.tool = tool;
      row.answer = answer->faults;
      const bool places_only = row.answer.applicable && row.answer.items.empty();
      if (places_only && !answer->ranking.empty()) {
        row.answer = evaluators::top_places(answer->ranking, static_cast<std::size_t>(options.top));
      }
      row.known = known;
      row.seconds = answer->seconds;
      row.stability = answer->stability;
      if (by_line) row.lines = by_line->lines_of_answer(*answer, row.answer);
      if (options.match == evaluators::Match::kLine) {
        row.before = by_line->before(row.lines, options.beta);
        row.after = by_line->after(row.lines, options.beta);
        if (ranks(tool, answers)) {
          const auto [known_rank, best_rank] = by_line->ranks(answer->ranking);
          row.ranks = {known_rank, best_rank};
        }
        sheet.rows.push_back(std::move(row));
        continue;
      }
      row.before = evaluators::score(row.answer, known, options);
      std::vector<program::FaultSet> own = truths;
      if (options.variant == evaluators::Variant::kAsPublished &&
          evaluators::leaves_layers_out(tool, answers)) {
        std::transform(own.begin(), own.end(), own.begin(), evaluators::by_type);
      }
      row.after = evaluators::best_score(row.answer, own, options);
      if (ranks(tool, answers)) {
        row.ranks = {evaluators::rank_score(answer->ranking, known, options),
                     evaluators::best_rank_score(answer->ranking, own, options)};
      }
      sheet.rows.push_back(std::move(row));
    }
  }
  if (sheet.faults.size() > 1) {
    add_averages(sheet);
    add_order(sheet);
    add_comparisons(sheet);
  }
  return sheet;
}

const ScoreAverage* find_average(const ScoreSheet& sheet, const std::string& of,
                                 const std::string& tool) {
  const auto found =
      std::find_if(sheet.averages.begin(), sheet.averages.end(),
                   [&](const ScoreAverage& one) { return one.of == of && one.tool == tool; });
  return found == sheet.averages.end() ? nullptr : &*found;
}

}  // namespace neutra::experiments
