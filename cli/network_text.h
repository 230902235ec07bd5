#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/repair_list.h"
#include "experiments/catalog.h"
#include "search/network.h"

namespace neutra::cli {

/// A network for people: levels, size, and its repairs (repair_list()). `fault` gives the fault
/// types of the repairs; `out_of_reach`: lines of reach_lines().
std::string network_text(const search::Network& network, const experiments::Fault* fault,
                         const ListLimit& limit = {},
                         const std::vector<std::string>& out_of_reach = {});

/// How much of `recorded` was generated in `ours`, and how many of its alternatives are
/// alternatives here.
struct NetworkComparison {
  std::int64_t recorded = 0, visited = 0;  ///< programs of it; those generated in ours
  std::int64_t recorded_alternatives = 0;  ///< among the visited
  std::int64_t also_alternatives = 0;      ///< of those, alternatives here too
  std::vector<std::string> missed;         ///< recorded, not visited
  std::vector<std::string>
      not_alternatives;  ///< recorded as alternatives, visited, not alternatives here
};
/// Programs are compared as what they mean where `space` is given, the keys of the fault; else by
/// their parameter strings.
NetworkComparison compare_networks(const search::Network& ours, const search::Network& recorded,
                                   const program::ProgramSpace* space);

}  // namespace neutra::cli
