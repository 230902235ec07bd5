#include <iostream>
#include <sstream>

#include "cli/context.h"
#include "cli/progress_line.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "evaluators/result_table.h"
#include "experiments/batch.h"
#include "fl_adapters/process.h"
#include "program/error.h"
#include "search/search.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

std::vector<BatchState> states(const Arguments& arguments) {
  return batch_states({arguments.positional.begin(), arguments.positional.end()});
}

/// For programs: numbers in one unit, words that don't change.
ResultTable search_table(const std::vector<BatchState>& states) {
  ResultTable table{"searches",
                    "Searches and how far they are",
                    {{"fault", "fault"},
                     {"state", "state"},
                     {"nodes", "programs"},
                     {"alternatives", "repairs"},
                     {"evaluations", "evaluations"},
                     {"evaluations_an_hour", "an hour", "", 0},
                     {"hours", "hours", "", 2},
                     {"hours_left", "hours left", "", 2},
                     {"budget_used", "budget used", "", 2},
                     {"note", "note"},
                     {"store", "store"}},
                    {}};
  const auto number = [](std::int64_t value) { return Cell(static_cast<double>(value)); };
  const auto hours = [](const std::optional<double>& seconds) {
    return seconds ? Cell(*seconds / 3600) : Cell();
  };
  for (const BatchState& s : states) {
    table.rows.push_back(
        {{s.fault, s.state, number(s.nodes), number(s.alternatives), number(s.evaluations),
          s.evaluations_an_hour ? Cell(*s.evaluations_an_hour) : Cell(), hours(s.seconds),
          hours(s.seconds_left), s.budget_used ? Cell(*s.budget_used) : Cell(),
          s.note.empty() ? Cell() : Cell(s.note), s.store.string()}});
  }
  return table;
}

/// For people.
ResultTable shown_table(const std::vector<BatchState>& states) {
  ResultTable table{"searches",
                    "Searches and how far they are",
                    {{"fault", "fault"},
                     {"state", "state"},
                     {"nodes", "programs"},
                     {"alternatives", "repairs"},
                     {"evaluations", "evaluations"},
                     {"rate", "rate"},
                     {"took", "took"},
                     {"left", "left"},
                     {"budget_used", "budget used"},
                     {"note", "note"},
                     {"store", "store"}},
                    {}};
  const auto number = [](std::int64_t value) { return Cell(static_cast<double>(value)); };
  for (const BatchState& s : states) {
    const std::string note = note_text(s);
    table.rows.push_back(
        {{s.fault, s.state, number(s.nodes), number(s.alternatives), number(s.evaluations),
          s.evaluations_an_hour ? Cell(rate_text(*s.evaluations_an_hour / 3600)) : Cell(),
          s.state == "waiting" || s.state == "damaged" ? Cell() : Cell(duration_text(s.seconds)),
          s.seconds_left ? Cell(duration_text(*s.seconds_left)) : Cell(),
          s.budget_used ? Cell(std::to_string(static_cast<int>(100 * *s.budget_used)) + " %")
                        : Cell(),
          note.empty() ? Cell() : Cell(note), s.store.string()}});
  }
  return table;
}

ResultTable table_in(const std::string& format, const std::vector<BatchState>& states) {
  return format == "csv" || format == "json" ? search_table(states) : shown_table(states);
}

/// The user's jobs of neutra that Slurm knows; empty where there is no Slurm.
ResultTable job_table() {
  ResultTable table{"jobs",
                    "Jobs of Slurm",
                    {{"job", "job"},
                     {"name", "name"},
                     {"state", "state"},
                     {"time", "time"},
                     {"time_limit", "limit"},
                     {"where", "where"}},
                    {}};
  constexpr double kPatience = 10;  // seconds: a controller that doesn't answer is no news
  const ProcessResult result =
      run_process({{"squeue", "--me", "--noheader", "--array", "--format=%i|%j|%T|%M|%l|%R"},
                   fs::current_path(),
                   kPatience});
  if (result.end != ProcessEnd::kExited || result.code != 0) return table;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    ResultTable::Row row;
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, '|');) row.cells.emplace_back(field);
    if (row.cells.size() != table.columns.size()) continue;
    if (std::get<std::string>(row.cells[1]).starts_with("neutra-")) table.rows.push_back(row);
  }
  return table;
}

int status(const Arguments& arguments) {
  Report report;
  report.tables.push_back(table_in(chosen_format(arguments), states(arguments)));
  ResultTable jobs = job_table();
  if (!jobs.rows.empty()) report.tables.push_back(std::move(jobs));
  std::cout << find_reporter(chosen_format(arguments))->write(report);
  return 0;
}

int collect(const Arguments& arguments) {
  require_output(arguments);
  Json networks = Json::array();
  std::vector<BatchState> finished, others;
  for (BatchState& state : states(arguments)) {
    (state.state == "finished" ? finished : others).push_back(std::move(state));
  }
  for (const BatchState& state : others) {
    std::cerr << "neutra: " << state.store.string() << " left out: " << state.state
              << (state.note.empty() ? "" : " (" + state.note + ")") << '\n';
  }
  std::string text;
  if (const std::string format = chosen_format(arguments); format == "json") {
    for (const BatchState& state : finished) {
      StoredRun run = read_store(state.store);
      networks.push_back({{"store", state.store.string()},
                          {"header", run.header},
                          {"end", to_string(run.end)},
                          {"counters", to_json(run.counters)},
                          {"network", to_json(run.network)}});
    }
    text = to_text({{"format", "neutra-collection"}, {"version", 1}, {"searches", networks}});
  } else {
    Report report;
    report.tables.push_back(table_in(format, finished));
    text = find_reporter(format)->write(report);
  }
  put_result(arguments, text);
  return static_cast<int>(others.empty() ? Exit::kDone : Exit::kFailed);
}

}  // namespace

Verb status_verb() {
  return {
      "status",
      "tell how far searches are",
      "status FOLDER|STORE... [--format text|csv|json|latex]",
      {{}, 1, 10000, "FOLDER|STORE...", {"text", "csv", "json", "latex"}},
      "Of every store in the folders: waiting, running (and where), stopped (the same command "
      "goes on), finished or\n"
      "damaged; programs, repairs, evaluations, their rate, the time left in the budget and the "
      "part of it that is\nused, all as of the store's last save. With Slurm here: the jobs "
      "that neutra submit started.",
      "  neutra status results\n  neutra status D7.h5 D8.h5 --format json",
      status};
}

Verb collect_verb() {
  return {"collect",
          "put the finished searches of folders into one file",
          "collect FOLDER|STORE... [--format json|text|csv|latex] [-o FILE]",
          {{"output"}, 1, 10000, "FOLDER|STORE...", {"json", "text", "csv", "latex"}},
          "json: every network with what made it, as neutra network --format json has it; else a "
          "table with a row for\n"
          "each search. Unfinished searches are left out and named, and the exit code is 1.",
          "  neutra collect results -o networks.json\n  neutra collect results more/D7.h5 --format "
          "csv",
          collect};
}

}  // namespace neutra::cli
