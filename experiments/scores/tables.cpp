#include "experiments/scores/tables.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <type_traits>

#include "evaluators/statistics.h"

namespace neutra::experiments {
namespace {

using Row = evaluators::ResultTable::Row;
using Column = evaluators::ResultTable::Column;

constexpr int kScoreDecimals = 2;
constexpr int kProbabilityDecimals = 4;
constexpr int kTimeDecimals = 3;
constexpr const char* kGroups[] = {"artificial", "real", "all"};

evaluators::Cell cell(std::optional<double> value) {
  return value ? evaluators::Cell(*value) : evaluators::Cell();
}
evaluators::Cell whole(std::size_t value) { return static_cast<double>(value); }

void add_score(Row& row, const evaluators::Score& score) {
  for (const double value : {score.recall, score.precision, score.f}) row.cells.push_back(value);
}

/// A tool as the head of a column.
std::string heading(const ScoreSheet& sheet, const std::string& tool) {
  return sheet.recorded.count(tool) != 0 ? tool + " (recorded)" : tool;
}

void add_score_columns(evaluators::ResultTable& table, const std::string& key,
                       const std::string& group) {
  table.columns.push_back({key + "recall", "RC", group, kScoreDecimals});
  table.columns.push_back({key + "precision", "PR", group, kScoreDecimals});
  table.columns.push_back({key + "f3", "F3", group, kScoreDecimals});
}

/// Adds each tool's mean scores over a group of faults; false: no tool has any.
bool add_averages(Row& line, const ScoreSheet& sheet, const char* of, bool after) {
  bool any = false;
  for (const std::string& tool : sheet.tools) {
    const ScoreAverage* average = find_average(sheet, of, tool);
    any = any || average != nullptr;
    if (average != nullptr) {
      add_score(line, after ? average->after : average->before);
    } else {
      line.cells.resize(line.cells.size() + 3);
    }
  }
  return any;
}

bool has_ranks(const ScoreSheet& sheet) {
  return std::any_of(sheet.rows.begin(), sheet.rows.end(),
                     [](const ScoreRow& row) { return row.ranks.has_value(); });
}

bool has(const ScoreSheet& sheet, std::optional<double> ScoreRow::*value) {
  return std::any_of(sheet.rows.begin(), sheet.rows.end(),
                     [&](const ScoreRow& row) { return (row.*value).has_value(); });
}

/// The first row of a fault: what is the same for all tools.
const ScoreRow* any_row(const ScoreSheet& sheet, const std::string& fault) {
  const auto found = std::find_if(sheet.rows.begin(), sheet.rows.end(),
                                  [&](const ScoreRow& row) { return row.fault == fault; });
  return found == sheet.rows.end() ? nullptr : &*found;
}

/// Which items of the known fix an answer names.
std::vector<bool> matches_of(const ScoreRow& row, const evaluators::ScoreOptions& options) {
  const program::FaultSet answer = evaluators::by_type(row.answer);
  std::vector<bool> matches;
  for (const auto& item : row.known.items) {
    matches.push_back(answer.applicable &&
                      std::any_of(answer.items.begin(), answer.items.end(), [&](const auto& ours) {
                        return evaluators::match_weight(ours, item, options) > 0;
                      }));
  }
  return matches;
}

std::size_t matched(const ScoreRow& row, const evaluators::ScoreOptions& options) {
  const std::vector<bool> matches = matches_of(row, options);
  return static_cast<std::size_t>(std::count(matches.begin(), matches.end(), true));
}

/// Mean of a value over some faults, nothing where none has it.
using ValueOf = std::function<std::optional<double>(const std::string& fault)>;
evaluators::Cell mean_over(const std::vector<std::string>& faults, const ValueOf& value_of) {
  std::vector<double> values;
  for (const std::string& fault : faults) {
    if (const auto value = value_of(fault)) values.push_back(*value);
  }
  return values.empty() ? evaluators::Cell() : evaluators::Cell(evaluators::mean(values));
}

std::vector<std::string> faults_of(const ScoreSheet& sheet, const std::string& group) {
  std::vector<std::string> faults;
  for (const std::string& fault : sheet.faults) {
    const ScoreRow* row = any_row(sheet, fault);
    if (row != nullptr && (group == "all" || row->origin == group)) faults.push_back(fault);
  }
  return faults;
}

struct Group {
  std::string name;
  std::vector<std::string> faults;
};

/// One column for each tool; rows of the faults, then means over groups that aren't empty.
evaluators::ResultTable value_by_tool(const ScoreSheet& sheet, const std::string& key,
                                      const std::string& title,
                                      std::optional<double> ScoreRow::*value, int decimals,
                                      const std::vector<Group>& groups) {
  evaluators::ResultTable table{key, title, {{"fault", "Id", "", -1}}, {}};
  const auto value_of = [&](const std::string& tool) -> ValueOf {
    return [&sheet, tool, value](const std::string& fault) {
      const ScoreRow* row = sheet.find(fault, tool);
      return row != nullptr ? row->*value : std::nullopt;
    };
  };
  for (const std::string& tool : sheet.tools) {
    table.columns.push_back({tool, heading(sheet, tool), "", decimals});
  }
  const auto add = [&](const std::string& name, const std::vector<std::string>& faults, bool rule) {
    Row row{{name}, rule};
    for (const std::string& tool : sheet.tools) {
      row.cells.push_back(mean_over(faults, value_of(tool)));
    }
    table.rows.push_back(std::move(row));
  };
  for (const std::string& fault : sheet.faults) add(fault, {fault}, false);
  bool first = true;
  for (const Group& group : groups) {
    if (group.faults.empty()) continue;
    add(group.name, group.faults, first);
    first = false;
  }
  return table;
}

/// What a table sets off in a row after the analysis.
void emphasise(Row& row, std::size_t column, const ScoreRow& scores) {
  const evaluators::Score &before = scores.before, &after = scores.after.score;
  const double values[][2] = {
      {before.recall, after.recall}, {before.precision, after.precision}, {before.f, after.f}};
  for (std::size_t i = 0; i < std::size(values); ++i) {
    const auto [old, now] = values[i];
    if (scores.after.truths <= 1) {
      row.emphasis[column + i] = evaluators::Emphasis::kGrey;
    } else if (now > old) {
      row.emphasis[column + i] = evaluators::Emphasis::kBold;
    } else if (now < old) {
      row.emphasis[column + i] = evaluators::Emphasis::kUnderline;
    }
  }
}

/// A row for each fault and tool; for people a line between faults, and no origin, which groups
/// the means.
evaluators::ResultTable long_table(const ScoreSheet& sheet, bool with_averages,
                                   bool for_people = false) {
  evaluators::ResultTable table{
      "scores",
      "Recall, precision and F3 with the known fix and over all ground truths",
      {{"fault", "Id", "", -1},
       {"origin", "Origin", "", -1},
       {"tool", "Tool", "", -1},
       {"answer", "Answer", "", -1}},
      {}};
  add_score_columns(table, "before_", "known fix");
  add_score_columns(table, "after_", "all");
  table.columns.push_back({"ground_truths", "Ground truths", "", 0});
  table.columns.push_back({"attaining", "Attaining", "", 0});
  const bool ranks = has_ranks(sheet);
  if (ranks) {
    for (const char* stage : {"before", "after"}) {
      table.columns.push_back({std::string(stage) + "_first_rank", "First", stage, 0});
      table.columns.push_back(
          {std::string(stage) + "_average_precision", "AP", stage, kScoreDecimals});
    }
  }
  std::vector<std::optional<double> ScoreRow::*> measured;
  if (has(sheet, &ScoreRow::seconds)) {
    table.columns.push_back({"seconds", "Seconds", "", kTimeDecimals});
    measured.push_back(&ScoreRow::seconds);
  }
  if (has(sheet, &ScoreRow::stability)) {
    table.columns.push_back({"stability", "Stability", "", kScoreDecimals});
    measured.push_back(&ScoreRow::stability);
  }
  for (const ScoreRow& row : sheet.rows) {
    Row line{{row.fault, row.origin, row.tool, to_string(row.answer)}, false};
    add_score(line, row.before);
    add_score(line, row.after.score);
    line.cells.emplace_back(static_cast<double>(row.after.truths));
    line.cells.emplace_back(static_cast<double>(row.after.attaining));
    if (ranks) {
      for (const auto stage : {&RankRow::before, &RankRow::after}) {
        const evaluators::RankScore* score = row.ranks ? &((*row.ranks).*stage) : nullptr;
        line.cells.push_back(score != nullptr && score->first > 0
                                 ? evaluators::Cell(static_cast<double>(score->first))
                                 : evaluators::Cell());
        line.cells.push_back(score != nullptr ? evaluators::Cell(score->average_precision)
                                              : evaluators::Cell());
      }
    }
    for (const auto value : measured) line.cells.push_back(cell(row.*value));
    table.rows.push_back(std::move(line));
  }
  if (for_people) {
    constexpr std::ptrdiff_t kOrigin = 1;
    table.columns.erase(table.columns.begin() + kOrigin);
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
      table.rows[i].cells.erase(table.rows[i].cells.begin() + kOrigin);
      table.rows[i].cells[kOrigin] = heading(sheet, sheet.rows[i].tool);
      table.rows[i].rule_above = i > 0 && sheet.rows[i].fault != sheet.rows[i - 1].fault;
    }
  }
  if (!with_averages) return table;
  for (const ScoreAverage& average : sheet.averages) {
    Row line{{average.of, evaluators::Cell(), average.tool, evaluators::Cell()}, false};
    add_score(line, average.before);
    add_score(line, average.after);
    line.cells.resize(table.columns.size());
    table.rows.push_back(std::move(line));
  }
  return table;
}

evaluators::ResultTable average_table(const ScoreSheet& sheet) {
  evaluators::ResultTable table{
      "averages",
      "Means over faults",
      {{"of", "Faults", "", -1}, {"tool", "Tool", "", -1}, {"faults", "n", "", 0}},
      {}};
  add_score_columns(table, "before_", "known fix");
  add_score_columns(table, "after_", "all");
  table.columns.push_back({"after_recall_low", "RC low", "95 %", kScoreDecimals});
  table.columns.push_back({"after_recall_high", "RC high", "95 %", kScoreDecimals});
  for (const ScoreAverage& average : sheet.averages) {
    Row line{{average.of, average.tool, static_cast<double>(average.faults)}, false};
    add_score(line, average.before);
    add_score(line, average.after);
    line.cells.emplace_back(average.recall.low);
    line.cells.emplace_back(average.recall.high);
    table.rows.push_back(std::move(line));
  }
  return table;
}

}  // namespace

