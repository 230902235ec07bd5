#pragma once

#include <vector>

#include "source/matcher.h"

namespace neutra::source {

/// Where a rule looks, and what its conditions have shown so far.
struct Situation {
  NodeId start = kNoNode;
  std::vector<NodeId> evidence;  ///< nodes that a finding names
  const Matcher* start_matcher = nullptr;
};

}  // namespace neutra::source
