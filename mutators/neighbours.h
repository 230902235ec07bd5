#pragma once

#include <string>
#include <vector>

#include "mutators/presets.h"
#include "program/parameters.h"

namespace neutra::mutators {

/// One change that a neutrality operator made: one hyperparameter has another value.
struct Mutation {
  std::string op;      ///< operator id, e.g. "change_activation_function"
  std::string key;     ///< "act1"
  std::string before;  ///< its value, as parameter strings spell it
  std::string after;   ///< its new value
  auto operator<=>(const Mutation&) const = default;
};

/// One application: the parameters that differ from the parent's in exactly one key.
struct Neighbour {
  Mutation mutation;               ///< the change
  program::Parameters parameters;  ///< with it
};

/// All neighbours of `parameters` in the recorded order: keys in the space's order, values in the
/// preset's order, the current value skipped (by meaning: None is linear). Pure; visited programs
/// are the search's business. Throws input_error for a missing key or a value that is not of its
/// key's kind.
std::vector<Neighbour> neighbours(const program::ProgramSpace& space,
                                  const program::Parameters& parameters, Preset preset);

}  // namespace neutra::mutators
