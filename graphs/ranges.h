#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "graphs/interval.h"

namespace neutra::graphs {

/// What is known of the sources of a graph: docs/formats/graph_ranges.md.
struct Ranges {
  /// What nodes without a range of their own have.
  enum class Default {
    kUnbounded,  ///< any number
    kBounded,    ///< -1 to 1; of a variable also its first values
    kInitial,    ///< of a variable its first values
  };

  std::map<std::string, Interval, std::less<>> nodes;
  Default placeholders = Default::kUnbounded, variables = Default::kUnbounded;
};

/// Reads a file of ranges. Throws input_error with file and place.
Ranges read_ranges(const std::filesystem::path& file);

}  // namespace neutra::graphs
