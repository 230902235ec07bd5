#include "cli/option.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>

#include "base/numbers.h"
#include "base/parse_number.h"
#include "base/words.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

std::string range_text(const Option& option) {
  return "from " + shortest(option.range.least) + " to " + shortest(option.range.most);
}

std::string one_of(const std::vector<std::string>& choices, const std::string& text) {
  return std::find(choices.begin(), choices.end(), text) != choices.end()
             ? ""
             : allowed_words(text, choices);
}

}  // namespace

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

std::string complaint(const Option& option, const std::string& text) {
  const bool ranged = option.range.least != 0 || option.range.most != 0;
  switch (option.type) {
    case OptionType::kFlag:
      return text == "true" || text == "false" ? "" : "true or false";
    case OptionType::kInteger: {
      const auto value = parse_number<std::int64_t>(text);
      const bool fits =
          value && (!ranged || (static_cast<long double>(*value) >= option.range.least &&
                                static_cast<long double>(*value) <= option.range.most));
      return fits ? "" : "a whole number" + (ranged ? " " + range_text(option) : "");
    }
    case OptionType::kNumber: {
      const auto value = parse_number<double>(text);
      const bool fits = value && std::isfinite(*value) &&
                        (!ranged || (*value >= option.range.least && *value <= option.range.most));
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

bool only_on_command_line(std::string_view name) { return name == "config" || name == "help"; }

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
        if (option.range.least != 0 || option.range.most != 0)
          schema.update({{"minimum", Json::parse(shortest(option.range.least))},
                         {"maximum", Json::parse(shortest(option.range.most))}});
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

}  // namespace neutra::cli
