#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace neutra::search {

/// What a repair or a merge put into a store.
struct StoreSummary {
  std::size_t trainings = 0;                ///< that the new store holds
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

}  // namespace neutra::search
