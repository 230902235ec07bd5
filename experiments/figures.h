#pragma once

#include <string>
#include <vector>

#include "experiments/scoring.h"
#include "search/network.h"

namespace neutra {

/// The study's Figure 1 in SVG: a neutrality network, the buggy program at the left, each node in
/// the column of its distance from it. Black: the buggy program; blue: significantly better than
/// the known fix; green: at least as good; white: neutral with its parent.
std::string network_figure(const Network& network);

/// The study's Figure 2 in SVG: mean seconds of one localisation (logarithmic) against mean F3 of
/// each tool whose times are known; hollow before neutrality analysis, filled after it.
std::string time_figure(const ScoreSheet& sheet);

struct EfficiencyPoint {
  int workers = 1;
  double efficiency = 0;  ///< lower bound of the time, by the time
  std::string series;
};

/// Efficiency against workers (logarithmic) in SVG, a line for each series.
std::string efficiency_figure(const std::vector<EfficiencyPoint>& points);

}  // namespace neutra
