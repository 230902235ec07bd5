#include "cli/search_states.h"

#include "cli/progress_line.h"
#include "cli/texts.h"

namespace neutra::cli {

std::vector<experiments::BatchState> search_states(const Arguments& arguments) {
  return experiments::batch_states({arguments.positional.begin(), arguments.positional.end()});
}

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

}  // namespace neutra::cli
