#include <algorithm>
#include <functional>

#include "evaluators/statistics.h"
#include "experiments/scores/cells.h"
#include "experiments/scores/tables.h"

namespace neutra::experiments {
namespace {

using evaluators::Cell;
using evaluators::ResultTable;
using Row = ResultTable::Row;
using Column = ResultTable::Column;

constexpr const char* kGroups[] = {"artificial", "real", "all"};

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

using ValueOf = std::function<std::optional<double>(const std::string& fault)>;
/// Mean of a value over some faults, nothing where none has it.
Cell mean_over(const std::vector<std::string>& faults, const ValueOf& value_of) {
  std::vector<double> values;
  for (const std::string& fault : faults) {
    if (const auto value = value_of(fault)) values.push_back(*value);
  }
  return values.empty() ? Cell() : Cell(evaluators::mean(values));
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
ResultTable value_by_tool(const ScoreSheet& sheet, const std::string& key, const std::string& title,
                          std::optional<double> ScoreRow::*value, int decimals,
                          const std::vector<Group>& groups) {
  ResultTable table{key, title, {{"fault", "Id", "", -1}}, {}};
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

}  // namespace

ResultTable answer_table(const ScoreSheet& sheet, const std::string& tool) {
  ResultTable table{"answers_" + tool,
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
    table.rows.push_back({{group, Cell(), mean_over(faults, known_on), Cell(),
                           mean_over(faults, matched_on), Cell()},
                          first});
    first = false;
  }
  return table;
}

ResultTable scores_by_tool(const ScoreSheet& sheet, bool after) {
  ResultTable table{
      after ? "after" : "before",
      after ? "Recall (RC), precision (PR) and F3 over all ground truths (GT: how many)"
            : "Recall (RC), precision (PR) and F3 with the known fix alone (#F: its faults)",
      {{"fault", "Id", "", -1}},
      {}};
  table.columns.push_back(after ? Column{"ground_truths", "GT", "", 0}
                                : Column{"faults", "#F", "", 0});
  for (const std::string& tool : sheet.tools) {
    add_score_columns(table, tool + "_", heading(sheet, tool));
  }
  for (const std::string& fault : sheet.faults) {
    Row line{{fault}, false};
    const ScoreRow* any = any_row(sheet, fault);
    line.cells.push_back(any == nullptr ? Cell()
                         : after        ? Cell(static_cast<double>(any->after.truths))
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
    Row line{{of, Cell()}, first};
    if (!add_averages(line, sheet, of, after)) continue;
    table.rows.push_back(std::move(line));
    first = false;
  }
  return table;
}

ResultTable averages_by_tool(const ScoreSheet& sheet) {
  ResultTable table{"averages",
                    "Mean recall (RC), precision (PR) and F3 before and after neutrality analysis",
                    {{"stage", "", "", -1}, {"of", "Faults", "", -1}},
                    {}};
  for (const std::string& tool : sheet.tools) {
    add_score_columns(table, tool + "_", heading(sheet, tool));
  }
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

ResultTable times_by_tool(const ScoreSheet& sheet) {
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

ResultTable stability_by_tool(const ScoreSheet& sheet) {
  std::vector<Group> groups;
  for (const char* of : kGroups) groups.push_back({of, faults_of(sheet, of)});
  return value_by_tool(sheet, "stability", "Share of the runs that gave the most frequent answer",
                       &ScoreRow::stability, kScoreDecimals, groups);
}

}  // namespace neutra::experiments
