#include "experiments/study/tables.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "evaluators/statistics.h"
#include "experiments/scores/figures.h"
#include "experiments/scores/pictures.h"
#include "experiments/scores/tables.h"

namespace neutra::experiments {
namespace {

using evaluators::Cell;
using evaluators::ResultTable;

namespace fs = std::filesystem;
using Row = ResultTable::Row;

ResultTable repair_table(const StudyResult& result) {
  ResultTable repairs{"repairs",
                      "Repairs found: programs at least as good as the known fix",
                      {{"fault", "Id", "", -1},
                       {"metric", "Metric", "", -1},
                       {"buggy", "buggy", "Mean", 3},
                       {"level", "to reach", "Mean", 3},
                       {"best", "best repair", "Mean", 3},
                       {"programs", "Programs", "", 0},
                       {"repairs", "Repairs", "", 0},
                       {"significantly_better", "better", "", 0},
                       {"complexity", "Changes", "", 2},
                       {"end", "End", "", -1}},
                      {}};
  for (const auto& [fault, origin, network, end] : result.faults) {
    const std::vector<const search::Node*> alternatives = network.alternatives();
    Row row{{fault, network.metric}, false};
    row.cells.emplace_back(network.nodes.empty() ? Cell() : Cell(network.nodes.front().mean));
    row.cells.emplace_back(network.ground_truth ? Cell(*network.ground_truth) : Cell());
    const auto worse = [maximize = network.goal == program::Goal::kMaximize](
                           const search::Node* a, const search::Node* b) {
      return maximize ? a->mean < b->mean : a->mean > b->mean;
    };
    const auto best = std::max_element(alternatives.begin(), alternatives.end(), worse);
    row.cells.emplace_back(best == alternatives.end() ? Cell() : Cell((*best)->mean));
    row.cells.emplace_back(static_cast<double>(network.nodes.size()));
    row.cells.emplace_back(static_cast<double>(alternatives.size()));
    row.cells.emplace_back(end == "recorded"
                               ? Cell()
                               : Cell(static_cast<double>(std::count_if(
                                     alternatives.begin(), alternatives.end(),
                                     [](const search::Node* node) { return node->significant; }))));
    const auto figures = search::complexity(network);
    row.cells.emplace_back(figures ? Cell(figures->mean) : Cell());
    row.cells.emplace_back(end);
    repairs.rows.push_back(std::move(row));
  }
  return repairs;
}

/// What a table has room for; standard error has the whole.
std::string first_line(const std::string& reason) {
  return reason.substr(0, reason.find_first_of(";\n"));
}

ResultTable skipped_table(const StudyResult& result) {
  ResultTable table{
      "skipped", "Faults left out", {{"fault", "Id", "", -1}, {"reason", "Reason", "", -1}}, {}};
  for (const auto& [fault, reason] : result.skipped) {
    table.rows.push_back({{fault, first_line(reason)}, false});
  }
  return table;
}

ResultTable trouble_table(const StudyResult& result) {
  ResultTable table{"troubles",
                    "Runs of tools that gave no answer of their own",
                    {{"fault", "Id", "", -1},
                     {"tool", "Tool", "", -1},
                     {"status", "Status", "", -1},
                     {"runs", "Runs", "", 0},
                     {"of", "of", "", 0},
                     {"reason", "Reason", "", -1}},
                    {}};
  for (const auto& [fault, tool, status, runs, of, reason] : result.troubles) {
    table.rows.push_back({{fault, tool, std::string(to_string(status)), static_cast<double>(runs),
                           static_cast<double>(of), first_line(reason)},
                          false});
  }
  return table;
}

/// Table 9. Means of complexity and improvement are over the faults that have them.
ResultTable network_table(const StudyResult& result) {
  ResultTable table{
      "networks",
      "Neutrality networks: programs neutral with their parent, repairs, hyperparameters "
      "in which these differ from the known fix and how many there are, how much "
      "better they are than the known fix",
      {{"fault", "Id", "", -1},
       {"nodes", "Programs", "", 2},
       {"alternatives", "Repairs", "", 2},
       {"complexity", "Complexity", "", 2},
       {"hyperparameters", "of", "", 2},
       {"improvement", "Improvement", "", 3}},
      {}};
  constexpr std::size_t kValues = 5;
  std::vector<std::pair<std::string, std::vector<Cell>>> rows;  // with the fault's origin
  for (const auto& [fault, origin, network, end] : result.faults) {
    const auto figures = search::complexity(network);
    std::vector<Cell> cells = {fault, static_cast<double>(search::drawn_nodes(network).size()),
                               static_cast<double>(network.alternatives().size())};
    cells.emplace_back(figures ? Cell(figures->mean) : Cell());
    cells.emplace_back(figures ? Cell(static_cast<double>(figures->hyperparameters)) : Cell());
    cells.emplace_back(figures && figures->improvement ? Cell(*figures->improvement) : Cell());
    rows.emplace_back(origin, cells);
    table.rows.push_back({std::move(cells), false});
  }
  bool first = true;
  for (const char* group : {"artificial", "real", "all"}) {
    std::vector<std::vector<double>> values(kValues);
    for (const auto& [origin, cells] : rows) {
      if (origin != group && std::string(group) != "all") continue;
      for (std::size_t i = 0; i < kValues; ++i) {
        if (const auto* value = std::get_if<double>(&cells[i + 1])) values[i].push_back(*value);
      }
    }
    if (values.front().empty()) continue;
    Row row{{group}, first};
    for (const auto& list : values) {
      row.cells.push_back(list.empty() ? Cell() : Cell(evaluators::mean(list)));
    }
    table.rows.push_back(std::move(row));
    first = false;
  }
  return table;
}

ResultTable named(ResultTable table, const std::string& key, const std::string& number = "") {
  table.key = key;
  if (!number.empty()) table.title = number + ". " + table.title;
  return table;
}

}  // namespace

evaluators::Report study_report(const Study& study, const StudyResult& result, Layout layout) {
  evaluators::Report report = score_report(result.scores, layout);
  Json about{{"format", "neutra-study-result"}, {"version", 1}, {"study", study.name}};
  for (const auto& [name, value] : report.about.items()) {
    if (name != "format" && name != "version") about[name] = value;
  }
  report.about = std::move(about);
  if (layout == Layout::kOneTable) return report;
  report.tables.insert(report.tables.begin(), repair_table(result));
  if (!result.troubles.empty()) report.tables.push_back(trouble_table(result));
  if (!result.skipped.empty()) report.tables.push_back(skipped_table(result));
  return report;
}

std::vector<ResultTable> study_tables(const StudyResult& result) {
  const ScoreSheet& sheet = result.scores;
  std::vector<ResultTable> tables;
  for (const std::string& tool : sheet.tools) {
    // Tools of answers files may be called anything; the key is a file's name.
    std::string key = tool;
    std::replace_if(
        key.begin(), key.end(),
        [](unsigned char c) { return c <= ' ' || c == '/' || c == '\\' || c == 127; }, '_');
    tables.push_back(named(answer_table(sheet, tool), "table4-7_" + key, "Tables 4 to 7"));
  }
  tables.push_back(named(scores_by_tool(sheet, false), "table8", "Table 8"));
  tables.push_back(named(network_table(result), "table9", "Table 9"));
  tables.push_back(named(scores_by_tool(sheet, true), "table10", "Table 10"));
  tables.push_back(named(averages_by_tool(sheet), "table11", "Table 11"));
  tables.push_back(named(times_by_tool(sheet), "table12", "Table 12"));
  for (ResultTable table :
       {stability_by_tool(sheet), comparison_table(sheet), friedman_table(sheet),
        mean_rank_table(sheet), rank_table(sheet), rank_average_table(sheet),
        difference_table(sheet), trouble_table(result), skipped_table(result)}) {
    if (!table.rows.empty()) tables.push_back(std::move(table));
  }
  return tables;
}

void write_study(const Study& study, const StudyResult& result, const fs::path& folder,
                 const std::vector<std::string>& forms) {
  for (const evaluators::Reporter& reporter : evaluators::reporters()) {
    write_file_atomically(folder / ("scores." + std::string(reporter.ending)),
                          reporter.write(study_report(study, result, layout_of(reporter.name))));
  }
  evaluators::Report all;
  all.tables = study_tables(result);
  write_file_atomically(folder / "tables.txt", evaluators::write_text(all));
  write_file_atomically(folder / "tables.tex", evaluators::write_latex(all));
  std::error_code error;
  fs::create_directories(folder / "tables", error);
  if (error) throw failure(describe((folder / "tables").string(), "", error.message(), ""));
  for (const ResultTable& table : all.tables) {
    write_file_atomically(folder / "tables" / (table.key + ".csv"),
                          evaluators::write_csv({{}, {table}}));
  }
  const auto draw = [&](const std::string& name, const std::string& svg) {
    for (const std::string& form : forms) {
      write_file_atomically(folder / (name + "." + form), picture(svg, form));
    }
  };
  for (const auto& searched : result.faults) {
    draw(searched.fault, network_figure(searched.network));
  }
  draw("figure2", time_figure(result.scores));
  if (result.scores.order) {
    draw("critical_difference", critical_difference_figure(result.scores));
  }
}

}  // namespace neutra::experiments
