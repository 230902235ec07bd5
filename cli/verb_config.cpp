#include <algorithm>
#include <optional>

#include "base/environment.h"
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

/// What an option is without a command line.
struct Setting {
  Option option;
  Json value;          ///< null: it has none
  std::string shown;   ///< the value for people
  std::string origin;  ///< as Arguments::origin(); "not set"
};

struct Settings {
  std::optional<std::string> verb;  ///< that was asked about; nullopt: all
  std::optional<std::string> file;  ///< the configuration file
  std::vector<Setting> settings;
};

Json json_of(const Settings& about) {
  Json list = Json::array();
  for (const Setting& setting : about.settings) {
    const std::string environment = environment_name(setting.option);
    list.push_back({{"option", setting.option.name},
                    {"value", setting.value},
                    {"from", setting.origin == "not set"     ? Json(nullptr)
                             : setting.origin == "default"   ? Json("default")
                             : setting.origin == environment ? Json("environment")
                                                             : Json("file")},
                    {"environment", environment}});
  }
  return {{"format", "neutra-config"},
          {"version", 1},
          {"verb", json_or_null(about.verb)},
          {"file", json_or_null(about.file)},
          {"options", std::move(list)}};
}

std::string text_of(const Settings& about) {
  TextTable table({"option", "value", "from"});
  for (const Setting& setting : about.settings)
    table.add({setting.option.name, setting.shown, setting.origin});
  return table.text();
}

Settings settings_about(const Arguments& arguments) {
  const VerbOptions about = options_about(arguments.positional);
  Settings result;
  if (arguments.positional.size() > 1) result.verb = arguments.positional[1];
  if (arguments.has("config")) result.file = arguments.text("config");
  const Arguments configured = configured_options(about, result.file);
  if (const std::string file = environment("NEUTRA_CONFIG"); !result.file && !file.empty()) {
    result.file = file;
  }
  for (const Option& option : options_of(about)) {
    if (only_on_command_line(option.name)) continue;
    const bool has = configured.has(option.name), flag = option.type == OptionType::kFlag;
    result.settings.push_back({option, value_of(option, configured),
                               has    ? join(configured.list(option.name))
                               : flag ? "false"
                                      : "-",
                               has    ? configured.origin(option.name)
                               : flag ? "default"
                                      : "not set"});
  }
  return result;
}

Result run(const Arguments& arguments) {
  if (arguments.positional.front() == "show") return result_of(settings_about(arguments));
  if (arguments.positional.size() > 1)
    throw usage_error("schema: found '" + arguments.positional[1] + "'; allowed: schema alone");
  return {[](const std::string&) { return to_text(configuration_schema()); }};
}

}  // namespace

Verb config_verb() {
  return {.name = "config",
          .summary = "say which options are set, and where, or what a configuration file may hold",
          .synopsis = "config show [VERB] [--config FILE] | config schema",
          .options = {.least_positional = 1,
                      .most_positional = 2,
                      .positional_name = "show|schema [VERB]",
                      .actions = {{"show", "[VERB]"}, {"schema", ""}}},
          .description =
              "show: the value of every option of a verb, or of all verbs, without a command line, "
              "and where it comes from: the\n"
              "default, the configuration file (--config, else NEUTRA_CONFIG) or the environment. "
              "schema: the JSON Schema of a\n"
              "configuration file as a JSON object, for editors and validators; such a file may "
              "name it in \"$schema\".",
          .example =
              "  neutra config show search\n"
              "  neutra config show --config my.conf --json\n"
              "  neutra config schema > neutra.schema.json",
          .run = run};
}

}  // namespace neutra::cli