evaluators::ResultTable answer_table(const ScoreSheet& sheet, const std::string& tool) {
  evaluators::ResultTable table{
      "answers_" + tool,
      tool +
          ": faults of the known fix (#F: how many), those that it names (#M), "
          "and its answer",
      {{"fault", "Id", "", -1},
       {"ground_truth", "GT", "", -1},
       {"faults", "#F", "", -1},
       {"matches", "Matches", "", -1},
       {"matched", "#M", "", -1},
       {"output", "Output", "", -1}},
      {}};
  for (Column& column : table.columns) {
    if (column.heading.front() == '#') column.decimals = 1;
  }
  constexpr std::size_t kMatched = 4;
  const auto matched_on = [&](const std::string& fault) -> std::optional<double> {
    const ScoreRow* row = sheet.find(fault, tool);
    if (row == nullptr) return std::nullopt;
    return static_cast<double>(matched(*row, sheet.options));
  };
  const auto known_on = [&](const std::string& fault) -> std::optional<double> {
    const ScoreRow* row = sheet.find(fault, tool);
    if (row == nullptr) return std::nullopt;
    return static_cast<double>(row->known.items.size());
  };
  for (const std::string& fault : sheet.faults) {
    const ScoreRow* row = sheet.find(fault, tool);
    if (row == nullptr) continue;
    std::string marks;
    for (const bool match : matches_of(*row, sheet.options)) {
      marks += (marks.empty() ? "" : ", ") + std::string(match ? "1" : "0");
    }
    const std::size_t own = matched(*row, sheet.options);
    const bool best = std::all_of(sheet.rows.begin(), sheet.rows.end(), [&](const ScoreRow& other) {
      return other.fault != fault || matched(other, sheet.options) <= own;
    });
    table.rows.push_back({{fault, to_string(row->known), whole(row->known.items.size()), marks,
                           whole(own), to_string(row->answer)},
                          false});
    if (best && own > 0) table.rows.back().emphasis[kMatched] = evaluators::Emphasis::kUnderline;
  }
  bool first = true;
  for (const char* group : kGroups) {
    const auto faults = faults_of(sheet, group);
    if (faults.empty()) continue;
    table.rows.push_back({{group, evaluators::Cell(), mean_over(faults, known_on),
                           evaluators::Cell(), mean_over(faults, matched_on), evaluators::Cell()},
                          first});
    first = false;
  }
  return table;
}

