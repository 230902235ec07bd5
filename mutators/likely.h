#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "mutators/neighbours.h"
#include "program/parameters.h"

namespace neutra::mutators {

/// How likely a change is to be part of a repair, judged by its values alone. It orders changes
/// whose programs are equally good, and decides nothing else.
struct Likelihood {
  bool makes_usual = false;  ///< from a value that is unusual for the program's task to a usual one
  std::size_t kind = 0;      ///< place of its kind of hyperparameter, the likeliest is 0
  std::size_t value = 0;     ///< place of the new value among those of its key, likewise
};

/// Usual values and the order of the kinds: mutators/presets/likely.json.
class LikelyChanges {
 public:
  /// Keeps a reference to `space`.
  explicit LikelyChanges(const program::ProgramSpace& space);
  /// Of a change from a program of the space.
  Likelihood of(const Mutation& mutation) const;

 private:
  const program::ProgramSpace& space_;
  std::string task_;  ///< "binary", "classes", "regression"
  std::map<std::string, std::string>
      roles_;  ///< of activations: `task_` for the output's, "hidden"
};

}  // namespace neutra::mutators
