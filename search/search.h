#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "mutators/neighbours.h"
#include "program/parameters.h"
#include "training/trainer.h"

namespace neutra {

enum class Rule {
  kAlgorithm1,  ///< the paper's Algorithm 1: neutral = at least the parent's mean; top_k best neutral neighbours are queued
  kRecorded     ///< seen in the published data: strictly better than the parent; children of repaired nodes that reach the
                ///< ground truth are kept without limit; depth at most 4 unless set
};

/// Everything that decides which network comes out. Stored with the run; another value is another search.
struct SearchConfig {
  Preset preset = Preset::kPaper;
  Rule rule = Rule::kAlgorithm1;
  int top_k = 5;
  int replicas = 10;
  std::optional<int> max_depth;
  std::optional<std::int64_t> budget_evaluations;
  std::optional<double> budget_seconds;              ///< wall time, added up over resumes
  std::optional<double> ground_truth_metric;         ///< else the mean of the known fix
  std::uint64_t seed = 0;
  double time_limit = 0;                             ///< seconds per training, 0: none
  std::uint64_t memory_limit = 0;                    ///< bytes per training, 0: none
  std::string fingerprint;                           ///< Trainer::fingerprint()
};
Json to_json(const SearchConfig& config);
SearchConfig search_config_from_json(const Json& json, const std::string& file);

/// How to run; none of this changes the network.
struct RunOptions {
  int workers = 1;
  bool curtail = true;                               ///< saving (b)
  bool reuse_identical = true;                       ///< saving (a)
  bool speculate = true;                             ///< workers run ahead into the next parent's neighbours
  std::vector<std::filesystem::path> reuse;          ///< finished stores whose evaluations count here too
  bool fresh = false;
  std::string command;                               ///< command line, for the file header
  Json provenance;                                   ///< versions, machine, commit: for the file header
  const std::atomic<bool>* stop = nullptr;           ///< set by a signal: finish or drop what is in flight, save, return
  /// Called from worker threads under the search's lock, rarely (at most ten times a second).
  std::function<void(const struct Progress&)> progress;
  /// Trains a program that two processes died in, in a process of its own; nullopt when that process died too.
  std::function<std::optional<ReplicaResult>(const TrainingJob&)> isolated;
};

/// What is searched.
struct SearchTask {
  std::string fault_id;
  const ProgramSpace* space = nullptr;               ///< base = buggy program
  Parameters start;                                  ///< parameters of the buggy program
  std::optional<Program> fixed;                      ///< known fix, trained for acc_gt and the significance marks
  std::optional<Parameters> fixed_parameters;
  Goal goal = Goal::kMaximize;
  std::string metric;                                ///< "accuracy", "mae", ...
  std::optional<double> metric_bound;                ///< best possible value (1 for accuracies, 0 for errors), for curtailment
};

/// A generated program.
struct Node {
  std::int64_t id = 0;                               ///< root 0, then in order of generation
  Parameters parameters;
  Hash hash;
  std::int64_t parent = -1;                          ///< the node whose neighbour it was generated as
  int depth = 0;
  Mutation mutation;                                 ///< how it differs from its parent
  std::string status;                                ///< "ok", "curtailed", "invalid", "pending", "failed", ...
  std::vector<double> metrics;                       ///< per replica, in order; fewer when curtailed
  double mean = 0;                                   ///< of all replicas; NaN when curtailed
  bool neutral = false;                              ///< with its parent
  bool queued = false;                               ///< among the top k
  bool alternative = false;                          ///< neutral with the ground truth
  bool significant = false;                          ///< significantly better than the known fix (GLM p < .05 and d >= .5)
  double p = 1, d = 0;
  std::int64_t dequeued = -1;                        ///< position in the order of dequeuing, -1: not expanded
};

struct Edge {
  std::int64_t parent = 0, child = 0;
};

/// Result of a search, also read from a published TSV.
struct Network {
  std::string fault_id;
  std::string metric = "accuracy";
  Goal goal = Goal::kMaximize;
  std::vector<Node> nodes;                           ///< by id; from a TSV: those that occur
  std::vector<Edge> edges;                           ///< rows: by the parent's dequeue order, then node id
  std::optional<double> ground_truth;                ///< level used
  std::vector<double> fixed_metrics;                 ///< of the known fix
  std::optional<Parameters> fixed_parameters;
  const Node* find(std::int64_t id) const;
  std::vector<const Node*> alternatives() const;     ///< by id
};

/// Counters of a run, for the report; never part of the network.
struct SearchCounters {
  std::int64_t evaluations = 0;                      ///< candidates committed (the budget's unit)
  std::int64_t trainings = 0;                        ///< replicas trained in this process
  std::int64_t trainings_from_store = 0;             ///< taken from this store's earlier processes
  std::int64_t trainings_reused = 0;                 ///< from --reuse stores
  std::int64_t trainings_saved_identical = 0;        ///< (a)
  std::int64_t trainings_saved_curtailed = 0;        ///< (b)
  std::int64_t epochs_saved_dead = 0;                ///< (d)
  std::int64_t speculative_trainings = 0;            ///< not needed in the end
  std::int64_t invalid = 0, failed = 0, diverged = 0, timed_out = 0;
  std::int64_t samples = 0;
  double seconds = 0;                                ///< of this process
  double total_seconds = 0;                          ///< added up over resumes
};

struct Progress {
  SearchCounters counters;
  std::int64_t queue = 0;
  std::int64_t alternatives = 0;
  std::optional<double> fraction;                    ///< of the evaluation or time budget
};

enum class SearchEnd { kQueueEmpty, kEvaluationBudget, kTimeBudget, kInterrupted };

struct SearchOutcome {
  Network network;
  SearchCounters counters;
  SearchEnd end = SearchEnd::kQueueEmpty;
  bool was_finished = false;                         ///< the store was complete already: nothing trained
};

/// Runs or continues the search kept in `store` (an HDF5 file, with FILE.journal beside it while unfinished).
/// Throws Error: store locked by another process (names it), made with other options (names the difference), damaged,
/// of a newer version, or the disk is full (what was done is kept).
SearchOutcome run_search(const SearchTask& task, const SearchConfig& config, const RunOptions& options, Trainer& trainer,
                         const std::filesystem::path& store);

/// The network of a store (finished or not), without a lock. Throws input_error for a file that is none.
struct StoredRun {
  Json header;                                       ///< format, version, command, provenance, config, fault
  Network network;
  SearchCounters counters;
  bool finished = false;
  SearchEnd end = SearchEnd::kInterrupted;
};
StoredRun read_store(const std::filesystem::path& store);

/// Integrity of a store and its journal: every problem found, empty when sound.
std::vector<std::string> check_store(const std::filesystem::path& store);

/// The published seven columns. Reads by header name; rows keep their order. Throws input_error with line and column.
Network read_network_tsv(const std::filesystem::path& file);

void write_tsv(const Network& network, std::ostream& out);
void write_graphml(const Network& network, std::ostream& out);
void write_dot(const Network& network, std::ostream& out);
Json to_json(const Network& network);

/// Table 9: how many hyperparameters the alternatives differ in from the known fix, and how much better they are, on average.
struct Complexity {
  double mean = 0;
  int hyperparameters = 0;
  std::optional<double> improvement;                 ///< mean(alternatives) - ground truth, sign so that larger is better
};
std::optional<Complexity> complexity(const Network& network);

}  // namespace neutra
