#pragma once

#include <optional>
#include <string>

#include "experiments/catalog.h"
#include "search/search.h"

namespace neutra::cli {

/// A network for people: levels, size, every repair with what it changes. `fault` gives the fault
/// types of the repairs.
std::string network_text(const Network& network, const Fault* fault);

/// How much of `recorded` was generated in `ours`, and how many of its alternatives are
/// alternatives here.
struct NetworkComparison {
  std::int64_t recorded = 0, visited = 0;
  std::int64_t recorded_alternatives = 0;  ///< among the visited
  std::int64_t also_alternatives = 0;      ///< of those, alternatives here too
  std::vector<std::string> missed;         ///< recorded, not visited
  std::vector<std::string>
      not_alternatives;  ///< recorded as alternatives, visited, not alternatives here
};
NetworkComparison compare_networks(const Network& ours, const Network& recorded,
                                   const ProgramSpace* space);

/// "lr 0.001->0.1, loss hinge->poisson"
std::string changes_text(const Parameters& from, const Parameters& to);

}  // namespace neutra::cli
