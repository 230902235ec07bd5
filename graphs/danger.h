#pragma once

#include <optional>
#include <string>

#include "graphs/interval.h"

namespace neutra::graphs {

/// Where an unsafe operation must not be.
struct Danger {
  std::string kind;
  std::size_t input = 0;  ///< the place of the input
  std::string safe;       ///< what is allowed
  std::string suggestion;
};

/// Is the operation one that can be unsafe?
bool is_unsafe(const std::string& op);

/// What may go wrong with the operation where its inputs lie within the intervals; nullopt:
/// nothing. `second` is the second input's, of operations that have two.
std::optional<Danger> danger_of(const std::string& op, ElementType type, const Interval& first,
                                const Interval& second);

}  // namespace neutra::graphs
