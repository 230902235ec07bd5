#include "cli/arguments.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <sstream>

#include "base/environment.h"
#include "base/error.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "cli/config_file.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace po = boost::program_options;

namespace {

std::vector<std::string> all_names(const VerbOptions& verb) {
  std::vector<std::string> names = verb.names;
  for (const Option& option : verb.own) names.push_back(option.name);
  if (!verb.formats.empty()) names.emplace_back("format");
  names.insert(names.end(), common_options().begin(), common_options().end());
  std::sort(names.begin(), names.end());
  return names;
}

bool is_own(const VerbOptions& verb, std::string_view name) {
  return std::any_of(verb.own.begin(), verb.own.end(),
                     [&](const Option& option) { return option.name == name; });
}

/// The option as the verb takes it: its own, or the table's, with the verb's formats.
Option option_of(const VerbOptions& verb, const std::string& name) {
  for (const Option& option : verb.own)
    if (option.name == name) return option;
  Option option = *find_option(name);
  if (name == "format") {
    option.choices = verb.formats;
    option.fallback = verb.formats.front();
  }
  return option;
}

po::options_description description(const VerbOptions& verb) {
  po::options_description result;
  for (const auto& name : all_names(verb)) {
    const Option option = option_of(verb, name);
    const std::string spelled =
        option.letter ? name + "," + std::string(1, option.letter) : option.name;
    // Values stay text here: ranges, choices and messages come from the table.
    if (option.type == OptionType::kFlag)
      result.add_options()(spelled.c_str(), po::value<std::vector<std::string>>()->zero_tokens(),
                           "");
    else
      result.add_options()(spelled.c_str(), po::value<std::vector<std::string>>(), "");
  }
  return result;
}

/// A file may serve several verbs: what this one doesn't take is passed over.
void take_config(Arguments& arguments, const std::string& file, const VerbOptions& verb) {
  const std::vector<std::string> names = all_names(verb);
  for (const auto& [name, values] : read_config_file(file))
    if (std::find(names.begin(), names.end(), name) != names.end() && !is_own(verb, name))
      arguments.set(option_of(verb, name), values, file + ": " + name);
}

/// Defaults, then the configuration file (`config`, else that of NEUTRA_CONFIG), then the
/// environment.
void set_configured(Arguments& arguments, const VerbOptions& verb,
                    const std::optional<std::string>& config) {
  const std::vector<Option> options = options_of(verb);
  for (const Option& option : options)
    if (!option.fallback.empty()) arguments.set(option, {option.fallback}, "default");
  const std::string file = config ? *config : environment("NEUTRA_CONFIG");
  if (config || !file.empty()) take_config(arguments, file, verb);
  for (const Option& option : options) {
    const std::string name = environment_name(option);
    if (const std::string text = environment(name.c_str());
        !text.empty() && !only_on_command_line(option.name) && !is_own(verb, option.name))
      arguments.set(option, {text}, name);
  }
}

/// "--output" and "--output=FILE" of "output", or its letter: "-o".
bool is_spelling(const std::string& word, const Option& option) {
  return word.substr(0, word.find('=')) == "--" + option.name ||
         (option.letter != 0 && word == std::string{'-', option.letter});
}

/// Is it an option whose value is the next word?
bool takes_next(const std::string& word, const VerbOptions& verb) {
  if (word.find('=') != std::string::npos) return false;
  const std::vector<Option> options = options_of(verb);
  return std::any_of(options.begin(), options.end(), [&](const Option& option) {
    return option.type != OptionType::kFlag && is_spelling(word, option);
  });
}

}  // namespace

const std::vector<std::string>& common_options() {
  static const std::vector<std::string> names = {"config", "help", "json", "quiet"};
  return names;
}

bool Arguments::has(std::string_view name) const { return values_.find(name) != values_.end(); }

const std::string& Arguments::origin(std::string_view name) const {
  return origins_.find(name)->second;
}

const std::string& Arguments::value(std::string_view name) const {
  return values_.find(name)->second.back();
}

