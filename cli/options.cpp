#include "cli/options.h"

#include <algorithm>
#include <boost/program_options.hpp>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/words.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace po = boost::program_options;

namespace {

template <typename T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

std::string range_text(const Option& option) {
  return "from " + shortest(option.least) + " to " + shortest(option.most);
}

std::string one_of(const std::vector<std::string>& choices, const std::string& text) {
  return std::find(choices.begin(), choices.end(), text) != choices.end()
             ? ""
             : allowed_words(text, choices);
}

/// What is wrong with a value, "" when nothing.
std::string complaint(const Option& option, const std::string& text) {
  const bool ranged = option.least != 0 || option.most != 0;
  switch (option.type) {
    case OptionType::kFlag:
      return text == "true" || text == "false" ? "" : "true or false";
    case OptionType::kInteger: {
      const auto value = parse_number<std::int64_t>(text);
      const bool fits = value && (!ranged || (static_cast<long double>(*value) >= option.least &&
                                              static_cast<long double>(*value) <= option.most));
      return fits ? "" : "a whole number" + (ranged ? " " + range_text(option) : "");
    }
    case OptionType::kNumber: {
      const auto value = parse_number<double>(text);
      const bool fits = value && std::isfinite(*value) &&
                        (!ranged || (*value >= option.least && *value <= option.most));
      return fits ? "" : "a number" + (ranged ? " " + range_text(option) : "");
    }
    case OptionType::kChoice:
      return one_of(option.choices, text);
    case OptionType::kDuration:
      return parse_duration(text) ? "" : "a time such as 48h, 90m, 1h30m or 30 (seconds)";
    case OptionType::kSize:
      return parse_size(text) ? "" : "a size such as 2G, 512M or 4096 (bytes)";
    case OptionType::kList:
      if (!option.choices.empty()) return one_of(option.choices, text);
      [[fallthrough]];
    case OptionType::kText:
      return text.empty() ? "a text that is not empty" : "";
  }
  return "";
}

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

/// One value of a configuration file.
struct Setting {
  std::string place;  ///< in the file
  std::string name, value;
};

std::vector<Setting> settings_of_lines(const std::string& text, const std::string& file) {
  std::vector<Setting> settings;
  std::istringstream stream(text);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    if (const auto hash = line.find('#'); hash != std::string::npos) line.erase(hash);
    const auto trim = [](std::string text) {
      const auto first = text.find_first_not_of(" \t\r");
      if (first == std::string::npos) return std::string();
      return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
    };
    if (trim(line).empty()) continue;
    const std::string place = "line " + std::to_string(number);
    const auto equals = line.find('=');
    if (equals == std::string::npos)
      throw input_error(describe(file, place, "'" + trim(line) + "'", "'name = value'"));
    settings.push_back({place, trim(line.substr(0, equals)), trim(line.substr(equals + 1))});
  }
  return settings;
}

std::vector<Setting> settings_of_json(const std::string& text, const std::string& file) {
  const Json json = parse_json(text, file);
  std::vector<Setting> settings;
  for (const auto& [name, value] : json.items()) {
    const std::string place = "/" + name;
    if (name == "$schema") continue;
    for (const Json& item : value.is_array() ? value : Json::array({value})) {
      if (!item.is_primitive() || item.is_null())
        throw input_error(
            describe(file, place, item.type_name(), "a text, a number, true or false"));
      settings.push_back({place, name, item.is_string() ? item.get<std::string>() : item.dump()});
    }
  }
  return settings;
}

/// Options that a configuration can't give.
bool only_on_command_line(std::string_view name) { return name == "config" || name == "help"; }

/// A pipe gives its text once, and `config show` asks for it again.
std::string config_text(const std::string& file) {
  constexpr const char* kConfig = "a file of 'name = value' lines, or a JSON object";
  if (!is_pipe_or_device(file)) return read_file(file, kConfig);
  static std::map<std::string, std::string> piped;
  const auto [text, is_new] = piped.try_emplace(file);
  if (is_new) text->second = read_file(file, kConfig);
  return text->second;
}

void read_config(Arguments& arguments, const std::string& file, const VerbOptions& verb) {
  const std::string text = config_text(file);
  const auto names = all_names(verb);
  const auto start = text.find_first_not_of(" \t\r\n");
  const bool json = start != std::string::npos && text[start] == '{';
  std::map<std::string, std::vector<std::string>> values;
  for (const auto& [place, name, value] :
       json ? settings_of_json(text, file) : settings_of_lines(text, file)) {
    const Option* option = find_option(name);
    if (!option || only_on_command_line(name)) {
      std::vector<std::string> known;
      for (const auto& entry : option_table())
        if (!only_on_command_line(entry.name)) known.push_back(entry.name);
      const std::string near = nearest(name, known);
      throw input_error(describe(
          file, place, "option '" + name + "'",
          "the name of an option" + (near.empty() ? "" : " (did you mean " + near + "?)")));
    }
    if (const auto wrong = complaint(*option, value); !wrong.empty())
      throw input_error(describe(file, place, name + " = " + value, wrong));
    values[name].push_back(value);
  }
  // A file may serve several verbs: options of other verbs are checked above and passed over here.
  for (const auto& [name, list] : values)
    if (std::find(names.begin(), names.end(), name) != names.end() && !is_own(verb, name))
      arguments.set(option_of(verb, name), list, file + ": " + name);
}

}  // namespace

const std::vector<std::string>& common_options() {
  static const std::vector<std::string> names = {"config", "help", "json", "quiet"};
  return names;
}

