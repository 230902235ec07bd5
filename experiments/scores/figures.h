#pragma once

#include <string>
#include <vector>

#include "experiments/scores/scoring.h"
#include "search/network.h"

namespace neutra::experiments {

/// The study's Figure 1 in SVG: a neutrality network, the buggy program at the left, each node in
/// the column of its distance from it. Black: the buggy program; blue: significantly better than
/// the known fix; green: at least as good; white: neutral with its parent; dashed ring: equal to
/// the known fix.
std::string network_figure(const search::Network& network);

/// What a tool's answers take and are worth: means over the faults of a sheet.
struct ToolTime {
  std::string tool;              ///< name
  double seconds = 0;            ///< of one localisation, over the faults where it is known
  double before = 0, after = 0;  ///< F3 before and after neutrality analysis
};
/// Times and scores of each tool whose times are known.
std::vector<ToolTime> tool_times(const ScoreSheet& sheet);

/// The study's Figure 2 in SVG: tool_times(), the seconds logarithmic; hollow before neutrality
/// analysis, filled after it.
std::string time_figure(const ScoreSheet& sheet);

/// The sheet's tools on an axis of their mean ranks by recall, before and after neutrality
/// analysis, in SVG (Demsar, 2006, Figure 1). A bar joins neighbours of whom no two differ at the
/// level 0.05: black by Nemenyi's test, blue by Wilcoxon's with Holm's adjustment. With fewer
/// faults than least_blocks() there are no bars, and the figure says so. The sheet has an order.
std::string critical_difference_figure(const ScoreSheet& sheet);

/// How well a number of workers is used.
struct EfficiencyPoint {
  int workers = 1;        ///< trainings at the same time
  double efficiency = 0;  ///< lower bound of the time, by the time
  std::string series;
};

/// Efficiency against workers (logarithmic) in SVG, a line for each series.
std::string efficiency_figure(const std::vector<EfficiencyPoint>& points);

}  // namespace neutra::experiments