evaluators::ResultTable scores_by_tool(const ScoreSheet& sheet, bool after) {
  evaluators::ResultTable table{
      after ? "after" : "before",
      after ? "Recall (RC), precision (PR) and F3 over all ground truths (GT: how many)"
            : "Recall (RC), precision (PR) and F3 with the known fix alone (#F: its faults)",
      {{"fault", "Id", "", -1}},
      {}};
  table.columns.push_back(after ? Column{"ground_truths", "GT", "", 0}
                                : Column{"faults", "#F", "", 0});
  for (const std::string& tool : sheet.tools)
    add_score_columns(table, tool + "_", heading(sheet, tool));
  for (const std::string& fault : sheet.faults) {
    Row line{{fault}, false};
    const ScoreRow* any = any_row(sheet, fault);
    line.cells.push_back(any == nullptr ? evaluators::Cell()
                         : after        ? evaluators::Cell(static_cast<double>(any->after.truths))
                                        : whole(any->known.items.size()));
    for (const std::string& tool : sheet.tools) {
      const std::size_t column = line.cells.size();
      if (const ScoreRow* row = sheet.find(fault, tool)) {
        add_score(line, after ? row->after.score : row->before);
        if (after) emphasise(line, column, *row);
      } else {
        line.cells.resize(column + 3);
      }
    }
    table.rows.push_back(std::move(line));
  }
  bool first = true;
  for (const char* of : kGroups) {
    Row line{{of, evaluators::Cell()}, first};
    if (!add_averages(line, sheet, of, after)) continue;
    table.rows.push_back(std::move(line));
    first = false;
  }
  return table;
}

