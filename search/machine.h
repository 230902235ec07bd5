#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "search/options.h"
#include "search/space.h"

namespace neutra {

/// The mean of some replicas, kept so that comparisons are exact: accuracies as integer counts,
/// other metrics as their sum in replica order.
struct MetricMean {
  bool usable = true;  ///< every metric is finite; otherwise the score is the worst possible
  bool exact = true;   ///< every metric is correct / total
  std::int64_t correct = 0, total = 0;
  double sum = 0;
  int replicas = 0;

  void add(const ReplicaResult& result);
  double mean() const;  ///< NaN when not usable or empty
  /// The same with the best possible metric (`bound`) for the replicas up to `count`; nullopt where
  /// that can't be told exactly.
  std::optional<MetricMean> completed(int count, double bound) const;
};
/// A level given as a number.
MetricMean mean_of_level(double level);
/// Positive: `a` is better, 0: a tie, negative: worse.
int compare_means(const MetricMean& a, const MetricMean& b, Goal goal);

struct EvaluationKey {
  Hash hash;
  int replica = 0;
  auto operator<=>(const EvaluationKey&) const = default;
};
using EvaluationMap = std::map<EvaluationKey, ReplicaResult>;

/// Where a search's trainings are written down as they go, for later processes.
class EvaluationLog {
 public:
  virtual ~EvaluationLog() = default;
  /// `apart`: in a process of its own, whose death is not ours.
  virtual void started(const EvaluationKey& key, bool apart) = 0;
  virtual void finished(const EvaluationKey& key, const ReplicaResult& result) = 0;
  /// The training was given up, not killed.
  virtual void dropped(const EvaluationKey& key) = 0;
};

/// What earlier processes left: results and, per program, how many processes died training it.
struct Memory {
  EvaluationMap own, reused;
  std::map<Hash, int> deaths;
};

inline constexpr int kSuspectDeaths = 2;  ///< from here on a program trains apart from the others
inline constexpr int kFatalDeaths = 3;    ///< from here on it has failed where nothing trains apart

/// One replica to train.
struct Task {
  std::size_t evaluation = 0;
  int replica = 0;
  Hash hash;
  int deaths = 0;  ///< processes that died training this program
  std::shared_ptr<const Program> program;
};

/// Of a program that three processes died in.
ReplicaResult failed_result();

/// The search as a deterministic state machine. It moves in the order of the serial algorithm:
/// candidates are committed by id, whatever the order in which results come in. Workers take tasks
/// with next() and give results to deliver(); they may run ahead into the neighbours of the next
/// parent, since every generated program counts as visited and the queue is first in, first out: a
/// block of neighbours is fixed as soon as its parent is at the head of the queue. What runs ahead
/// shows in no network and in no budget.
///
/// Not thread safe: the executor holds a lock.
class SearchMachine {
 public:
  struct Switches {
    bool curtail = true, reuse_identical = true, speculate = true;
    bool isolated = false;  ///< suspects train in a process of their own, not alone in this one
  };
  /// `elapsed`: total seconds of the search so far, for the time budget.
  SearchMachine(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
                Switches switches, Memory memory, Trainer& trainer,
                std::function<double()> elapsed);

  /// The next replica to train; nullopt: nothing to do now (finished() or others must report
  /// first).
  ///
  /// The lowest candidate that nobody is training comes first, replica by replica, so that few
  /// trainings overshoot a curtailment; when every candidate has a worker and no further block can
  /// be generated, the replicas of one candidate are shared out, so that no core is idle at a
  /// parent's end: first those that will be needed, as it seems, the longest trainings first.
  std::optional<Task> next() { return next(true, true); }
  /// For a worker that has other tasks to train first: a candidate that nobody is training, since
  /// further replicas of others might not be needed by then. `generate`: of a new block, if need
  /// be.
  std::optional<Task> next_ahead(bool generate) { return next(generate, false); }
  /// How many candidates next_ahead() finds without generating any.
  std::int64_t ahead();
  /// Throws Error when the known fix turns out not to train and its level is needed, or where
  /// repairs improve on the buggy program and that one doesn't train.
  void deliver(const Task& task, ReplicaResult result);
  /// Takes a task back that will not be delivered.
  void drop(const Task& task);

  /// Ends the search where its time has run out. next() and deliver() do so, too: this is for when
  /// nobody calls them.
  void check_time() { advance(); }

