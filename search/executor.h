#pragma once

#include "search/machine.h"
#include "search/store.h"

namespace neutra {

/// Trains what the machine asks for with `options.workers` OpenMP threads, and with the processes
/// of `options.remote`, until it is finished or `options.stop` is set, keeping the store up to
/// date. Exceptions of a worker end the others and are thrown from here.
///
/// The channel to other processes is used by the calling thread only.
void execute(SearchMachine& machine, Store& store, const SearchConfig& config,
             const RunOptions& options, Trainer& trainer);

/// The counters of a run so far.
SearchCounters run_counters(const SearchMachine& machine, const Store& store);

}  // namespace neutra
