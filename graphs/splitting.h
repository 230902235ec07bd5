#pragma once

#include "graphs/numeric_context.h"

namespace neutra::graphs {

/// DEBAR's predicate splitting: is the unsafe operation safe in each part, where the values that
/// its input is computed from, element by element, are split at 0 and at the numbers that they are
/// compared with?
bool safe_by_splitting(const Graph& graph, const GraphShapes& shapes, const Ranges& ranges,
                       const NumericValues& values, std::uint32_t node);

}  // namespace neutra::graphs
