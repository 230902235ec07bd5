#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mutators/neighbours.h"
#include "program/parameters.h"
#include "search/network.h"
#include "training/trainer.h"

namespace neutra::search {

class RemoteWorkers;

/// Which neighbours of a program the search goes on from (docs/methods/search.md).
enum class Rule {
  /// The paper's Algorithm 1: neutral means at least the parent's mean; the `top_k` best neutral
  /// neighbours are queued.
  kAlgorithm1,
  /// As seen in the published data: neutral means strictly better than the parent; the `top_k` best
  /// of them are queued. Those no better than the parent that still reach the ground truth are
  /// repairs, without limit, but are not queued. At most 4 changes deep unless set otherwise.
  kRecorded
};
std::string_view to_string(Rule rule);  ///< "algorithm1", "recorded"
/// The rule of such a word; nullopt: none has it.
std::optional<Rule> parse_rule(std::string_view word);

/// How neutral neighbours with equal means are ordered, where the top k of them are queued. Rule
/// kRecorded breaks ties by id whatever this says.
enum class TieOrder {
  kParameters,  ///< by the parameter string: the study, and every store that does not say
  kSpread       ///< over the kinds of hyperparameters (docs/methods/search.md, "Ties")
};
std::string_view to_string(TieOrder order);  ///< "parameters", "spread"
/// The order of such a word; nullopt: none has it.
std::optional<TieOrder> parse_tie_order(std::string_view word);

/// The best possible value of a metric where one is known: 1 for accuracies, 0 for errors.
std::optional<double> metric_bound(std::string_view metric, program::Goal goal);

/// Everything that decides which network comes out. Stored with the run; another value is another
/// search.
struct SearchConfig {
  mutators::Preset preset = mutators::Preset::kPaper;  ///< the values that are tried
  Rule rule = Rule::kAlgorithm1;
  TieOrder ties = TieOrder::kParameters;
  /// A repair is significantly better than the buggy program. The known fix is not trained, and a
  /// level is reached in addition only where `ground_truth_metric` gives one.
  bool improve = false;
  int top_k = 5;                 ///< neutral neighbours of a program that are queued, at most
  int replicas = 10;             ///< trainings of each program
  std::optional<int> max_depth;  ///< changes to the buggy program, at most
  std::optional<std::int64_t> budget_evaluations;  ///< programs that are judged, at most
  std::optional<double> budget_seconds;            ///< wall time, added up over resumes
  std::optional<double> ground_truth_metric;  ///< else the mean of the known fix, if not `improve`
  std::uint64_t seed = 0;                     ///< of all trainings
  double time_limit = 0;                      ///< seconds per training, 0: none
  std::uint64_t memory_limit = 0;             ///< bytes per training, 0: none
  std::string fingerprint;                    ///< Trainer::fingerprint() of the buggy program
};
/// How many changes lead to a program at most: programs with so many are not expanded; nullopt: no
/// limit.
std::optional<int> depth_limit(const SearchConfig& config);
/// As headers of stores hold it: every field, null where an optional one is not set.
Json to_json(const SearchConfig& config);
/// What stores that were made before a field of to_json() came meant: its value, by its name.
const Json& fields_of_older_stores();
/// Reads what to_json() wrote; fields_of_older_stores() for those that are missing. Throws
/// input_error that names `file` for a missing field or an unknown word.
SearchConfig search_config_from_json(const Json& json, const std::string& file);

/// How to run; none of this changes the network.
struct RunOptions {
  int workers = 1;              ///< threads that train, in this process
  bool curtail = true;          ///< stop training a candidate that cannot become neutral any more
  bool reuse_identical = true;  ///< train parameter strings that give one program only once
  bool speculate = true;        ///< workers run ahead into the next parent's neighbours
  std::vector<std::filesystem::path> reuse;  ///< stores whose evaluations count here too
  bool fresh = false;                        ///< begins anew where a store is there
  std::string command;                       ///< command line, for the file header
  Json provenance;                           ///< versions, machine, commit: for the file header
  /// Set by a signal: what is in flight is given up, the rest saved, run_search returns.
  const std::atomic<bool>* stop = nullptr;
  /// Called from worker threads under the search's lock, rarely (at most ten times a second).
  std::function<void(const struct Progress&)> progress;
  /// The search is over and minimising begins, which `progress` is about from now on.
  std::function<void()> minimising;
  /// Trains a program that has killed two processes in a process of its own; gives nullopt when
  /// that process died, too. Null: such a program trains while no other does.
  std::function<std::optional<training::ReplicaResult>(const training::TrainingJob&)> isolated;
  /// After the search: trains the sub-patches that decide which repairs are 1-minimal.
  bool minimise = false;
  std::optional<std::int64_t> budget_minimise;  ///< evaluations of that, besides the search's
  /// Processes that train, too; null: none.
  RemoteWorkers* remote = nullptr;
  Json remote_setup = {};  ///< tells them what they train for: RemoteOrder::setup
};

/// What is searched.
struct SearchTask {
  std::string fault_id;    ///< "D7"
  std::string fault_file;  ///< absolute, so that a store finds its fault again
  Json script = {};        ///< of the fault, as stores hold it; null: it has none
  const program::ProgramSpace* space = nullptr;  ///< base = buggy program
  program::Parameters start;                     ///< parameters of the buggy program
  std::optional<program::Program>
      fixed;  ///< known fix: its mean is the level to reach; repairs are tested against it
  std::optional<program::Parameters> fixed_parameters;  ///< of the known fix, where it has some
  program::Goal goal = program::Goal::kMaximize;        ///< of the metric
  std::string metric;                                   ///< "accuracy", "mae", ...
  std::optional<double> metric_bound;                   ///< metric_bound(), for curtailment
};

/// Counters of a run, for the report; never part of the network.
struct SearchCounters {
  std::int64_t evaluations = 0;                ///< candidates committed (the budget's unit)
  std::int64_t trainings = 0;                  ///< replicas trained in this process
  std::int64_t trainings_from_store = 0;       ///< taken from this store's earlier processes
  std::int64_t trainings_reused = 0;           ///< from --reuse stores
  std::int64_t trainings_saved_identical = 0;  ///< by reuse_identical
  std::int64_t trainings_saved_curtailed = 0;  ///< by curtail
  std::int64_t trainings_fused = 0;            ///< of `trainings`: by the fused back end
  std::int64_t epochs_reused = 0;              ///< of trainings that are parts of one another
  std::int64_t epochs_saved_dead = 0;          ///< not run as every weight was NaN
  std::int64_t speculative_trainings = 0;      ///< known not to be needed
  /// Programs that Keras would refuse, and that gave no metric; trainings that diverged, and that
  /// ran past their time limit.
  std::int64_t invalid = 0, failed = 0, diverged = 0, timed_out = 0;
  std::int64_t samples = 0;  ///< training rows seen, without those of epochs_reused
  double seconds = 0;        ///< of this process
  double total_seconds = 0;  ///< added up over resumes
};

/// An object with every counter by its name.
Json to_json(const SearchCounters& counters);
/// Reads what to_json() wrote; 0 for what is missing.
SearchCounters search_counters_from_json(const Json& json);

/// How far a search is, or minimising after it.
struct Progress {
  SearchCounters counters;
  std::int64_t queue = 0;  ///< programs to expand; of minimising: repairs still to be decided
  std::int64_t alternatives = 0;   ///< repairs found
  std::optional<double> fraction;  ///< of the evaluation or time budget
};

/// Why a search ended.
enum class SearchEnd { kQueueEmpty, kEvaluationBudget, kTimeBudget, kInterrupted };
/// "queue_empty", "evaluation_budget", "time_budget", "interrupted".
std::string_view to_string(SearchEnd end);
/// The same for people: "evaluation budget used up".
std::string_view end_text(SearchEnd end);
/// The end of such a word, as to_string() gives it; nullopt: none has it.
std::optional<SearchEnd> parse_search_end(std::string_view word);

/// What `RunOptions::minimise` did, in all processes so far.
struct Minimising {
  std::optional<std::int64_t> budget;  ///< evaluations; nullopt: as many as it takes
  /// kQueueEmpty: of every repair it is known whether it is 1-minimal.
  SearchEnd end = SearchEnd::kInterrupted;
  SearchCounters counters;  ///< evaluations are sub-patches; never part of the search's
};
/// An object of its fields; `budget` is null where there is none.
Json to_json(const Minimising& minimising);
/// Reads what to_json() wrote. Throws Json::exception where a field is missing.
Minimising minimising_from_json(const Json& json);

/// What run_search() gives.
struct SearchOutcome {
  Network network;
  SearchCounters counters;  ///< of the whole search; SearchCounters::seconds of this process
  SearchEnd end = SearchEnd::kQueueEmpty;
  bool was_finished = false;                  ///< the store was complete already: nothing trained
  std::optional<Minimising> minimising = {};  ///< the store's, also of earlier commands
};

}  // namespace neutra::search
