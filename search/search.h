#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "search/network.h"
#include "search/options.h"
#include "search/space.h"

namespace neutra {

/// Runs or continues the search kept in `store` (an HDF5 file, with FILE.journal beside it while
/// unfinished). Throws Error: store locked by another process (names it), made with other options
/// (names the difference), damaged, of a newer version, or the disk is full (what was done is
/// kept).
SearchOutcome run_search(const SearchTask& task, const SearchConfig& config,
                         const RunOptions& options, Trainer& trainer,
                         const std::filesystem::path& store);

/// The same over any space; `task.space` is not looked at.
SearchOutcome run_search(const SearchTask& task, const SearchSpace& space,
                         const SearchConfig& config, const RunOptions& options, Trainer& trainer,
                         const std::filesystem::path& store);

/// What a store holds, finished or not.
struct StoredRun {
  Json header;  ///< format, version, provenance, command, config, fault
  Network network;
  SearchCounters counters;
  bool finished = false;
  SearchEnd end = SearchEnd::kInterrupted;
};

/// Reads a store without its lock. Throws input_error for a file that is none, is damaged or is of
/// a newer version.
StoredRun read_store(const std::filesystem::path& store);

/// Integrity of a store and its journal: every problem found, empty when sound.
std::vector<std::string> check_store(const std::filesystem::path& store);

}  // namespace neutra
