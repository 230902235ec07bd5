#pragma once

#include <functional>

#include "search/store.h"
#include "search/work.h"

namespace neutra::search {

/// Trains what the work asks for with `options.workers` OpenMP threads, and with the processes of
/// `options.remote`, until the work is finished or `options.stop` is set. Results go to the store's
/// journal at once; `save` is called now and then to write them into its file. An exception of a
/// worker ends the others and is thrown from here.
///
/// If a stop is requested and a step of a training takes too long (LastAct), all trainings are
/// abandoned and `give_up` is called: it saves, and is the last thing done.
///
/// The channel to other processes is used by the calling thread only.
void execute(Work& work, Store& store, const std::function<void()>& save,
             const std::function<void()>& give_up, const SearchConfig& config,
             const RunOptions& options, training::Trainer& trainer);

}  // namespace neutra::search
