#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog.h"
#include "search/minimal.h"
#include "search/network.h"
#include "search/options.h"

namespace neutra::experiments {

/// A network and the fault it belongs to.
struct NetworkFile {
  search::Network network;
  std::optional<Fault> fault;  ///< nullopt: it is not known here
  bool finished = true;        ///< false: of a search that goes on
  /// Of a store: what made it (docs/formats/store.md), and how far it came. A TSV file has neither.
  Json header = {};
  /// That the fault was captured from: its file's if that is known here, else the one that the
  /// store keeps; nullopt: it was captured from none.
  std::optional<Script> script = {};
  search::SearchCounters counters = {};
  search::SearchEnd end = search::SearchEnd::kInterrupted;
};

/// Reads a store or, by its ending, a TSV file. The fault is `fault` if given, else the one that
/// the store names (bundled, or the user's file where it was), or the bundled one whose buggy
/// program is the TSV's root. A TSV gets the metric and the known fix of its fault.
NetworkFile read_network_file(const std::filesystem::path& file, std::optional<Fault> fault);

/// repair_sizes() with the programs of the network's fault; nullptr: it is not known.
std::vector<search::RepairSize> repairs_by_size(const search::Network& network, const Fault* fault);
/// The network as JSON, with the sizes of its repairs.
Json network_json(const search::Network& network, const Fault* fault);
/// The same with `script`, as a store holds it, where the fault was captured from one.
Json network_json(const NetworkFile& file);

/// Do two parameter strings mean one program? Records spell some values in other ways ("32.0",
/// "None").
bool same_program(const program::ProgramSpace& space, const program::Parameters& a,
                  const program::Parameters& b);

/// Throws input_error unless a network's root is the fault's buggy program. `file` is for the
/// message.
void require_root(const search::Network& network, const Fault& fault, const std::string& file);

}  // namespace neutra::experiments
