#pragma once

#include <filesystem>

#include "search/options.h"
#include "search/space.h"

namespace neutra::search {

/// Runs or continues the search kept in `store` (an HDF5 file, with FILE.journal beside it while
/// unfinished). A finished search with larger budgets is continued. Then minimises the repairs,
/// where the options say so.
/// Throws Error: store locked by another process (names it), made with other options (names the
/// difference), damaged, of a newer version, or the disk is full (what was done is kept).
SearchOutcome run_search(const SearchTask& task, const SearchConfig& config,
                         const RunOptions& options, training::Trainer& trainer,
                         const std::filesystem::path& store);

/// The same over any space; `task.space` is ignored.
SearchOutcome run_search(const SearchTask& task, const SearchSpace& space,
                         const SearchConfig& config, const RunOptions& options,
                         training::Trainer& trainer, const std::filesystem::path& store);

}  // namespace neutra::search
