#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/parameters.h"

/// The values that neutrality operators try, by kind of key: mutators/presets/*.json.
namespace neutra::mutators {

/// Which values are tried: those of the published runs, or all that tf.keras 2.4 knows
/// (mutators/presets/*.json).
enum class Preset { kPaper, kKeras };
std::string_view to_string(Preset preset);  ///< "paper", "keras"
/// nullopt for an unknown word.
std::optional<Preset> parse_preset(std::string_view word);

/// The list of `kind` in mutators/presets/PRESET.json, in its order.
const std::vector<std::string>& preset_values(Preset preset, program::KeyKind kind);

/// One step of a numeric key: multiplied (or divided) by `factor`.
struct Step {
  bool divide = false;  ///< else it is multiplied
  double factor = 1;    ///< at least 1
};

/// Does mutators/presets/PRESET.json have steps for `kind`, in place of a list?
bool has_steps(Preset preset, program::KeyKind kind);

/// The steps of `kind` in mutators/presets/PRESET.json ("*10", "/10"), in their order.
const std::vector<Step>& preset_steps(Preset preset, program::KeyKind kind);

}  // namespace neutra::mutators