evaluators::ResultTable averages_by_tool(const ScoreSheet& sheet) {
  evaluators::ResultTable table{
      "averages",
      "Mean recall (RC), precision (PR) and F3 before and after neutrality analysis",
      {{"stage", "", "", -1}, {"of", "Faults", "", -1}},
      {}};
  for (const std::string& tool : sheet.tools)
    add_score_columns(table, tool + "_", heading(sheet, tool));
  for (const bool after : {false, true}) {
    bool rule = after;
    for (const char* of : kGroups) {
      Row line{{after ? "after" : "before", of}, rule};
      if (!add_averages(line, sheet, of, after)) continue;
      table.rows.push_back(std::move(line));
      rule = false;
    }
  }
  return table;
}

evaluators::ResultTable times_by_tool(const ScoreSheet& sheet) {
  Group common{"all tools", {}};
  for (const std::string& fault : sheet.faults) {
    const bool timed = std::all_of(sheet.tools.begin(), sheet.tools.end(), [&](const auto& tool) {
      const ScoreRow* row = sheet.find(fault, tool);
      return row != nullptr && row->answer.applicable && row->seconds;
    });
    if (timed) common.faults.push_back(fault);
  }
  return value_by_tool(sheet, "times", "Seconds of one localisation", &ScoreRow::seconds,
                       kTimeDecimals, {std::move(common), {"all", sheet.faults}});
}

