#pragma once

#include <cstddef>
#include <string>

#include "experiments/catalog.h"
#include "search/network.h"

namespace neutra::cli {

/// How much of a list of repairs is printed.
struct ListLimit {
  std::size_t most = 0;      ///< repairs; 0: no limit
  std::string command = {};  ///< what then lists all
  bool folded = false;       ///< also those that only add changes to a smaller one
};

/// The repairs of a network for people, 1-minimal ones first; those that only add changes to a
/// smaller one are counted beside it. `fault` gives fault types, and tells changes that do nothing.
std::string repair_list(const search::Network& network, const experiments::Fault* fault,
                        const ListLimit& limit);

/// "lr 0.001->0.1, loss hinge->poisson"
std::string changes_text(const program::Parameters& from, const program::Parameters& to);

}  // namespace neutra::cli
