#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "mutators/neighbours.h"
#include "program/parameters.h"
#include "program/program.h"

namespace neutra::search {

class SearchSpace;

/// A generated program.
struct Node {
  std::int64_t id = 0;  ///< root 0, then in order of generation
  program::Parameters parameters;
  Hash hash;                    ///< of the program, or where there is none of the parameters' text
  std::int64_t parent = -1;     ///< the node whose neighbour it was generated as; -1: the root
  int depth = 0;                ///< changes from the root; of a sub-patch: to the buggy program
  mutators::Mutation mutation;  ///< how it differs from its parent
  /// "ok", "curtailed", "invalid", "pending", "failed", ... (docs/formats/store.md).
  std::string status;
  std::vector<double> metrics;  ///< per replica, in order; fewer when curtailed
  double mean = 0;              ///< of all replicas; NaN when curtailed
  bool neutral = false;         ///< with its parent
  bool queued = false;          ///< among the top k
  bool alternative = false;     ///< a repair: reaches the level (see Network::improve)
  /// Significantly better than the known fix, or where repairs improve, than the buggy program: p
  /// and d are of that comparison (evaluators/comparison.h).
  bool significant = false;
  double p = 1, d = 0;
  std::int64_t dequeued = -1;  ///< position in the order of dequeuing, -1: not expanded
};

/// A row of the network: the search kept `child`, a neighbour of `parent`; both are ids.
struct Edge {
  std::int64_t parent = 0, child = 0;
};

/// Result of a search, also read from a published TSV.
struct Network {
  std::string fault_id;  ///< "D7"; from a TSV: ""
  std::string metric = "accuracy";
  program::Goal goal = program::Goal::kMaximize;  ///< of the metric
  /// A repair is significantly better than the buggy program; else it reaches the ground truth.
  bool improve = false;
  std::vector<Node> nodes;             ///< by id; from a TSV: those that occur
  std::vector<Edge> edges;             ///< rows: by the parent's dequeue order, then node id
  std::optional<double> ground_truth;  ///< the level that repairs reach; nullopt: none, or not yet
  std::vector<double> fixed_metrics;   ///< of the known fix; one that isn't finite diverged
  std::optional<program::Parameters> fixed_parameters;  ///< of the known fix, where it has some
  /// Programs evaluated after the search, to tell which repairs are small (search/minimal.h): in no
  /// row and no edge. Ids are -1, -2, ...; those that are repairs have `alternative`.
  std::vector<Node> subpatches;

  const Node* find(std::int64_t id) const;        ///< nullptr: no such node
  std::vector<const Node*> alternatives() const;  ///< the repairs among the nodes, by id
  bool is_known_fix(const Node& node) const;      ///< has it the known fix's parameters?
};

/// The nodes of the rows, and the buggy program even without rows; by id.
std::vector<const Node*> drawn_nodes(const Network& network);

/// The published seven columns (docs/formats/network.md). Reads by header name; rows keep their
/// order. is_gt marks the repairs; goal, metric, level and known fix are not in the file: the
/// caller supplies them. Throws input_error with line and column.
Network read_network_tsv(const std::filesystem::path& file);

// Writers (docs/formats/network.md): each writes the rows (edges) and the nodes that occur in them,
// so the bytes depend on nothing but the network: no times, no counters, no nodes that led nowhere.

/// The published seven columns.
void write_tsv(const Network& network, std::ostream& out);
/// GraphML with the parameters, metrics and roles of nodes, and with the changes of edges.
void write_graphml(const Network& network, std::ostream& out);
/// For Graphviz, with labels on the edges.
void write_dot(const Network& network, std::ostream& out);
/// For pictures: what an edge changes is a node on it, which Graphviz places better than a label.
void write_picture_dot(const Network& network, std::ostream& out);
/// A document "neutra-network". `space` gives the programs by which changes that do nothing are
/// told; nullptr: not at hand.
Json to_json(const Network& network, const SearchSpace* space = nullptr);

/// The study's Table 9: in how many hyperparameters the repairs differ from the known fix, and how
/// much better they are, on average.
struct Complexity {
  double mean = 0;          ///< hyperparameters that differ, on average over the repairs
  int hyperparameters = 0;  ///< that the known fix has
  /// mean(repairs) - level to reach, with the sign that makes larger better.
  std::optional<double> improvement;
};
/// nullopt without repairs or without the known fix's parameters.
std::optional<Complexity> complexity(const Network& network);

}  // namespace neutra::search