evaluators::ResultTable stability_by_tool(const ScoreSheet& sheet) {
  std::vector<Group> groups;
  for (const char* of : kGroups) groups.push_back({of, faults_of(sheet, of)});
  return value_by_tool(sheet, "stability", "Share of the runs that gave the most frequent answer",
                       &ScoreRow::stability, kScoreDecimals, groups);
}

evaluators::ResultTable comparison_table(const ScoreSheet& sheet) {
  evaluators::ResultTable table{
      "comparisons",
      "Tools compared by recall, two-sided p: Wilcoxon's signed-rank test, the same "
      "adjusted by Holm for all pairs, Nemenyi's test",
      {{"first", "Tool", "", -1}, {"second", "against", "", -1}, {"faults", "n", "", 0}},
      {}};
  for (const auto& [key, group] : {std::pair("before", "known fix"), {"after", "all"}}) {
    for (const auto& [name, heading] :
         {std::pair("_p", "Wilcoxon"), {"_holm", "Holm"}, {"_nemenyi", "Nemenyi"}}) {
      table.columns.push_back({std::string(key) + name, heading, group, kProbabilityDecimals});
    }
  }
  for (const ToolComparison& pair : sheet.comparisons) {
    table.rows.push_back({{pair.first, pair.second, static_cast<double>(pair.faults), pair.before.p,
                           pair.before_holm, cell(pair.before_nemenyi), pair.after.p,
                           pair.after_holm, cell(pair.after_nemenyi)},
                          false});
  }
  return table;
}

evaluators::ResultTable friedman_table(const ScoreSheet& sheet) {
  evaluators::ResultTable table{
      "friedman",
      "Friedman's test on recall over the faults that all tools answered, Iman and "
      "Davenport's F, and the differences of mean ranks that are critical in "
      "Nemenyi's test (CD)",
      {{"stage", "", "", -1},
       {"tools", "Tools", "", 0},
       {"faults", "n", "", 0},
       {"chi_square", "chi-square", "", kScoreDecimals},
       {"p", "p", "", kProbabilityDecimals},
       {"f", "F", "", kScoreDecimals},
       {"f_p", "p of F", "", kProbabilityDecimals},
       {"critical_difference_05", "CD .05", "", kScoreDecimals},
       {"critical_difference_10", "CD .10", "", kScoreDecimals}},
      {}};
  if (!sheet.order) return table;
  for (const auto& [stage, test] :
       {std::pair("known fix", &sheet.order->before), {"all", &sheet.order->after}}) {
    // A difference for fewer faults would say that tools are alike which nothing can tell apart.
    const auto critical = [&tested = *test](double level) {
      if (tested.blocks < evaluators::least_blocks(tested.treatments, level))
        return evaluators::Cell();
      return evaluators::Cell(
          evaluators::nemenyi_critical_difference(tested.treatments, tested.blocks, level));
    };
    table.rows.push_back({{stage, whole(test->treatments), whole(test->blocks), test->chi_square,
                           test->p, test->f, test->f_p, critical(0.05), critical(0.1)},
                          false});
  }
  const evaluators::FriedmanTest& test = sheet.order->before;
  const std::size_t least = evaluators::least_blocks(test.treatments, 0.05);
  if (test.blocks < least) {
    table.title += "; too few faults to tell " + std::to_string(test.treatments) +
                   " tools apart have no CD .05: it takes " + std::to_string(least);
  }
  return table;
}

