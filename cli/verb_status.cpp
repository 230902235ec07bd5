#include <iostream>
#include <set>

#include "base/error.h"
#include "cli/outputs.h"
#include "cli/progress_line.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "evaluators/result_table.h"
#include "experiments/batch/batch.h"
#include "experiments/batch/states.h"
#include "search/store_reader.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

std::vector<experiments::BatchState> states(const Arguments& arguments) {
  return experiments::batch_states({arguments.positional.begin(), arguments.positional.end()});
}

/// Programs get numbers in one unit and words that don't change; people get texts.
evaluators::ResultTable search_table(const std::vector<experiments::BatchState>& states,
                                     const std::string& format) {
  const bool numbers = format == "csv" || format == "json";
  evaluators::ResultTable table{"searches", "Searches and how far they are", {}, {}};
  table.columns = {{"fault", "fault"},
                   {"state", "state"},
                   {"nodes", "programs"},
                   {"alternatives", "repairs"},
                   {"best", "best"},
                   {"buggy", "buggy"},
                   {"evaluations", "evaluations"}};
  if (numbers) {
    table.columns.insert(table.columns.end(), {{"evaluations_an_hour", "an hour", "", 0},
                                               {"hours", "hours", "", 2},
                                               {"hours_left", "hours left", "", 2},
                                               {"budget_used", "budget used", "", 2},
                                               {"saved_ago", "saved ago", "", 0}});
  } else {
    table.columns.insert(table.columns.end(), {{"rate", "rate"},
                                               {"took", "took"},
                                               {"left", "left"},
                                               {"budget_used", "budget used"},
                                               {"saved_ago", "as of"}});
  }
  table.columns.insert(table.columns.end(), {{"note", "note"}, {"store", "store"}});

  const auto count = [](std::int64_t value) {
    return evaluators::Cell(static_cast<double>(value));
  };
  const auto cell = [](const std::optional<double>& value, const auto& shown) {
    return value ? evaluators::Cell(shown(*value)) : evaluators::Cell();
  };
  const auto metric = [&](const std::optional<double>& mean) {
    return !mean     ? evaluators::Cell()
           : numbers ? evaluators::Cell(*mean)
                     : evaluators::Cell(rounded(*mean));
  };
  const auto hours = [](double seconds) { return seconds / 3600; };
  for (const experiments::BatchState& s : states) {
    evaluators::ResultTable::Row row{{s.fault, s.state, count(s.nodes), count(s.alternatives),
                                      metric(s.best), metric(s.buggy), count(s.evaluations)}};
    const auto add = [&](std::initializer_list<evaluators::Cell> cells) {
      row.cells.insert(row.cells.end(), cells);
    };
    const std::optional<double> age = experiments::saved_ago(s);
    if (numbers) {
      const auto same = [](double value) { return value; };
      add({cell(s.evaluations_an_hour, same), hours(s.seconds), cell(s.seconds_left, hours),
           cell(s.budget_used, same), cell(age, same)});
    } else {
      const bool began = s.state != "waiting" && s.state != "damaged";
      add({cell(s.evaluations_an_hour, [&](double value) { return rate_text(hours(value)); }),
           began ? evaluators::Cell(duration_text(s.seconds)) : evaluators::Cell(),
           cell(s.seconds_left, duration_text),
           cell(s.budget_used,
                [](double part) { return std::to_string(static_cast<int>(100 * part)) + " %"; }),
           cell(age, [](double seconds) { return duration_text(seconds) + " ago"; })});
    }
    const std::string note = numbers ? s.note : experiments::note_text(s);
    add({note.empty() ? evaluators::Cell() : evaluators::Cell(note), s.store.string()});
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// What Slurm has in its queue for the folders, or for those of the stores; empty where there is no
/// Slurm.
evaluators::ResultTable job_table(const Arguments& arguments) {
  evaluators::ResultTable table{"jobs",
                                "Jobs of Slurm",
                                {{"job", "job"},
                                 {"fault", "fault"},
                                 {"state", "state"},
                                 {"time", "time"},
                                 {"time_limit", "limit"},
                                 {"where", "where"}},
                                {}};
  std::set<fs::path> folders;
  for (const std::string& path : arguments.positional) {
    const fs::path whole = fs::weakly_canonical(path);
    folders.insert(fs::is_directory(whole) ? whole : whole.parent_path());
  }
  std::vector<experiments::BatchJob> jobs;
  for (const fs::path& folder : folders) {
    try {
      const std::optional<experiments::SearchBatch> batch = experiments::read_batch(folder);
      if (batch) jobs.insert(jobs.end(), batch->jobs.begin(), batch->jobs.end());
    } catch (const Error&) {
      // Beside a store there may be any file of that name; that of a folder was read before.
    }
  }
  const auto queued = experiments::queued_elements(jobs);
  if (!queued) std::cerr << "neutra: squeue doesn't say which jobs are in the queue\n";
  for (const experiments::QueuedElement& element :
       queued.value_or(std::vector<experiments::QueuedElement>())) {
    table.rows.push_back({{element.id, element.fault, element.state, element.time,
                           element.time_limit, element.where}});
  }
  return table;
}

int status(const Arguments& arguments) {
  evaluators::Report report;
  report.tables.push_back(search_table(states(arguments), chosen_format(arguments)));
  evaluators::ResultTable jobs = job_table(arguments);
  if (!jobs.rows.empty()) report.tables.push_back(std::move(jobs));
  std::cout << written(report, chosen_format(arguments));
  return 0;
}

int collect(const Arguments& arguments) {
  require_output(arguments);
  Json networks = Json::array();
  std::vector<experiments::BatchState> finished, others;
  for (experiments::BatchState& state : states(arguments)) {
    (state.state == "finished" ? finished : others).push_back(std::move(state));
  }
  for (const experiments::BatchState& state : others) {
    std::cerr << "neutra: " << state.store.string() << " left out: " << state.state
              << (state.note.empty() ? "" : " (" + state.note + ")") << '\n';
  }
  std::string text;
  if (const std::string format = chosen_format(arguments); format == "json") {
    for (const experiments::BatchState& state : finished) {
      search::StoredRun run = search::read_store(state.store);
      networks.push_back({{"store", state.store.string()},
                          {"header", run.header},
                          {"end", to_string(run.end)},
                          {"counters", to_json(run.counters)},
                          {"network", to_json(run.network)}});
    }
    text = to_text({{"format", "neutra-collection"}, {"version", 1}, {"searches", networks}});
  } else {
    evaluators::Report report;
    report.tables.push_back(search_table(finished, format));
    text = written(report, format);
  }
  put_result(arguments, text);
  return static_cast<int>(others.empty() ? Exit::kDone : Exit::kFailed);
}

}  // namespace

Verb status_verb() {
  return {"status",
          "say how far searches are",
          "status FOLDER|STORE... [--format text|csv|json|latex]",
          {{}, 1, 10000, "FOLDER|STORE...", {"text", "csv", "json", "latex"}},
          "Of every store in the folders its state: waiting, running (and where), stopped (the "
          "same command goes on; with how its\n"
          "job failed), finished or damaged; then programs generated, repairs among them, the mean "
          "metric of the best one and of\n"
          "the buggy program, evaluations, their rate, the time left in the budget and the part of "
          "it that is used, all as of the\n"
          "store's last save (of a running search: how long ago). With Slurm here: the elements of "
          "neutra submit's jobs that are\n"
          "in its queue. Exit 0 also where a store is damaged: of one store neutra store check "
          "says so with exit 1.",
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
