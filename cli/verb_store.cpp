#include <iostream>

#include "base/error.h"
#include "base/files.h"
#include "cli/verbs.h"
#include "search/store_check.h"
#include "search/store_reader.h"
#include "search/store_recovery.h"

namespace neutra::cli {
namespace {

int info(const std::filesystem::path& store, bool as_json) {
  const search::StoredRun run = search::read_store(store);
  Json json = run.header;
  json["finished"] = run.finished;
  json["end"] = to_string(run.end);
  json["nodes"] = run.network.nodes.size();
  json["edges"] = run.network.edges.size();
  json["alternatives"] = run.network.alternatives().size();
  json["evaluations"] = run.counters.evaluations;
  json["total_seconds"] = run.counters.total_seconds;
  if (run.minimising) json["minimising"] = to_json(*run.minimising);
  if (as_json) {
    std::cout << to_text(json);
    return 0;
  }
  const auto line = [](const std::string& name, const Json& value) {
    std::cout << name << std::string(name.size() < 26 ? 26 - name.size() : 1, ' ')
              << (value.is_string() ? value.get<std::string>() : value.dump()) << '\n';
  };
  for (const auto& [name, value] : json.items()) {
    if (!value.is_object()) {
      line(name, value);
      continue;
    }
    for (const auto& [inner, detail] : value.items()) line(name + "." + inner, detail);
  }
  return 0;
}

int check(const std::filesystem::path& store, bool as_json) {
  require_no_pipe(store, "a store");
  if (!std::filesystem::exists(store)) search::read_store(store);  // says what is missing
  const auto problems = search::check_store(store);
  if (as_json) {
    std::cout << to_text(
        {{"store", store.string()}, {"sound", problems.empty()}, {"problems", problems}});
  } else if (problems.empty()) {
    std::cout << store.string() << ": sound\n";
  } else {
    for (const auto& problem : problems) std::cout << problem << '\n';
  }
  return static_cast<int>(problems.empty() ? Exit::kDone : Exit::kFailed);
}

/// What was made, and how to go on.
int report(const search::StoreSummary& summary, const std::filesystem::path& made, bool as_json) {
  if (as_json) {
    Json kept = Json::array();
    for (const auto& file : summary.kept) kept.push_back(file.string());
    std::cout << to_text({{"store", made.string()},
                          {"trainings", summary.trainings},
                          {"damaged_bytes", summary.damaged_bytes},
                          {"kept", kept},
                          {"finished", summary.finished},
                          {"command", summary.command}});
    return 0;
  }
  std::cout << made.string() << ": " << summary.trainings << " trainings";
  if (summary.damaged_bytes > 0) {
    std::cout << "; " << summary.damaged_bytes << " bytes of the journal were no whole record";
  }
  std::cout << '\n';
  for (const auto& file : summary.kept)
    std::cout << "the damaged file is " << file.string() << '\n';
  if (summary.finished) {
    std::cout << "its search is finished\n";
  } else {
    std::cout << "its search goes on from them, with --store " << made.string() << ": "
              << summary.command << '\n';
  }
  return 0;
}

int repair(const std::filesystem::path& store, const Arguments& arguments) {
  std::optional<std::filesystem::path> out;
  if (arguments.has("output")) out = arguments.text("output");
  const std::optional<search::StoreSummary> made = search::repair_store(store, out);
  if (made) return report(*made, out.value_or(store), arguments.flag("json"));
  if (arguments.flag("json")) {
    std::cout << to_text({{"store", store.string()}, {"sound", true}});
  } else {
    std::cout << store.string() << ": sound; nothing to repair\n";
  }
  return 0;
}

int merge(const std::vector<std::string>& stores, const Arguments& arguments) {
  if (!arguments.has("output")) {
    throw usage_error("give -o FILE, the store to make");
  }
  const std::filesystem::path out = arguments.text("output");
  return report(search::merge_stores({stores.begin(), stores.end()}, out), out,
                arguments.flag("json"));
}

int run(const Arguments& arguments) {
  const std::string& action = arguments.positional[0];
  const std::vector<std::string> stores(arguments.positional.begin() + 1,
                                        arguments.positional.end());
  const bool makes = action == "repair" || action == "merge";
  if (!makes && arguments.has("output")) {
    throw usage_error("found -o with " + action + "; allowed: with repair and merge");
  }
  if (action == "merge") return merge(stores, arguments);
  if (stores.size() > 1) {
    throw usage_error("found " + std::to_string(stores.size()) + " stores; allowed: one");
  }
  if (action == "info") return info(stores[0], arguments.flag("json"));
  if (action == "check") return check(stores[0], arguments.flag("json"));
  return repair(stores[0], arguments);
}

}  // namespace

Verb store_verb() {
  return {"store",
          "check, repair or merge the stores of searches, or say what they hold",
          "store check|info|repair STORE [-o FILE] [--json] | store merge STORE... -o FILE",
          {{"output"},
           2,
           1000,
           "check|info|merge|repair STORE...",
           {},
           {{"check", "STORE", {{}}},
            {"info", "STORE", {{}}},
            {"merge", "STORE..."},
            {"repair", "STORE"}}},
          "check: digest, structure and journal; exit 1 when something is wrong. info: command, "
          "options, versions, state.\n"
          "repair: a sound store of all whole records of a damaged one, in its place (the damaged "
          "files stay beside it\n"
          "as FILE.damaged) or as -o FILE; a sound one is copied there. merge: one store with the "
          "trainings of several\n"
          "stores of one search. The search goes on from both and trains what is missing.",
          "  neutra store info D7.h5\n  neutra store check D7.h5\n  neutra store repair D7.h5\n"
          "  neutra store merge node1/D7.h5 node2/D7.h5 -o D7.h5",
          run};
}

}  // namespace neutra::cli