evaluators::ResultTable mean_rank_table(const ScoreSheet& sheet) {
  evaluators::ResultTable table{
      "mean_ranks",
      "Mean ranks of the tools by recall, the best on a fault has the rank 1",
      {{"tool", "Tool", "", -1},
       {"before", "known fix", "", kScoreDecimals},
       {"after", "all", "", kScoreDecimals}},
      {}};
  for (std::size_t i = 0; sheet.order && i < sheet.tools.size(); ++i) {
    table.rows.push_back(
        {{sheet.tools[i], sheet.order->before.mean_ranks[i], sheet.order->after.mean_ranks[i]},
         false});
  }
  return table;
}

evaluators::ResultTable rank_table(const ScoreSheet& sheet) {
  evaluators::ResultTable table{"ranks",
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
      line.cells.push_back(score.first > 0 ? evaluators::Cell(static_cast<double>(score.first))
                                           : evaluators::Cell());
      line.cells.emplace_back(score.average_precision);
    }
    table.rows.push_back(std::move(line));
  }
  return table;
}

evaluators::ResultTable rank_average_table(const ScoreSheet& sheet) {
  evaluators::ResultTable table{
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

evaluators::ResultTable difference_table(const ScoreSheet& sheet) {
  evaluators::ResultTable table{
      "differences",
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
                                   : evaluators::Cell());
      }
      table.rows.push_back(std::move(line));
    }
  }
  return table;
}

namespace {

/// All pairs, or of more than a screen of them those that differ.
evaluators::ResultTable telling_comparisons(const ScoreSheet& sheet) {
  constexpr std::size_t kScreen = 30;
  constexpr double kSignificant = 0.05;
  if (sheet.comparisons.size() <= kScreen) return comparison_table(sheet);
  ScoreSheet some;
  for (const ToolComparison& pair : sheet.comparisons)
    if (std::min(pair.before_holm, pair.after_holm) < kSignificant)
      some.comparisons.push_back(pair);
  evaluators::ResultTable table = comparison_table(some);
  table.title += "; of " + std::to_string(sheet.comparisons.size()) + " pairs the " +
                 std::to_string(some.comparisons.size()) +
                 " with Holm's p below 0.05 (all: --format json)";
  return table;
}

void add_order(evaluators::Report& report, const ScoreSheet& sheet) {
  if (!sheet.order) return;
  report.tables.push_back(friedman_table(sheet));
  report.tables.push_back(mean_rank_table(sheet));
}

}  // namespace

std::string_view tool_family(std::string_view tool) { return tool.substr(0, tool.find('-')); }

ScoreSheet fold_alike_tools(ScoreSheet sheet, std::vector<AlikeTools>& alike) {
  const auto traits = [&](const std::string& tool) {
    std::vector<std::tuple<std::string, std::vector<double>, std::optional<double>>> all;
    for (const std::string& fault : sheet.faults) {
      const ScoreRow* row = sheet.find(fault, tool);
      if (row == nullptr) {
        all.emplace_back();
        continue;
      }
      std::vector<double> values;
      for (const evaluators::Score& score : {row->before, row->after.score})
        values.insert(values.end(), {score.recall, score.precision, score.f});
      if (row->ranks) {
        for (const evaluators::RankScore& score : {row->ranks->before, row->ranks->after})
          values.insert(values.end(), {static_cast<double>(score.first), score.average_precision});
      }
      all.emplace_back(to_string(row->answer), std::move(values), row->stability);
    }
    return all;
  };
  using Traits = decltype(traits(""));
  std::map<std::pair<std::string_view, Traits>, std::size_t> first_with;  // places in `stay`
  std::vector<std::size_t> stay;
  std::vector<std::vector<std::string>> others;
  for (std::size_t i = 0; i < sheet.tools.size(); ++i) {
    const std::string& tool = sheet.tools[i];
    const auto [known, is_new] =
        first_with.try_emplace({tool_family(tool), traits(tool)}, stay.size());
    if (!is_new) {
      others[known->second].push_back(tool);
      continue;
    }
    stay.push_back(i);
    others.emplace_back();
  }
  std::map<std::string, std::string> names;  // of a tool that stays: as it is shown
  for (std::size_t i = 0; i < stay.size(); ++i) {
    const std::string& tool = sheet.tools[stay[i]];
    names[tool] = tool;
    if (others[i].empty()) continue;
    names[tool] += " (+" + std::to_string(others[i].size()) + ")";
    alike.push_back({names[tool], std::move(others[i])});
  }
  const auto folded = [&](auto& list, auto... name) {
    std::erase_if(list, [&](const auto& entry) { return !(names.contains(entry.*name) && ...); });
    for (auto& entry : list) ((entry.*name = names.at(entry.*name)), ...);
  };
  folded(sheet.rows, &ScoreRow::tool);
  folded(sheet.averages, &ScoreAverage::tool);
  folded(sheet.comparisons, &ToolComparison::first, &ToolComparison::second);
  const auto kept = [&](const auto& list) {
    std::decay_t<decltype(list)> some;
    for (const std::size_t i : stay) some.push_back(list[i]);
    return some;
  };
  if (sheet.order) {
    for (evaluators::FriedmanTest* test : {&sheet.order->before, &sheet.order->after})
      test->mean_ranks = kept(test->mean_ranks);
  }
  std::set<std::string> recorded;
  for (const std::string& tool : sheet.recorded)
    if (names.contains(tool)) recorded.insert(names.at(tool));
  sheet.recorded = std::move(recorded);
  sheet.tools = kept(sheet.tools);
  for (std::string& tool : sheet.tools) tool = names.at(tool);
  return sheet;
}

