#pragma once

#include <cmath>
#include <string>
#include <utility>

#include "report/report.h"

/// What reports on searches of D7 are made of.
namespace neutra::report::tests {

/// A program with ten runs of the same mean.
inline search::Node node(std::int64_t id, program::Parameters parameters, double mean) {
  search::Node made;
  made.id = id;
  made.parameters = std::move(parameters);
  made.status = "ok";
  made.metrics.assign(10, mean);
  made.mean = mean;
  return made;
}

/// D7 with two repairs, one of them the known fix, on the way of a neutral program.
inline ReportInput d7() {
  ReportInput input;
  input.file = "folder/D7.h5";
  experiments::NetworkFile& loaded = input.network;
  loaded.fault = experiments::load_fault("D7");
  const program::ProgramSpace& space = loaded.fault->space;
  const program::Parameters& start = space.base_parameters();
  search::Network& network = loaded.network;
  network.fault_id = "D7";
  network.metric = "mae";
  network.goal = program::Goal::kMinimize;
  network.fixed_parameters = loaded.fault->fixed_parameters;
  network.fixed_metrics.assign(10, 0.2);
  network.ground_truth = 0.2;
  network.nodes = {node(0, start, 6), node(3, space.with_changes({{"epochs", "400"}}), 5),
                   node(4, *network.fixed_parameters, 0.2),
                   node(7, space.with_changes({{"epochs", "400"}, {"lr", "0.01"}}), 0.1),
                   node(8, space.with_changes({{"epochs", "100"}}), 7)};
  network.nodes[2].alternative = network.nodes[3].alternative = true;
  network.nodes[3].significant = true;
  network.nodes[1].queued = true;
  network.edges = {{0, 3}, {0, 4}, {3, 7}};  // node 8 led nowhere
  loaded.header = {{"command", "neutra search D7"}, {"seed", 5}, {"config", {{"top_k", 5}}}};
  return input;
}

/// A program of a search from D7 that came from `parent` by one change.
inline search::Node changed(std::int64_t id, const search::Node& parent, const std::string& key,
                            const std::string& value, double mean) {
  program::Parameters parameters = parent.parameters;
  const std::string before = parameters[key];
  parameters[key] = value;
  search::Node made = node(id, std::move(parameters), mean);
  made.parent = parent.id;
  made.depth = parent.depth + 1;
  made.mutation = {"op", key, before, value};
  return made;
}

/// d7() with the programs that led nowhere, one for each reason.
inline ReportInput d7_with_rejected() {
  ReportInput input = d7();
  search::Network& network = input.network.network;
  const search::Node root = network.nodes[0];
  network.nodes = {root};
  network.nodes.push_back(changed(1, root, "epochs", "400", 5));
  network.nodes.back().queued = network.nodes.back().neutral = true;
  const search::Node neutral = network.nodes.back();
  network.nodes.push_back(changed(2, root, "epochs", "100", 7));  // worse
  search::Node early = changed(3, root, "batch_size", "64", std::nan(""));
  early.status = "curtailed";
  early.metrics = {9, 8};
  network.nodes.push_back(early);
  network.nodes.push_back(changed(4, root, "batch_size", "16", 6));  // neutral, not among the best
  network.nodes.back().neutral = true;
  search::Node wild = changed(5, root, "loss", "poisson", std::nan(""));
  wild.status = "diverged";
  wild.metrics.back() = std::nan("");
  network.nodes.push_back(wild);
  search::Node refused = changed(6, root, "loss", "no_such_loss", std::nan(""));
  refused.status = "invalid";
  refused.metrics.clear();
  network.nodes.push_back(refused);
  search::Node late = refused;
  late.id = 7;
  late.status = "timeout";
  network.nodes.push_back(late);
  network.nodes.push_back(changed(8, root, "lr", "0.1", 0.2));
  network.nodes.back().alternative = true;
  network.nodes.push_back(changed(9, neutral, "lr", "0.01", 0.1));
  network.nodes.back().alternative = network.nodes.back().significant = true;
  network.nodes.push_back(changed(10, neutral, "act1", "relu", 5));  // as good as its parent
  search::Node waits = changed(11, neutral, "act1", "tanh", std::nan(""));
  waits.status = "pending";
  waits.metrics.clear();
  network.nodes.push_back(waits);
  network.edges = {{0, 1}, {0, 8}, {1, 9}};
  return input;
}

}  // namespace neutra::report::tests
