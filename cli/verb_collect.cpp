#include <iostream>

#include "cli/outputs.h"
#include "cli/search_states.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "search/store_reader.h"

namespace neutra::cli {
namespace {

/// Finished searches.
struct Collection {
  std::vector<experiments::BatchState> searches;
};

std::string form_of(const Collection& collection, const std::string& form) {
  if (form != "json") {
    evaluators::Report report;
    report.tables.push_back(search_table(collection.searches, form));
    return written(report, form);
  }
  Json networks = Json::array();
  for (const experiments::BatchState& state : collection.searches) {
    const search::StoredRun run = search::read_store(state.store);
    networks.push_back({{"store", state.store.string()},
                        {"header", run.header},
                        {"end", to_string(run.end)},
                        {"counters", to_json(run.counters)},
                        {"network", to_json(run.network)}});
  }
  return to_text(
      {{"format", "neutra-collection"}, {"version", 1}, {"searches", std::move(networks)}});
}

Result run(const Arguments& arguments) {
  require_output(arguments);
  Collection finished;
  bool all = true;
  for (experiments::BatchState& state : search_states(arguments)) {
    if (state.state == "finished") {
      finished.searches.push_back(std::move(state));
      continue;
    }
    all = false;
    std::cerr << "neutra: " << state.store.string() << " left out: " << state.state
              << (state.note.empty() ? "" : " (" + state.note + ")") << '\n';
  }
  return output_of(std::move(finished), arguments, all ? Exit::kDone : Exit::kFailed);
}

}  // namespace

Verb collect_verb() {
  return {.name = "collect",
          .summary = "put the finished searches of folders into one file",
          .synopsis = "collect FOLDER|STORE... [--format json|text|csv|latex] [-o FILE]",
          .options = {.names = {"output"},
                      .least_positional = 1,
                      .most_positional = 10000,
                      .positional_name = "FOLDER|STORE...",
                      .formats = {"json", "text", "csv", "latex"}},
          .description =
              "json: every network with what made it, as neutra network --format json has it; else "
              "a table with a row for\n"
              "each search. Unfinished searches are left out and named, and the exit code is 1.",
          .example =
              "  neutra collect results -o networks.json\n"
              "  neutra collect results more/D7.h5 --format csv",
          .run = run};
}

}  // namespace neutra::cli
