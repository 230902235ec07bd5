#include <algorithm>
#include <cstdlib>
#include <iostream>

#include "base/error.h"
#include "base/words.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

/// What is asked about: the options of one verb, or those of all.
VerbOptions options_about(const std::vector<std::string>& words) {
  VerbOptions all;
  std::vector<std::string> names;
  for (const Verb& verb : verbs()) {
    if (verb.hidden) continue;
    if (words.size() > 1 && verb.name == words[1]) return verb.options;
    names.push_back(verb.name);
    for (const std::string& name : verb.options.names)
      if (std::find(all.names.begin(), all.names.end(), name) == all.names.end())
        all.names.push_back(name);
  }
  if (words.size() > 1)
    throw usage_error("unknown verb '" + words[1] +
                      "'; allowed: " + allowed_words(words[1], names));
  return all;
}

Json value_of(const Option& option, const Arguments& arguments) {
  if (option.type == OptionType::kFlag) return arguments.flag(option.name);
  if (!arguments.has(option.name)) return nullptr;
  switch (option.type) {
    case OptionType::kInteger:
      return arguments.integer(option.name);
    case OptionType::kNumber:
      return arguments.number(option.name);
    case OptionType::kList:
      return arguments.list(option.name);
    default:
      return arguments.text(option.name);
  }
}

int show(const Arguments& arguments) {
  const VerbOptions about = options_about(arguments.positional);
  const std::optional<std::string> file =
      arguments.has("config") ? std::optional(arguments.text("config")) : std::nullopt;
  const Arguments configured = configured_options(about, file);
  Json list = Json::array();
  TextTable table({"option", "value", "from"});
  for (const Option& option : options_of(about)) {
    if (option.name == "config" || option.name == "help") continue;
    const bool has = configured.has(option.name);
    const bool flag = option.type == OptionType::kFlag;
    const std::string origin = has ? configured.origin(option.name) : flag ? "default" : "not set";
    const bool environment = has && origin == environment_name(option);
    list.push_back({{"option", option.name},
                    {"value", value_of(option, configured)},
                    {"from", origin == "not set"   ? Json(nullptr)
                             : origin == "default" ? Json("default")
                             : environment         ? Json("environment")
                                                   : Json("file")},
                    {"environment", environment_name(option)}});
    table.add({option.name,
               has    ? join(configured.list(option.name))
               : flag ? "false"
                      : "-",
               origin});
  }
  const char* variable = std::getenv("NEUTRA_CONFIG");
  Json used = file ? Json(*file) : variable && *variable ? Json(variable) : Json(nullptr);
  if (arguments.flag("json"))
    std::cout << to_text(
        {{"format", "neutra-config"},
         {"version", 1},
         {"verb", arguments.positional.size() > 1 ? Json(arguments.positional[1]) : Json(nullptr)},
         {"file", std::move(used)},
         {"options", std::move(list)}});
  else
    std::cout << table.text();
  return 0;
}

int run(const Arguments& arguments) {
  if (arguments.positional.front() == "show") return show(arguments);
  if (arguments.positional.size() > 1)
    throw usage_error("schema: found '" + arguments.positional[1] + "'; allowed: schema alone");
  std::cout << to_text(configuration_schema());
  return 0;
}

}  // namespace

Verb config_verb() {
  return {"config",
          "say which options are set, and where, or what a configuration file may hold",
          "config show [VERB] [--config FILE] | config schema",
          {{}, 1, 2, "show|schema [VERB]", {}, {{"show", "[VERB]"}, {"schema", ""}}},
          "show: the value of every option of a verb, or of all verbs, without a command line, and "
          "where it comes from: the\n"
          "default, the configuration file (--config, else NEUTRA_CONFIG) or the environment. "
          "schema: the JSON Schema of a\n"
          "configuration file as a JSON object, for editors and validators; such a file may name "
          "it in \"$schema\".",
          "  neutra config show search\n  neutra config show --config my.conf --json\n"
          "  neutra config schema > neutra.schema.json",
          run};
}

}  // namespace neutra::cli