bool Arguments::flag(std::string_view name) const { return has(name) && value(name) == "true"; }
bool Arguments::is_on(std::string_view name) const { return value(name) == "on"; }
std::int64_t Arguments::integer(std::string_view name) const {
  return *parse_number<std::int64_t>(value(name));
}
double Arguments::number(std::string_view name) const { return *parse_number<double>(value(name)); }
const std::string& Arguments::text(std::string_view name) const { return value(name); }

const std::vector<std::string>& Arguments::list(std::string_view name) const {
  static const std::vector<std::string> none;
  const auto found = values_.find(name);
  return found == values_.end() ? none : found->second;
}

double Arguments::seconds(std::string_view name) const { return *parse_duration(value(name)); }
std::uint64_t Arguments::bytes(std::string_view name) const { return *parse_size(value(name)); }

std::optional<double> Arguments::optional_number(std::string_view name) const {
  return has(name) ? std::optional(number(name)) : std::nullopt;
}

std::optional<std::int64_t> Arguments::optional_integer(std::string_view name) const {
  return has(name) ? std::optional(integer(name)) : std::nullopt;
}

void Arguments::set(const Option& option, const std::vector<std::string>& values,
                    const std::string& where) {
  if (option.type != OptionType::kList && values.size() > 1)
    throw usage_error(where + ": given " + std::to_string(values.size()) + " times; allowed: once");
  for (const auto& text : values)
    if (const auto wrong = complaint(option, text); !wrong.empty())
      throw usage_error(where + ": found '" + text + "'; allowed: " + wrong);
  values_[option.name] = values;
  origins_[option.name] = where;
}

std::string chosen_format(const Arguments& arguments) {
  if (arguments.flag("json")) return "json";
  return arguments.has("format") ? arguments.text("format") : "text";
}

ScriptWords split_script_words(const VerbOptions& verb, const std::vector<std::string>& words) {
  using Words = std::vector<std::string>;
  std::size_t begin = 0;
  while (begin < words.size() && words[begin].starts_with("-") && words[begin] != "--")
    begin += takes_next(words[begin], verb) ? 2 : 1;
  begin = std::min(begin, words.size());
  const auto at = [&](std::size_t index) {
    return words.begin() + static_cast<std::ptrdiff_t>(std::min(index, words.size()));
  };
  ScriptWords parts{Words(words.begin(), at(begin)), {}};
  if (begin < words.size() && words[begin] == "--") {
    parts.script = Words(at(begin + 1), words.end());
    return parts;
  }
  const auto script_end = at(begin + 1), dashes = std::find(script_end, words.end(), "--");
  const auto is_ours = [&](const std::string& word) {
    return std::any_of(
        verb.behind_script.begin(), verb.behind_script.end(), [&](const std::string& name) {
          const Option& option = *find_option(name);
          return is_spelling(word, option) &&
                 std::none_of(parts.own.begin(), parts.own.end(), [&](const std::string& before) {
                   return is_spelling(before, option);
                 });
        });
  };
  const auto ours = std::find_if(script_end, dashes, is_ours);
  parts.script = Words(at(begin), ours);
  parts.own.insert(parts.own.end(), ours, dashes);
  if (dashes != words.end()) {
    // Without options between the script and it, it is the mark that all behind it is the script's.
    const bool is_mark = ours != dashes || dashes == script_end;
    parts.script.insert(parts.script.end(), dashes + (is_mark ? 1 : 0), words.end());
  }
  return parts;
}

std::string script_words_note(const VerbOptions& verb, const Arguments& arguments) {
  const std::vector<std::string>& given = arguments.words;
  if (std::find(given.begin(), given.end(), "--") != given.end()) return "";
  const std::vector<std::string>& script = arguments.positional;
  std::vector<std::string> names = verb.names;
  for (const Option& option : verb.own) names.push_back(option.name);
  for (std::size_t i = 1; i < script.size(); ++i) {
    for (const std::string& name : names) {
      if (script[i].substr(0, script[i].find('=')) != "--" + name) continue;
      std::vector<std::string> begins;
      for (const std::string& begin : verb.behind_script) begins.push_back("--" + begin);
      return "neutra: note: " + script[i] + " is a word of " + script[0] +
             ", since it stands behind it; options of neutra stand in front of the script, or " +
             "behind " + join(begins, ", ") + "\n";
    }
  }
  return "";
}

