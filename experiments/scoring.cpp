#include "experiments/scoring.h"

#include <algorithm>
#include <functional>

#include "evaluators/statistics.h"
#include "experiments/network_file.h"
#include "program/error.h"

namespace neutra {
namespace {

/// Parameters of the program that the first alternative row starts from.
const Parameters& first_parent(const Network& network) {
  for (const Edge& edge : network.edges) {
    const Node* child = network.find(edge.child);
    const Node* parent = network.find(edge.parent);
    if (child != nullptr && child->alternative && parent != nullptr) return parent->parameters;
  }
  return network.nodes.front().parameters;
}

double average(const std::vector<const ScoreRow*>& rows,
               const std::function<double(const ScoreRow&)>& value) {
  std::vector<double> values;
  for (const ScoreRow* row : rows) values.push_back(value(*row));
  return mean(values);
}

ScoreAverage averages_of(const std::string& of, const std::string& tool,
                         const std::vector<const ScoreRow*>& rows) {
  ScoreAverage result{of, tool, static_cast<int>(rows.size()), {}, {}, {}};
  result.before = {average(rows, [](const ScoreRow& row) { return row.before.recall; }),
                   average(rows, [](const ScoreRow& row) { return row.before.precision; }),
                   average(rows, [](const ScoreRow& row) { return row.before.f; })};
  result.after = {average(rows, [](const ScoreRow& row) { return row.after.score.recall; }),
                  average(rows, [](const ScoreRow& row) { return row.after.score.precision; }),
                  average(rows, [](const ScoreRow& row) { return row.after.score.f; })};
  std::vector<double> recalls;
  for (const ScoreRow* row : rows) recalls.push_back(row->after.score.recall);
  result.recall = bootstrap_mean(recalls);
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
  for (std::size_t i = 0; i < sheet.tools.size(); ++i) {
    for (std::size_t j = i + 1; j < sheet.tools.size(); ++j) {
      std::vector<double> before[2], after[2];
      for (const std::string& fault : sheet.faults) {
        const ScoreRow* first = sheet.find(fault, sheet.tools[i]);
        const ScoreRow* second = sheet.find(fault, sheet.tools[j]);
        if (first == nullptr || second == nullptr) continue;
        before[0].push_back(first->before.recall);
        before[1].push_back(second->before.recall);
        after[0].push_back(first->after.score.recall);
        after[1].push_back(second->after.score.recall);
      }
      if (before[0].size() < 2) continue;
      sheet.comparisons.push_back(
          {sheet.tools[i], sheet.tools[j], static_cast<int>(before[0].size()),
           wilcoxon_signed_rank(before[0], before[1]), wilcoxon_signed_rank(after[0], after[1])});
    }
  }
}

using Row = ResultTable::Row;

constexpr int kScoreDecimals = 2;
constexpr int kProbabilityDecimals = 4;

void add_score(Row& row, const Score& score) {
  for (const double value : {score.recall, score.precision, score.f}) row.cells.push_back(value);
}

void add_score_columns(ResultTable& table, const std::string& key, const std::string& group) {
  table.columns.push_back({key + "recall", "RC", group, kScoreDecimals});
  table.columns.push_back({key + "precision", "PR", group, kScoreDecimals});
  table.columns.push_back({key + "f3", "F3", group, kScoreDecimals});
}

/// Number of ground truths of a fault.
Cell truths_of(const ScoreSheet& sheet, const std::string& fault) {
  for (const ScoreRow& row : sheet.rows) {
    if (row.fault == fault) return static_cast<double>(row.after.truths);
  }
  return {};
}

/// The layout of the study's Tables 8 and 10.
ResultTable wide_table(const ScoreSheet& sheet, bool after) {
  ResultTable table{after ? "after" : "before",
                    after
                        ? "Recall (RC), precision (PR) and F3 over all ground truths (GT: how many)"
                        : "Recall (RC), precision (PR) and F3 with the known fix alone",
                    {{"fault", "Id", "", -1}},
                    {}};
  if (after) table.columns.push_back({"ground_truths", "GT", "", 0});
  for (const std::string& tool : sheet.tools) add_score_columns(table, tool + "_", tool);
  const auto add = [&](const std::string& name, Cell truths, bool rule, const auto& score_of) {
    Row row{{name}, rule};
    if (after) row.cells.push_back(std::move(truths));
    for (const std::string& tool : sheet.tools) {
      if (const auto score = score_of(tool)) {
        add_score(row, *score);
      } else {
        row.cells.resize(row.cells.size() + 3);
      }
    }
    table.rows.push_back(std::move(row));
  };
  for (const std::string& fault : sheet.faults) {
    add(fault, truths_of(sheet, fault), false,
        [&](const std::string& tool) -> std::optional<Score> {
          const ScoreRow* row = sheet.find(fault, tool);
          if (row == nullptr) return std::nullopt;
          return after ? row->after.score : row->before;
        });
  }
  std::string last;
  for (const ScoreAverage& average : sheet.averages) {
    if (average.of == last) continue;
    add(average.of, Cell(), last.empty(), [&](const std::string& tool) -> std::optional<Score> {
      for (const ScoreAverage& other : sheet.averages) {
        if (other.of == average.of && other.tool == tool) return after ? other.after : other.before;
      }
      return std::nullopt;
    });
    last = average.of;
  }
  return table;
}

ResultTable long_table(const ScoreSheet& sheet, bool with_averages) {
  ResultTable table{"scores",
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
  for (const ScoreRow& row : sheet.rows) {
    Row line{{row.fault, row.origin, row.tool, to_string(row.answer)}, false};
    add_score(line, row.before);
    add_score(line, row.after.score);
    line.cells.emplace_back(static_cast<double>(row.after.truths));
    line.cells.emplace_back(static_cast<double>(row.after.attaining));
    table.rows.push_back(std::move(line));
  }
  if (!with_averages) return table;
  for (const ScoreAverage& average : sheet.averages) {
    Row line{{average.of, Cell(), average.tool, Cell()}, false};
    add_score(line, average.before);
    add_score(line, average.after);
    line.cells.resize(table.columns.size());
    table.rows.push_back(std::move(line));
  }
  return table;
}

ResultTable average_table(const ScoreSheet& sheet) {
  ResultTable table{"averages",
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

ResultTable comparison_table(const ScoreSheet& sheet) {
  ResultTable table{"comparisons",
                    "Wilcoxon's signed-rank test on recall, two-sided p",
                    {{"first", "Tool", "", -1},
                     {"second", "against", "", -1},
                     {"faults", "n", "", 0},
                     {"before_p", "known fix", "", kProbabilityDecimals},
                     {"after_p", "all ground truths", "", kProbabilityDecimals}},
                    {}};
  for (const ToolComparison& pair : sheet.comparisons) {
    table.rows.push_back(
        {{pair.first, pair.second, static_cast<double>(pair.faults), pair.before.p, pair.after.p},
         false});
  }
  return table;
}

}  // namespace

FaultSet known_faults(const Fault& fault, Variant variant) {
  const bool has_diff = fault.fixed.has_value();
  const bool declared = !fault.declared.items.empty();
  const bool use_declared = variant == Variant::kAsPublished ? declared : !has_diff;
  return by_type(use_declared ? fault.declared : fault.actual);
}

std::vector<FaultSet> ground_truths(const ScoredFault& scored, Variant variant) {
  const Fault& fault = scored.fault;
  const ProgramSpace& space = fault.space;
  std::vector<FaultSet> truths;
  if (variant == Variant::kAsPublished && fault.fixed_parameters) {
    truths.push_back(
        changed_hyperparameters(space, space.base_parameters(), *fault.fixed_parameters));
  } else {
    truths.push_back(known_faults(fault, variant));
  }
  if (!scored.network || scored.network->nodes.empty()) return truths;
  const Network& network = *scored.network;
  if (variant == Variant::kCorrected) require_root(network, fault, scored.file);
  const Parameters& start = first_parent(network);
  for (const Node* node : network.alternatives()) {
    const std::string place = scored.file + ": node " + std::to_string(node->id);
    const Program program = space.instantiate(node->parameters, place);
    truths.push_back(variant == Variant::kCorrected
                         ? diff(fault.buggy, program)
                         : changed_hyperparameters(space, start, node->parameters));
  }
  return truths;
}

const ScoreRow* ScoreSheet::find(const std::string& fault, const std::string& tool) const {
  const auto found = std::find_if(rows.begin(), rows.end(), [&](const ScoreRow& row) {
    return row.fault == fault && row.tool == tool;
  });
  return found == rows.end() ? nullptr : &*found;
}

ScoreSheet score_answers(const std::vector<ScoredFault>& faults, const std::vector<Answer>& answers,
                         const ScoreOptions& options) {
  ScoreSheet sheet;
  sheet.options = options;
  for (const Answer& answer : answers) {
    if (std::find(sheet.tools.begin(), sheet.tools.end(), answer.tool) == sheet.tools.end()) {
      sheet.tools.push_back(answer.tool);
    }
  }
  for (const ScoredFault& scored : faults) {
    const std::string& id = scored.fault.id;
    sheet.faults.push_back(id);
    const FaultSet known = known_faults(scored.fault, options.variant);
    const std::vector<FaultSet> truths = ground_truths(scored, options.variant);
    for (const std::string& tool : sheet.tools) {
      const auto answer = std::find_if(answers.begin(), answers.end(), [&](const Answer& one) {
        return one.fault == id && one.tool == tool;
      });
      if (answer == answers.end()) {
        sheet.missing.push_back(tool + " on " + id);
        continue;
      }
      ScoreRow row{id, scored.fault.origin, tool, answer->faults, {}, {}};
      row.before = score(row.answer, known, options);
      std::vector<FaultSet> own = truths;
      if (options.variant == Variant::kAsPublished && leaves_layers_out(tool, answers)) {
        std::transform(own.begin(), own.end(), own.begin(), by_type);
      }
      row.after = best_score(row.answer, own, options);
      sheet.rows.push_back(std::move(row));
    }
  }
  if (sheet.faults.size() > 1) {
    add_averages(sheet);
    add_comparisons(sheet);
  }
  return sheet;
}

Layout layout_of(std::string_view format) {
  return format == "csv" ? Layout::kOneTable : format == "json" ? Layout::kLong : Layout::kWide;
}

Report score_report(const ScoreSheet& sheet, Layout layout) {
  Report report;
  report.about = {{"format", "neutra-scores"},
                  {"version", 1},
                  {"variant", to_string(sheet.options.variant)},
                  {"match", to_string(sheet.options.match)},
                  {"unlocated", to_string(sheet.options.unlocated)},
                  {"beta", sheet.options.beta}};
  switch (layout) {
    case Layout::kWide:
      report.tables = {wide_table(sheet, false), wide_table(sheet, true)};
      if (!sheet.comparisons.empty()) report.tables.push_back(comparison_table(sheet));
      break;
    case Layout::kLong:
      report.tables = {long_table(sheet, false), average_table(sheet), comparison_table(sheet)};
      break;
    case Layout::kOneTable:
      report.tables = {long_table(sheet, true)};
      break;
  }
  return report;
}

}  // namespace neutra
