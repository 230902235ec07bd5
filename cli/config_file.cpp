#include "cli/config_file.h"

#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/strings.h"
#include "base/words.h"
#include "cli/option.h"

namespace neutra::cli {
namespace {

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
    const auto trim = [](std::string_view part) { return std::string(trimmed(part, " \t\r")); };
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

/// A pipe gives its text once, and `config show` asks for it again.
std::string config_text(const std::string& file) {
  constexpr const char* kConfig = "a file of 'name = value' lines, or a JSON object";
  if (!is_pipe_or_device(file)) return read_file(file, kConfig);
  static std::map<std::string, std::string> piped;
  const auto [text, is_new] = piped.try_emplace(file);
  if (is_new) text->second = read_file(file, kConfig);
  return text->second;
}

}  // namespace

OptionValues read_config_file(const std::string& file) {
  const std::string text = config_text(file);
  const auto start = text.find_first_not_of(" \t\r\n");
  const bool json = start != std::string::npos && text[start] == '{';
  OptionValues values;
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
  return values;
}

}  // namespace neutra::cli