Arguments parse_arguments(const VerbOptions& verb, const std::vector<std::string>& words) {
  const auto names = all_names(verb);
  const bool runs_script = !verb.behind_script.empty();
  const ScriptWords parts = runs_script ? split_script_words(verb, words) : ScriptWords{words, {}};
  po::options_description options = description(verb);
  po::options_description hidden = options;
  hidden.add_options()("positional", po::value<std::vector<std::string>>(), "");
  po::positional_options_description positional;
  positional.add("positional", -1);

  po::variables_map given;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(po::command_line_parser(parts.own)
                  .options(hidden)
                  .positional(positional)
                  .style(style)
                  .run(),
              given);
  } catch (const po::unknown_option& error) {
    std::string name = error.get_option_name();
    while (!name.empty() && name.front() == '-') name.erase(0, 1);
    const auto near = nearest(name, names);
    throw usage_error("unknown option '" + error.get_option_name() + "'" +
                      (near.empty() ? "" : "; did you mean --" + near + "?"));
  } catch (const po::error& error) {
    throw usage_error(error.what());
  }
  if (given.count("help")) {
    Arguments help;
    help.set(*find_option("help"), {"true"}, "--help");
    return help;
  }

  Arguments arguments;
  arguments.words = words;
  set_configured(arguments, verb,
                 given.count("config")
                     ? std::optional(given["config"].as<std::vector<std::string>>().back())
                     : std::nullopt);
  for (const auto& name : names) {
    if (!given.count(name)) continue;
    arguments.given.push_back(name);
    const Option option = option_of(verb, name);
    if (option.type == OptionType::kFlag)
      arguments.set(option, {"true"}, "--" + name);
    else
      arguments.set(option, given[name].as<std::vector<std::string>>(), "--" + name);
  }
  if (given.count("positional"))
    arguments.positional = given["positional"].as<std::vector<std::string>>();
  if (runs_script) {
    if (!arguments.positional.empty())
      throw usage_error("found '" + arguments.positional[0] + "' among the options; allowed: " +
                        "words of the script behind the script, or behind --");
    arguments.positional = parts.script;
  }
  const int count = static_cast<int>(arguments.positional.size());
  if (!verb.actions.empty() && count > 0) {
    std::vector<std::string> actions;
    for (const VerbAction& action : verb.actions) actions.push_back(action.name);
    if (std::find(actions.begin(), actions.end(), arguments.positional[0]) == actions.end())
      throw usage_error("found action '" + arguments.positional[0] +
                        "'; allowed: " + allowed_words(arguments.positional[0], actions));
  }
  if (count < verb.least_positional)
    throw usage_error("expects " + verb.positional_name + "; found nothing");
  if (count > verb.most_positional && !runs_script)
    throw usage_error(
        "found '" + arguments.positional[static_cast<std::size_t>(verb.most_positional)] +
        "'; allowed: " + (verb.most_positional == 0 ? "options only" : verb.positional_name));
  return arguments;
}

Arguments configured_options(const VerbOptions& verb, const std::optional<std::string>& config) {
  Arguments arguments;
  set_configured(arguments, verb, config);
  return arguments;
}

std::vector<Option> options_of(const VerbOptions& verb) {
  std::vector<Option> options;
  for (const std::string& name : all_names(verb)) options.push_back(option_of(verb, name));
  return options;
}

std::string option_help(const VerbOptions& verb) {
  std::vector<std::pair<std::string, Option>> rows;
  std::size_t width = 0;
  for (const auto& name : all_names(verb)) {
    const Option option = option_of(verb, name);
    std::string left = option.letter ? "-" + std::string(1, option.letter) + ", " : "    ";
    left += "--" + name + (option.argument.empty() ? "" : " " + option.argument);
    width = std::max(width, left.size());
    rows.emplace_back(left, option);
  }
  std::ostringstream out;
  for (const auto& [left, option] : rows) {
    out << "  " << left << std::string(width - left.size() + 2, ' ') << option.help;
    if (!option.choices.empty()) out << " (" << join(option.choices) << ")";
    if (!option.fallback.empty()) out << " [" << option.fallback << "]";
    out << '\n';
  }
  return out.str();
}

}  // namespace neutra::cli
