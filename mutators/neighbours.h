#pragma once

#include <string>
#include <vector>

#include "program/parameters.h"

namespace neutra {

/// A neutrality operator of the paper's Table 2: changes one hyperparameter to one other value.
/// Values come from a preset (mutators/presets/*.json); the operator says which kind of key it applies to.
struct Mutation {
  std::string op;      ///< operator id, e.g. "change_activation_function"
  std::string key;     ///< "act1"
  std::string before;
  std::string after;
  auto operator<=>(const Mutation&) const = default;
};

/// One application: the parameters that differ from the parent's in exactly one key.
struct Neighbour {
  Mutation mutation;
  Parameters parameters;
};

enum class Preset { kPaper, kKeras };

/// All neighbours of `parameters` in the recorded order: keys in the space's order, values in the preset's order, the
/// current value skipped (by meaning: None is linear). Pure; visited programs are the search's business.
std::vector<Neighbour> neighbours(const ProgramSpace& space, const Parameters& parameters, Preset preset);

}  // namespace neutra
