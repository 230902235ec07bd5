#include "mutators/presets.h"

#include <cstdlib>
#include <map>

#include "base/json.h"
#include "mutators/embedded.h"

namespace neutra::mutators {
namespace {

constexpr std::string_view kPresetWords[] = {"paper", "keras"};

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

std::string_view to_string(Preset preset) { return kPresetWords[static_cast<int>(preset)]; }

std::optional<Preset> parse_preset(std::string_view word) {
  for (const Preset preset : {Preset::kPaper, Preset::kKeras}) {
    if (to_string(preset) == word) return preset;
  }
  return std::nullopt;
}

const std::vector<std::string>& preset_values(Preset preset, program::KeyKind kind) {
  return tables(preset).values.at(kind);
}

bool has_steps(Preset preset, program::KeyKind kind) { return tables(preset).steps.contains(kind); }

const std::vector<Step>& preset_steps(Preset preset, program::KeyKind kind) {
  return tables(preset).steps.at(kind);
}

}  // namespace neutra::mutators
