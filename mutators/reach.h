#pragma once

#include <optional>
#include <string>
#include <vector>

#include "mutators/neighbours.h"
#include "program/parameters.h"

namespace neutra::mutators {

/// A part of a program (the known fix, say) that no change of a search leads to.
struct OutOfReach {
  std::string key;    ///< "" where it belongs to none
  std::string value;  ///< wanted; of a part without a key its place in the document, a JSON pointer
  std::string reason;  ///< a clause: "act3=linear is not among the values of preset paper"
};

/// What of a program is within reach of a search.
struct Reach {
  std::vector<OutOfReach> missing;  ///< empty: the program is within reach
  /// Changes that lead to the parts within reach, as few as possible, one for each step.
  int changes = 0;
};

/// How far the changes of a preset lead from a space's base program to `target`, whatever their
/// order. `parameters`: of the target, where keys express it.
Reach reach_of(const program::ProgramSpace& space, const program::Program& target,
               const std::optional<program::Parameters>& parameters, Preset preset);

/// For --json: an array of {key, value, reason}; `key` is null where there is none.
Json to_json(const std::vector<OutOfReach>& missing);

}  // namespace neutra::mutators
