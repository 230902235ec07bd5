#pragma once

#include <filesystem>
#include <string>

#include "experiments/catalog.h"

namespace neutra::experiments {

/// The fault with one metric for all its programs, that of the buggy one: `loss` means another
/// function in each program with another loss, and penalties of regularisers besides, so it becomes
/// the metric that has the name of the buggy program's loss (training/metrics.h). The metric is
/// part of every program's hash: evaluations by different functions never stand for one another.
/// Invalid programs stay as they are.
Fault scored_alike(Fault fault);
/// The same for a program that others are compared with.
program::Program scored_by_name(program::Program program);

/// scored_alike(), but for a fault whose store was begun by a version in which `loss` was each
/// program's own: it stays as it is, so that the store can go on, and `warning` says so.
Fault scored_as_begun(Fault fault, const std::filesystem::path& store, std::string& warning);

/// "scored by mean_squared_error, the buggy program's loss", where that is the metric; "" for
/// others.
std::string scoring_text(const Fault& fault);

/// A sentence that says that buggy and fixed program have targets on different scales, on which the
/// metric depends; "" where they haven't.
std::string scale_warning(const Fault& fault);

/// Writes scoring_text() and scale_warning() to stderr; `quiet`: the warning alone.
void tell_scoring(const Fault& fault, bool quiet);

}  // namespace neutra::experiments
