#pragma once

#include <cstddef>
#include <functional>

#include "base/parallel.h"
#include "fl_adapters/tool.h"

namespace neutra::fl_adapters {

/// Runs a tool `runs` times in parallel, once if no training is part of it; run i is replica i.
/// `done` is called as in run_all, whose errors it throws; runs that broke or ran out of time have
/// failed.
ToolAnswers localise_runs(const Tool& tool, const FaultyProgram& faulty,
                          const LocaliseContext& context, std::size_t runs, int workers,
                          const std::function<void(const Tally& runs)>& done = {});

}  // namespace neutra::fl_adapters
