#pragma once

#include <optional>
#include <string>
#include <vector>

#include "experiments/catalog.h"
#include "experiments/network_file.h"

namespace neutra::experiments {

/// Does the buggy program reach the level that makes a repair? Then any program that is no worse
/// than it counts as one. False where repairs improve, and where no level or metric is known.
bool buggy_reaches_level(const search::Network& network);

/// What a search cannot come to of a fault's known fix, a line each; empty: nothing, or there is no
/// known fix. `max_depth`: changes that the search makes at most.
std::vector<std::string> reach_lines(const Fault& fault, mutators::Preset preset,
                                     std::optional<int> max_depth = {});

/// Why a network may say less than it seems to, a sentence each: the buggy program reaches the
/// level, the known fix is out of reach, programs without a result, targets on different scales,
/// callbacks that do nothing (program/warnings.h), no repair.
std::vector<std::string> network_warnings(const NetworkFile& loaded);

}  // namespace neutra::experiments
