#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "experiments/catalog.h"
#include "search/network.h"

namespace neutra::cli {

/// A network and the fault it belongs to.
struct NetworkFile {
  Network network;
  std::optional<Fault> fault;
};

/// Reads a store or, by its ending, a TSV file. The fault is `fault` if given, else the one that
/// the store names, or the bundled one whose buggy program is the TSV's root. A TSV gets the metric
/// and the known fix of its fault.
NetworkFile read_network_file(const std::filesystem::path& file,
                              const std::optional<std::string>& fault);

}  // namespace neutra::cli
