#include <iostream>

#include "cli/context.h"
#include "cli/verbs.h"
#include "program/error.h"
#include "search/search.h"

namespace neutra::cli {
namespace {

int info(const std::filesystem::path& store, bool as_json) {
  const StoredRun run = read_store(store);
  Json json = run.header;
  json["finished"] = run.finished;
  json["end"] = to_string(run.end);
  json["nodes"] = run.network.nodes.size();
  json["edges"] = run.network.edges.size();
  json["alternatives"] = run.network.alternatives().size();
  json["evaluations"] = run.counters.evaluations;
  json["total_seconds"] = run.counters.total_seconds;
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
  if (!std::filesystem::exists(store)) read_store(store);  // says what is missing
  const auto problems = check_store(store);
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

int run(const Arguments& arguments) {
  const std::string& action = arguments.positional[0];
  if (action == "info") return info(arguments.positional[1], arguments.flag("json"));
  if (action == "check") return check(arguments.positional[1], arguments.flag("json"));
  throw usage_error("found action '" + action + "'; allowed: check, info");
}

}  // namespace

Verb store_verb() {
  return {"store",
          "check a search's store or say what it holds",
          "store check|info STORE [--json]",
          {{}, 2, 2, "check|info STORE"},
          "check: digest, structure and journal; exit 1 when something is wrong. info: command, "
          "options, versions, state.",
          "  neutra store info D7.h5\n  neutra store check D7.h5",
          run};
}

}  // namespace neutra::cli