  bool finished() const { return end_.has_value(); }
  SearchEnd end() const { return end_.value_or(SearchEnd::kInterrupted); }
  /// The network of the serial search up to here.
  Network network() const;
  SearchCounters counters() const;
  std::int64_t queue_length() const;
  std::int64_t alternatives() const { return alternatives_; }
  std::optional<double> fraction() const;  ///< of the budget

 private:
  enum class Origin { kNone, kStore, kReused, kTrained };
  struct Slot {
    Origin origin = Origin::kNone;
    bool running = false;
    bool used = false;  ///< counted for some node
    ReplicaResult result;
  };
  /// A program in training; nodes whose strings give the same program share one.
  struct Evaluation {
    Hash hash;
    std::shared_ptr<const Program> program;  ///< dropped when committed
    std::optional<std::string> refusal;
    std::vector<Slot> slots;
    int running = 0;
    int deaths = 0;
    double seconds = 0;  ///< of the trainings that are known ...
    int known = 0;       ///< ... so many
  };
  struct Candidate {
    Node node;
    std::size_t evaluation = 0;
    MetricMean score;  ///< of the first `checked` replicas
    int checked = 0;
    int counted = -1;     ///< replicas that decide; -1: not decided yet
    double foreseen = 0;  ///< seconds of a training, before the first one
  };
  /// The unvisited neighbours of a parent: candidates [first, end).
  struct Block {
    std::int64_t parent = -1, first = 0, end = 0;
  };

  std::optional<Task> next(bool generate, bool share);
  std::size_t add_evaluation(const std::function<Program()>& make, const std::string& name);
  void add_candidate(Node node);
  void generate();
  void advance();
  bool fixed_ready();
  bool decided(Candidate& candidate);
  int expected_replicas(const Candidate& candidate) const;
  double expected_seconds(const Candidate& candidate) const;
  bool is_neutral(const MetricMean& score, const MetricMean& parent) const;
  bool reaches_level(const MetricMean& score) const;
  bool can_repair(const MetricMean& best) const;
  bool ruled_out(const Candidate& candidate) const;
  void judge(Candidate& candidate);
  bool out_of_time() const;
  void commit(Candidate& candidate);
  void finish_parent(const Block& block);
  std::vector<std::int64_t> top_k(std::vector<std::int64_t> neutral);
  void spread(std::vector<std::int64_t>& ties, std::size_t places);
  void count(Evaluation& evaluation, int replicas);
  std::int64_t budget() const;
  std::int64_t undecided_trainings() const;
  std::optional<int> trainable(std::size_t evaluation) const;
  Task hand_out(std::size_t evaluation, int replica, const Parameters* parameters);

  const SearchTask& task_;
  const SearchSpace& space_;
  const SearchConfig config_;
  const Switches switches_;
  const Memory memory_;
  Trainer& trainer_;
  const std::function<double()> elapsed_;

  std::deque<Evaluation> evaluations_;
  std::map<Hash, std::size_t> by_hash_;
  std::deque<Candidate> candidates_;  ///< by id
  std::unordered_set<std::string> visited_;
  std::deque<std::int64_t> queue_;
  std::deque<Block> blocks_;  ///< the front one is being committed, the others run ahead
  bool open_ = true;          ///< the front block's parent has been dequeued
  std::int64_t next_commit_ = 0;
  std::int64_t shown_ = 1;  ///< candidates of dequeued parents: those of the network
  std::int64_t dequeued_ = 0;
  std::vector<Edge> edges_;
  std::optional<std::size_t> fixed_;  ///< evaluation of the known fix
  std::vector<double> fixed_metrics_;
  std::optional<MetricMean> level_;  ///< the ground truth, once known and if there is one
  bool fixed_done_ = false;
  bool alone_ = false;  ///< a suspect is in training: nothing else may run
  int running_ = 0;
  std::int64_t alternatives_ = 0;
  /// How many queued programs changed a hyperparameter of this kind (operator), and this one (key).
  std::map<std::string, std::int64_t> queued_kinds_, queued_keys_;
  std::int64_t used_trainings_ = 0;
  std::int64_t counted_replicas_ = 0;  ///< of all committed candidates but the root
  /// By changed key and new value: how many times as long as their parents candidates took (sum,
  /// count).
  std::map<std::pair<std::string, std::string>, std::pair<double, int>> slower_;
  SearchCounters counters_;
  std::optional<SearchEnd> end_;
};

}  // namespace neutra
