#pragma once

#include <filesystem>
#include <optional>

#include "search/store_content.h"

namespace neutra::search {

/// FILE and its journal, read without the lock, also while a search writes them; an empty header
/// where neither is there. Throws input_error: not a store, damaged, of a newer version.
StoreContent load_store(const std::filesystem::path& store);

/// The same of a store that has to be there. Throws input_error also where there is none, or a
/// search that has not begun.
StoreContent load_existing_store(const std::filesystem::path& store);

/// What a store holds for those who look at a search, finished or not.
struct StoredRun {
  Json header;  ///< format, version, provenance, command, config, fault
  Network network;
  SearchCounters counters;   ///< of the last save, but total_seconds
  double saved_seconds = 0;  ///< total_seconds at the last save, to which the counters belong
  bool finished = false;     ///< the search ended by itself: `end` says how
  SearchEnd end = SearchEnd::kInterrupted;
  std::optional<Minimising> minimising;  ///< nullopt: its repairs were never minimised
};

/// load_existing_store() for those; warns, once for each store, of a damaged journal.
StoredRun read_store(const std::filesystem::path& store);

/// The configuration of the search that a store holds; nullopt: there is none, or nobody can tell,
/// as run_search() will say.
std::optional<SearchConfig> stored_config(const std::filesystem::path& store);

}  // namespace neutra::search
