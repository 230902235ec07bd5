#include <utility>

#include "experiments/scores/cells.h"
#include "experiments/scores/tables.h"

namespace neutra::experiments {

using evaluators::Cell;
using evaluators::ResultTable;
using Row = ResultTable::Row;

ResultTable rank_table(const ScoreSheet& sheet) {
  ResultTable table{"ranks",
                    "Tools that rank: first right place and average precision (AP)",
                    {{"fault", "Id", "", -1}, {"tool", "Tool", "", -1}},
                    {}};
  for (const auto& [key, group] : {std::pair("before_", "known fix"), {"after_", "all"}}) {
    table.columns.push_back({std::string(key) + "first_rank", "First", group, 0});
    table.columns.push_back({std::string(key) + "average_precision", "AP", group, kScoreDecimals});
  }
  for (const ScoreRow& row : sheet.rows) {
    if (!row.ranks) continue;
    Row line{{row.fault, row.tool}, false};
    for (const evaluators::RankScore& score : {row.ranks->before, row.ranks->after}) {
      line.cells.push_back(score.first > 0 ? Cell(static_cast<double>(score.first)) : Cell());
      line.cells.emplace_back(score.average_precision);
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

ResultTable rank_average_table(const ScoreSheet& sheet) {
  ResultTable table{
      "rank_averages",
      "Tools that rank: share of faults with a right place among the first K (Top@K), "
      "mean reciprocal rank (MRR) and mean average precision (MAP)",
      {{"of", "Faults", "", -1}, {"tool", "Tool", "", -1}, {"faults", "n", "", 0}},
      {}};
  for (const auto& [key, group] : {std::pair("before_", "known fix"), {"after_", "all"}}) {
    for (const auto& [name, heading] : {std::pair("top1", "Top@1"),
                                        {"top5", "Top@5"},
                                        {"top10", "Top@10"},
                                        {"mrr", "MRR"},
                                        {"map", "MAP"}}) {
      table.columns.push_back({std::string(key) + name, heading, group, kScoreDecimals});
    }
  }
  for (const ScoreAverage& average : sheet.averages) {
    if (!average.ranks_before) continue;
    Row line{{average.of, average.tool, static_cast<double>(average.faults)}, false};
    for (const evaluators::RankSummary& ranks : {*average.ranks_before, *average.ranks_after}) {
      for (const double value : {ranks.top1, ranks.top5, ranks.top10, ranks.mrr, ranks.map}) {
        line.cells.emplace_back(value);
      }
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

ResultTable difference_table(const ScoreSheet& sheet) {
  ResultTable table{"differences",
                    "PerformanceDiff: how far a mean lies below that of the reference, in percent",
                    {{"tool", "Tool", "", -1},
                     {"reference", "Reference", "", -1},
                     {"compared", "Compared", "", -1}},
                    {}};
  for (const auto& [key, heading] : {std::pair("recall", "RC"),
                                     {"precision", "PR"},
                                     {"f3", "F3"},
                                     {"mrr", "MRR"},
                                     {"map", "MAP"}}) {
    table.columns.push_back({key, heading, "", kScoreDecimals});
  }
  struct Side {
    const ScoreAverage* average;
    bool after;
    std::string name;
  };
  const auto values = [](const Side& side) -> std::vector<std::optional<double>> {
    const evaluators::Score& score = side.after ? side.average->after : side.average->before;
    const auto& ranks = side.after ? side.average->ranks_after : side.average->ranks_before;
    std::vector<std::optional<double>> list = {score.recall, score.precision, score.f};
    list.push_back(ranks ? std::optional(ranks->mrr) : std::nullopt);
    list.push_back(ranks ? std::optional(ranks->map) : std::nullopt);
    return list;
  };
  for (const std::string& tool : sheet.tools) {
    const ScoreAverage* all = find_average(sheet, "all", tool);
    const ScoreAverage* real = find_average(sheet, "real", tool);
    const ScoreAverage* artificial = find_average(sheet, "artificial", tool);
    const std::pair<Side, Side> pairs[] = {
        {{all, true, "all ground truths"}, {all, false, "known fix"}},
        {{artificial, true, "artificial"}, {real, true, "real"}}};
    for (const auto& [reference, compared] : pairs) {
      if (reference.average == nullptr || compared.average == nullptr) continue;
      Row line{{tool, reference.name, compared.name}, false};
      const auto theirs = values(reference), ours = values(compared);
      for (std::size_t i = 0; i < theirs.size(); ++i) {
        const bool known = theirs[i] && ours[i];
        line.cells.push_back(known ? cell(evaluators::performance_difference(*theirs[i], *ours[i]))
                                   : Cell());
      }
      table.rows.push_back(std::move(line));
    }
  }
  return table;
}

}  // namespace neutra::experiments
