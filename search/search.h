#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "search/network.h"
#include "search/options.h"
#include "search/space.h"

namespace neutra::search {

/// Runs or continues the search kept in `store` (an HDF5 file, with FILE.journal beside it while
/// unfinished). With larger budgets than those of the store it goes on, also where that is
/// finished. Then minimises its repairs, where the options say so. Throws Error: store locked by
/// another process (names it), made with other options (names the difference), damaged, of a newer
/// version, or the disk is full (what was done is kept).
SearchOutcome run_search(const SearchTask& task, const SearchConfig& config,
                         const RunOptions& options, training::Trainer& trainer,
                         const std::filesystem::path& store);

/// The same over any space; `task.space` is not looked at.
SearchOutcome run_search(const SearchTask& task, const SearchSpace& space,
                         const SearchConfig& config, const RunOptions& options,
                         training::Trainer& trainer, const std::filesystem::path& store);

/// What a store holds, finished or not.
struct StoredRun {
  Json header;  ///< format, version, provenance, command, config, fault
  Network network;
  SearchCounters counters;   ///< of the last save, but total_seconds
  double saved_seconds = 0;  ///< total_seconds at the last save, to which the counters belong
  bool finished = false;
  SearchEnd end = SearchEnd::kInterrupted;
  std::optional<Minimising> minimising;
};

/// Reads a store without its lock. Throws input_error for a file that is none, is damaged or is of
/// a newer version.
StoredRun read_store(const std::filesystem::path& store);

/// The configuration of the search that a store holds; nullopt: there is none, or nobody can tell,
/// as run_search() will say.
std::optional<SearchConfig> stored_config(const std::filesystem::path& store);

/// What a repair or a merge put into a store.
struct StoreSummary {
  std::size_t trainings = 0;
  std::uint64_t damaged_bytes = 0;          ///< of journals, that belong to no whole record
  std::vector<std::filesystem::path> kept;  ///< damaged files, under new names
  std::string command;                      ///< of the search: goes on from the new store
  bool finished = false;                    ///< the copy of a finished one: nothing is to be done
};

/// Makes a sound store of all whole records of a damaged one and of its journal, in place of it
/// (damaged files stay beside it as FILE.damaged) or as a new file `out`. The same search goes on
/// from it and trains what is missing; its network comes back with it. Of a sound store `out`
/// becomes a copy; without `out` there is nothing to do: nullopt.
/// Throws input_error where nothing says what was searched, or `out` or FILE.damaged is there;
/// failure() while another process writes the store.
std::optional<StoreSummary> repair_store(const std::filesystem::path& store,
                                         const std::optional<std::filesystem::path>& out);

/// A new store `out` with the evaluations of several stores of one search; their budgets, depths
/// and the like may differ: the first one's hold. Throws input_error: `out` is there, a store is
/// damaged or of another search (names the difference), two stores differ about an evaluation.
StoreSummary merge_stores(const std::vector<std::filesystem::path>& stores,
                          const std::filesystem::path& out);

/// Who writes a store just now, in the words of its lock; nullopt: nobody.
std::optional<std::string> store_owner(const std::filesystem::path& store);

/// Integrity of a store and its journal: every problem found, empty when sound.
std::vector<std::string> check_store(const std::filesystem::path& store);

}  // namespace neutra::search