Layout layout_of(std::string_view format) {
  return format == "csv" ? Layout::kOneTable : format == "json" ? Layout::kLong : Layout::kWide;
}

evaluators::Report score_report(const ScoreSheet& sheet, Layout layout) {
  evaluators::Report report;
  report.about = {{"format", "neutra-scores"},
                  {"version", 1},
                  {"variant", to_string(sheet.options.variant)},
                  {"match", to_string(sheet.options.match)},
                  {"unlocated", to_string(sheet.options.unlocated)},
                  {"beta", sheet.options.beta},
                  {"top", sheet.options.top},
                  {"minimal", sheet.minimal},
                  {"repairs", Json::array()}};
  for (const ScoredRepair& repair : sheet.repairs) {
    Json entry = {{"fault", repair.fault},
                  {"node", repair.node},
                  {"faults", to_string(repair.faults)},
                  {"counts", repair.counts}};
    entry.update(repair.size);
    report.about["repairs"].push_back(std::move(entry));
  }
  switch (layout) {
    case Layout::kWide:
      report.tables = {scores_by_tool(sheet, false), scores_by_tool(sheet, true)};
      if (!sheet.comparisons.empty()) report.tables.push_back(comparison_table(sheet));
      add_order(report, sheet);
      if (has(sheet, &ScoreRow::seconds)) report.tables.push_back(times_by_tool(sheet));
      if (has(sheet, &ScoreRow::stability)) report.tables.push_back(stability_by_tool(sheet));
      break;
    case Layout::kLong:
      report.tables = {long_table(sheet, false), average_table(sheet), comparison_table(sheet)};
      add_order(report, sheet);
      break;
    case Layout::kRows:
      report.tables = {long_table(sheet, false, true)};
      if (!sheet.averages.empty()) report.tables.push_back(average_table(sheet));
      if (evaluators::ResultTable pairs = telling_comparisons(sheet); !pairs.rows.empty())
        report.tables.push_back(std::move(pairs));
      add_order(report, sheet);
      break;
    case Layout::kOneTable:
      report.tables = {long_table(sheet, true)};
      return report;
  }
  if (has_ranks(sheet)) {
    if (layout == Layout::kWide) report.tables.push_back(rank_table(sheet));
    if (!sheet.averages.empty()) report.tables.push_back(rank_average_table(sheet));
  }
  if (!sheet.averages.empty()) report.tables.push_back(difference_table(sheet));
  return report;
}

}  // namespace neutra::experiments
