#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/parameters.h"

namespace neutra::mutators {

/// A neutrality operator of the paper's Table 2: changes one hyperparameter to one other value.
/// Values come from a preset (mutators/presets/*.json); the operator says which kind of key it
/// applies to.
struct Mutation {
  std::string op;   ///< operator id, e.g. "change_activation_function"
  std::string key;  ///< "act1"
  std::string before;
  std::string after;
  auto operator<=>(const Mutation&) const = default;
};

/// One application: the parameters that differ from the parent's in exactly one key.
struct Neighbour {
  Mutation mutation;
  program::Parameters parameters;
};

/// Which values are tried: those of the published runs, or all that tf.keras 2.4 knows
/// (mutators/presets/*.json).
enum class Preset { kPaper, kKeras };
std::string_view to_string(Preset preset);  ///< "paper", "keras"
std::optional<Preset> parse_preset(std::string_view word);

/// All neighbours of `parameters` in the recorded order: keys in the space's order, values in the
/// preset's order, the current value skipped (by meaning: None is linear). Pure; visited programs
/// are the search's business. Throws input_error for a missing key or a value that is not of its
/// key's kind.
std::vector<Neighbour> neighbours(const program::ProgramSpace& space,
                                  const program::Parameters& parameters, Preset preset);

}  // namespace neutra::mutators
