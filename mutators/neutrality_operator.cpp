#include "mutators/neutrality_operator.h"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <map>

#include "base/error.h"
#include "base/json.h"
#include "mutators/embedded.h"

namespace neutra::mutators {

namespace {

/// A preset file, read once.
struct PresetTables {
  std::map<program::KeyKind, std::vector<std::string>> values;
  std::map<program::KeyKind, std::vector<Step>> steps;
};

PresetTables read_tables(std::string_view text, const std::string& file) {
  const Json json = parse_json(text, file);
  PresetTables tables;
  for (const auto& [word, list] : json.at("values").items()) {
    std::vector<std::string>& values = tables.values[program::parse_key_kind(word).value()];
    for (const Json& value : list) {
      values.push_back(value.is_string() ? value.get<std::string>() : value.dump());
    }
  }
  for (const auto& [word, list] : json.at("steps").items()) {
    std::vector<Step>& steps = tables.steps[program::parse_key_kind(word).value()];
    for (const std::string step : list) {
      steps.push_back({step.at(0) == '/', std::strtod(step.c_str() + 1, nullptr)});
    }
  }
  return tables;
}

const PresetTables& tables(Preset preset) {
  static const PresetTables paper = read_tables(embedded::paper_preset, "presets/paper.json");
  static const PresetTables keras = read_tables(embedded::keras_preset, "presets/keras.json");
  return preset == Preset::kPaper ? paper : keras;
}

}  // namespace

const std::vector<std::string>& preset_values(Preset preset, program::KeyKind kind) {
  return tables(preset).values.at(kind);
}

bool has_steps(Preset preset, program::KeyKind kind) { return tables(preset).steps.contains(kind); }

const std::vector<Step>& preset_steps(Preset preset, program::KeyKind kind) {
  return tables(preset).steps.at(kind);
}

nlohmann::json meaning(const program::ProgramSpace& space, const std::string& key,
                       const std::string& value) {
  return program::canonical(space.instantiate(space.with_changes({{key, value}})));
}

double parse_number(const std::string& text, program::KeyKind kind) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw input_error(describe("", to_string(kind), "'" + text + "'", "a finite number"));
  }
  return value;
}

double decimal_clean(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.12g", value);
  return std::strtod(text, nullptr);
}

std::vector<std::string> step_integer(const std::string& current, Preset preset,
                                      program::KeyKind kind) {
  const double value = parse_number(current, kind);
  constexpr double kMost = std::numeric_limits<std::int32_t>::max();
  if (value != std::floor(value) || value < 1 || value > kMost) {
    throw input_error(describe("", to_string(kind), current, "a whole number of 1 to 2147483647"));
  }
  std::vector<std::string> values;
  for (const Step& step : preset_steps(preset, kind)) {
    const double next = std::floor(step.divide ? value / step.factor : value * step.factor);
    if (next >= 1 && next <= kMost && next != value) {
      values.push_back(std::to_string(static_cast<std::int64_t>(next)));
    }
  }
  return values;
}

}  // namespace neutra::mutators
