#include "cli/network_text.h"

#include <map>
#include <set>

#include "base/error.h"
#include "cli/texts.h"
#include "evaluators/statistics.h"
#include "experiments/network_warnings.h"
#include "experiments/scoring_metric.h"

namespace neutra::cli {

namespace {

/// "161 generated, 150 of them evaluated", with the line for those that have no result.
std::string programs_text(const search::Network& network, const std::string& others) {
  std::int64_t evaluated = 0, invalid = 0, failed = 0;
  for (const search::Node& node : network.nodes) {
    evaluated += node.status != "pending";
    const training::RunStatus status =
        training::parse_run_status(node.status).value_or(training::RunStatus::kOk);
    if (status == training::RunStatus::kInvalid)
      ++invalid;
    else
      failed += !training::has_metric(status);
  }
  const auto generated = static_cast<std::int64_t>(network.nodes.size());
  std::string text = std::to_string(generated) + " generated, ";
  if (evaluated < generated) text += std::to_string(evaluated) + " of them evaluated, ";
  text += others + "\n";
  const std::string lost = without_result_text(invalid, failed);
  return lost.empty() ? text : text + "without result  " + lost + "\n";
}

/// "0.91 (mean of 10)", "3 of 10 diverged", "timeout": a run that was cut off has no metric.
std::string root_text(const search::Node& root) {
  if (evaluators::all_finite(root.metrics))
    return rounded(root.mean) + " (mean of " + std::to_string(root.metrics.size()) + ")";
  return root.status == "ok" || root.status == "diverged" ? mean_text(root.metrics) : root.status;
}

}  // namespace

std::string network_text(const search::Network& network, const experiments::Fault* fault,
                         const ListLimit& limit, const std::vector<std::string>& out_of_reach) {
  const bool maximize = network.goal == program::Goal::kMaximize;
  std::string text = network.fault_id + ": " + network.metric + ", " +
                     (maximize ? "higher" : "lower") + " is better\n";
  if (const std::string scored =
          fault && network.metric != "loss" ? experiments::scoring_text(*fault) : "";
      !scored.empty())
    text += scored + "\n";
  const search::Node* root = network.nodes.empty() ? nullptr : &network.nodes.front();
  if (root && !root->metrics.empty()) text += "buggy program   " + root_text(*root) + "\n";
  if (!network.fixed_metrics.empty())
    text += "known fix       " + mean_text(network.fixed_metrics) + "\n";
  for (const std::string& part : out_of_reach) text += "                " + part + "\n";
  if (network.improve)
    text +=
        "a repair        is significantly better than the buggy program (p < 0.05 and d >= 0.5;\n"
        "                or none of its trainings diverged and all of the buggy program's did)\n";
  if (network.ground_truth) text += "level to reach  " + rounded(*network.ground_truth) + "\n";

  if (experiments::buggy_reaches_level(network))
    text +=
        "                The buggy program reaches it itself, so a program below need not repair "
        "anything.\n";

  std::set<std::int64_t> kept;
  for (const auto& edge : network.edges) kept.insert({edge.parent, edge.child});
  const std::vector<const search::Node*> repairs = network.alternatives();
  text += "programs        " +
          programs_text(network,
                        std::to_string(kept.size()) + " in the network (" +
                            std::to_string(network.edges.size()) +
                            " edges), repairs of the fault: " + std::to_string(repairs.size()));
  if (const auto figures = search::complexity(network)) {
    text += "complexity      " + rounded(figures->mean) + " of " +
            std::to_string(figures->hyperparameters) + " hyperparameters differ from the known fix";
    if (figures->improvement) text += ", improvement " + rounded(*figures->improvement);
    text += "\n";
  }
  if (repairs.empty() || !root) return text + "\nNo repair was found.\n";

  return text + "\n" + repair_list(network, fault, limit);
}

NetworkComparison compare_networks(const search::Network& ours, const search::Network& recorded,
                                   const program::ProgramSpace* space) {
  const auto identity = [space](const program::Parameters& parameters) {
    try {
      if (space) return to_string(program::program_hash(space->instantiate(parameters)));
    } catch (const Error&) {
      // A value that makes no program.
    }
    return program::to_string(parameters);
  };
  std::map<std::string, const search::Node*> visited;
  for (const auto& node : ours.nodes) visited.emplace(identity(node.parameters), &node);
  NetworkComparison result;
  for (const auto& node : recorded.nodes) {
    ++result.recorded;
    const auto found = visited.find(identity(node.parameters));
    if (found == visited.end()) {
      result.missed.push_back(program::to_string(node.parameters));
      continue;
    }
    ++result.visited;
    if (!node.alternative) continue;
    ++result.recorded_alternatives;
    if (found->second->alternative)
      ++result.also_alternatives;
    else
      result.not_alternatives.push_back(program::to_string(node.parameters));
  }
  return result;
}

}  // namespace neutra::cli
