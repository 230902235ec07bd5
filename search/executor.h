#pragma once

#include "search/machine.h"
#include "search/store.h"

namespace neutra {

/// Trains what the machine asks for with `options.workers` OpenMP threads until it is finished or
/// `options.stop` is set, keeping the store up to date. Exceptions of a worker end the others after
/// their training and are thrown from here.
void execute(SearchMachine& machine, Store& store, const SearchConfig& config,
             const RunOptions& options, Trainer& trainer);

/// The counters of a run so far.
SearchCounters run_counters(const SearchMachine& machine, const Store& store);

}  // namespace neutra
