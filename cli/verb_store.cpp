#include <filesystem>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/verbs.h"
#include "search/store_check.h"
#include "search/store_reader.h"
#include "search/store_recovery.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// What a store holds, as JSON.
struct Contents {
  Json json;
};

Json json_of(const Contents& contents) { return contents.json; }

std::string text_of(const Contents& contents) {
  std::string text;
  const auto line = [&](const std::string& name, const Json& value) {
    text += name + std::string(name.size() < 26 ? 26 - name.size() : 1, ' ') +
            (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
  };
  for (const auto& [name, value] : contents.json.items()) {
    if (!value.is_object()) {
      line(name, value);
      continue;
    }
    // The places of a script are hundreds.
    for (const auto& [inner, detail] : value.items()) {
      if (inner == "places" && detail.is_array()) {
        line(name + "." + inner, std::to_string(detail.size()));
      } else {
        line(name + "." + inner, detail);
      }
    }
  }
  return text;
}

Result info(const fs::path& store) {
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
  return result_of(Contents{std::move(json)});
}

/// What is wrong with a store.
struct Check {
  fs::path store;
  std::vector<std::string> problems;
};

Json json_of(const Check& check) {
  return {{"store", check.store.string()},
          {"sound", check.problems.empty()},
          {"problems", check.problems}};
}

std::string text_of(const Check& check) {
  if (check.problems.empty()) return check.store.string() + ": sound\n";
  return join(check.problems, "\n") + "\n";
}

Result check(const fs::path& store) {
  require_no_pipe(store, "a store");
  if (!fs::exists(store)) search::read_store(store);  // says what is missing
  Check check{store, search::check_store(store)};
  const Exit exit = check.problems.empty() ? Exit::kDone : Exit::kFailed;
  return result_of(std::move(check), exit);
}

/// A store that was made; `summary` is nullopt where a sound one needed no repair.
struct MadeStore {
  fs::path store;
  std::optional<search::StoreSummary> summary;
};

Json json_of(const MadeStore& made) {
  if (!made.summary) return {{"store", made.store.string()}, {"sound", true}};
  Json kept = Json::array();
  for (const auto& file : made.summary->kept) kept.push_back(file.string());
  return {{"store", made.store.string()},
          {"trainings", made.summary->trainings},
          {"damaged_bytes", made.summary->damaged_bytes},
          {"kept", std::move(kept)},
          {"finished", made.summary->finished},
          {"command", made.summary->command}};
}

/// What was made, and how to go on.
std::string text_of(const MadeStore& made) {
  const std::string store = made.store.string();
  if (!made.summary) return store + ": sound; nothing to repair\n";
  const search::StoreSummary& summary = *made.summary;
  std::string text = store + ": " + std::to_string(summary.trainings) + " trainings";
  if (summary.damaged_bytes > 0)
    text +=
        "; " + std::to_string(summary.damaged_bytes) + " bytes of the journal were no whole record";
  text += "\n";
  for (const auto& file : summary.kept) text += "the damaged file is " + file.string() + "\n";
  if (summary.finished) return text + "its search is finished\n";
  return text + "its search goes on from them, with --store " + store + ": " + summary.command +
         "\n";
}

Result repair(const fs::path& store, const Arguments& arguments) {
  std::optional<fs::path> out;
  if (arguments.has("output")) out = arguments.text("output");
  std::optional<search::StoreSummary> summary = search::repair_store(store, out);
  const fs::path made = summary ? out.value_or(store) : store;
  return result_of(MadeStore{made, std::move(summary)});
}

Result merge(const std::vector<std::string>& stores, const Arguments& arguments) {
  if (!arguments.has("output")) throw usage_error("give -o FILE, the store to make");
  const fs::path out = arguments.text("output");
  return result_of(MadeStore{out, search::merge_stores({stores.begin(), stores.end()}, out)});
}

Result run(const Arguments& arguments) {
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
  if (action == "info") return info(stores[0]);
  if (action == "check") return check(stores[0]);
  return repair(stores[0], arguments);
}

}  // namespace

Verb store_verb() {
  return {
      .name = "store",
      .summary = "check, repair or merge the stores of searches, or say what they hold",
      .synopsis = "store check|info|repair STORE [-o FILE] [--json] | store merge STORE... -o FILE",
      .options = {.names = {"output"},
                  .least_positional = 2,
                  .most_positional = 1000,
                  .positional_name = "check|info|merge|repair STORE...",
                  .actions = {{"check", "STORE", {{}}},
                              {"info", "STORE", {{}}},
                              {"merge", "STORE..."},
                              {"repair", "STORE"}}},
      .description =
          "check: digest, structure and journal; exit 1 when something is wrong. info: command, "
          "options, versions, state.\n"
          "repair: a sound store of all whole records of a damaged one, in its place (the damaged "
          "files stay beside it\n"
          "as FILE.damaged) or as -o FILE; a sound one is copied there. merge: one store with the "
          "trainings of several\n"
          "stores of one search. The search goes on from both and trains what is missing.",
      .example =
          "  neutra store info D7.h5\n"
          "  neutra store check D7.h5\n"
          "  neutra store repair D7.h5\n"
          "  neutra store merge node1/D7.h5 node2/D7.h5 -o D7.h5",
      .run = run};
}

}  // namespace neutra::cli
