#pragma once

#include <functional>

#include "search/store.h"
#include "search/work.h"

namespace neutra::search {

/// Trains what the work asks for with `options.workers` OpenMP threads, and with the processes of
/// `options.remote`, until it is finished or `options.stop` is set. Results go to the store at
/// once; `save` folds what came of them into its file, now and then. Exceptions of a worker end the
/// others and are thrown from here.
///
/// A process that was told to stop may have to end while a step of a training goes on (LastAct):
/// then all trainings are given up and `give_up` is called, which saves; nothing happens after it.
///
/// The channel to other processes is used by the calling thread only.
void execute(Work& work, Store& store, const std::function<void()>& save,
             const std::function<void()>& give_up, const SearchConfig& config,
             const RunOptions& options, training::Trainer& trainer);

}  // namespace neutra::search