const Option* find_option(std::string_view name) {
  for (const auto& option : option_table())
    if (option.name == name) return &option;
  return nullptr;
}

std::string environment_name(const Option& option) {
  std::string name = "NEUTRA_";
  for (char c : option.name)
    name += c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

std::optional<double> parse_duration(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double total = 0;
  bool any_unit = false;
  while (!text.empty()) {
    double value = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
    if (error != std::errc() || value < 0 || !std::isfinite(value)) return std::nullopt;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    double unit = 1;
    if (!text.empty()) {
      switch (text.front()) {
        case 'd':
          unit = 86400;
          break;
        case 'h':
          unit = 3600;
          break;
        case 'm':
          unit = 60;
          break;
        case 's':
          unit = 1;
          break;
        default:
          return std::nullopt;
      }
      text.remove_prefix(1);
      any_unit = true;
    } else if (any_unit) {
      return std::nullopt;  // "1h30": is it minutes or seconds?
    }
    total += value * unit;
  }
  return total < 1e12 ? std::optional(total) : std::nullopt;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  double unit = 1;
  switch (text.back()) {
    case 'k':
    case 'K':
      unit = 1024.0;
      break;
    case 'm':
    case 'M':
      unit = 1024.0 * 1024;
      break;
    case 'g':
    case 'G':
      unit = 1024.0 * 1024 * 1024;
      break;
    case 't':
    case 'T':
      unit = 1024.0 * 1024 * 1024 * 1024;
      break;
    default:
      break;
  }
  if (unit != 1) text.remove_suffix(1);
  const auto value = parse_number<double>(text);
  if (!value || !(*value >= 0 && *value * unit <= 1e18)) return std::nullopt;  // NaN fails, too
  return static_cast<std::uint64_t>(*value * unit);
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

namespace {

/// Defaults, then the configuration file (`config`, else that of NEUTRA_CONFIG), then the
/// environment.
void set_configured(Arguments& arguments, const VerbOptions& verb,
                    const std::optional<std::string>& config) {
  const std::vector<Option> options = options_of(verb);
  for (const Option& option : options)
    if (!option.fallback.empty()) arguments.set(option, {option.fallback}, "default");
  const char* variable = std::getenv("NEUTRA_CONFIG");
  if (config)
    read_config(arguments, *config, verb);
  else if (variable && *variable)
    read_config(arguments, variable, verb);
  for (const Option& option : options) {
    const std::string name = environment_name(option);
    if (const char* text = std::getenv(name.c_str());
        text && *text && !only_on_command_line(option.name) && !is_own(verb, option.name))
      arguments.set(option, {text}, name);
  }
}

}  // namespace

Arguments parse_arguments(const VerbOptions& verb, const std::vector<std::string>& words) {
  const auto names = all_names(verb);
  po::options_description options = description(verb);
  po::options_description hidden = options;
  hidden.add_options()("positional", po::value<std::vector<std::string>>(), "");
  po::positional_options_description positional;
  positional.add("positional", -1);

  po::variables_map given;
  try {
    const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
    po::store(
        po::command_line_parser(words).options(hidden).positional(positional).style(style).run(),
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
  if (count > verb.most_positional)
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

Json configuration_schema() {
  constexpr const char* kDuration = "^([0-9]+(\\.[0-9]+)?|([0-9]+(\\.[0-9]+)?[dhms])+)$";
  constexpr const char* kSize = "^[0-9]+(\\.[0-9]+)?[kKmMgGtT]?$";
  Json properties = {{"$schema", {{"type", "string"}}}};
  for (const Option& option : option_table()) {
    if (only_on_command_line(option.name)) continue;
    Json schema;
    switch (option.type) {
      case OptionType::kFlag:
        schema["type"] = "boolean";
        break;
      case OptionType::kInteger:
      case OptionType::kNumber:
        schema["type"] = option.type == OptionType::kInteger ? "integer" : "number";
        if (option.least != 0 || option.most != 0)
          schema.update({{"minimum", Json::parse(shortest(option.least))},
                         {"maximum", Json::parse(shortest(option.most))}});
        break;
      case OptionType::kChoice:
        schema["enum"] = option.choices;
        break;
      case OptionType::kDuration:
      case OptionType::kSize:
        schema["type"] = {"string", "number"};
        schema["pattern"] = option.type == OptionType::kDuration ? kDuration : kSize;
        schema["minimum"] = 0;
        break;
      case OptionType::kText:
        schema.update({{"type", "string"}, {"minLength", 1}});
        break;
      case OptionType::kList: {
        const Json one = option.choices.empty() ? Json{{"type", "string"}, {"minLength", 1}}
                                                : Json{{"enum", option.choices}};
        const Json several{{"type", "array"}, {"items", one}, {"minItems", 1}};
        schema["anyOf"] = Json::array({one, several});
        break;
      }
    }
    schema["description"] = option.help;
    if (!option.fallback.empty())
      schema["default"] = option.type == OptionType::kInteger || option.type == OptionType::kNumber
                              ? Json::parse(option.fallback)
                              : Json(option.fallback);
    properties[option.name] = std::move(schema);
  }
  return {{"$schema", "http://json-schema.org/draft-07/schema#"},
          {"title", "Configuration of neutra"},
          {"description", "Options of all verbs, for --config and NEUTRA_CONFIG"},
          {"type", "object"},
          {"properties", std::move(properties)},
          {"additionalProperties", false}};
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
