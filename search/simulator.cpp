#include "search/simulator.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <deque>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "base/counter_random.h"
#include "base/error.h"
#include "search/dispatcher.h"
#include "search/recorded_search.h"

namespace neutra::search {

// --- the lower bound ---

std::vector<WorkBlock> needed_work(const Network& network, const std::optional<Hash>& fixed,
                                   const std::function<double(const EvaluationKey&)>& seconds) {
  std::vector<WorkBlock> blocks(1);
  std::map<Hash, int> trained;  // replicas; programs that are one are trained once
  const auto add = [&](WorkBlock& block, const Hash& hash, std::size_t replicas) {
    for (int& replica = trained[hash]; replica < static_cast<int>(replicas); ++replica) {
      const double time = seconds({hash, replica});
      block.seconds += time;
      block.longest = std::max(block.longest, time);
    }
  };
  if (fixed) add(blocks[0], *fixed, network.fixed_metrics.size());
  std::vector<std::size_t> block_of;  // nodes
  for (std::size_t id = 0; id < network.nodes.size(); ++id) {
    const Node& node = network.nodes[id];
    if (id > 0 && node.parent != network.nodes[id - 1].parent) {
      blocks.push_back({.opener = block_of[static_cast<std::size_t>(node.parent)]});
    }
    block_of.push_back(blocks.size() - 1);
    add(blocks.back(), node.hash, node.metrics.size());
  }
  return blocks;
}

double lower_bound(const std::vector<WorkBlock>& blocks, double speed, double fastest,
                   bool speculate) {
  std::vector<double> begin, end;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const double before = i == 0 ? 0 : end[i - 1];
    begin.push_back(i == 0 ? 0 : speculate ? end[blocks[i].opener] : before);
    double least = std::max(before, begin[i] + blocks[i].longest / fastest);
    // Blocks are opened in order: what is behind the k-th one begins no earlier than that.
    double work = 0;
    for (std::size_t k = i + 1; k-- > 0;) {
      work += blocks[k].seconds;
      least = std::max(least, begin[k] + work / speed);
    }
    end.push_back(least);
  }
  return end.empty() ? 0 : end.back();
}

namespace {

constexpr std::int64_t kMostFailures = 10000;

/// What a store would keep, over all starts of the job.
class Ledger final : public EvaluationLog {
 public:
  void started(const EvaluationKey& key, bool isolated) override {
    if (!isolated) begun_.insert(key);
  }
  void finished(const EvaluationKey& key, const training::ReplicaResult& result) override {
    begun_.erase(key);
    results.own.emplace(key, result);
  }
  void dropped(const EvaluationKey& key) override { begun_.erase(key); }
  /// What has begun and is not dropped was lost with a process.
  void end_job() {
    std::set<Hash> lost;
    for (const EvaluationKey& key : std::exchange(begun_, {})) lost.insert(key.hash);
    for (const Hash& hash : lost) ++results.deaths[hash];
  }

  EarlierResults results;
  std::map<EvaluationKey, double> seconds;  ///< of trainings, on a thread that is no straggler

 private:
  std::set<EvaluationKey> begun_;
};

struct Rank {
  int threads = 0;
  double slowness = 1;
};

/// All ranks, some of them slow.
std::vector<Rank> make_ranks(const SimulatedCluster& cluster) {
  std::vector<Rank> ranks;
  for (int left = std::max(cluster.workers, 1); left > 0; left -= cluster.rank_threads) {
    ranks.push_back({std::min(left, cluster.rank_threads)});
  }
  std::vector<std::size_t> order(ranks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return mixed(cluster.seed ^ mixed(a)) < mixed(cluster.seed ^ mixed(b));
  });
  const auto slow = static_cast<std::size_t>(
      std::lround(cluster.straggler_share * static_cast<double>(ranks.size())));
  for (std::size_t i = 0; i < std::min(slow, order.size()); ++i) {
    ranks[order[i]].slowness = cluster.straggler_factor;
  }
  return ranks;
}

/// From one start of the ranks to the end of the search, or to the failure of one of them: a
/// discrete-event simulation around the scheduler of rank 0. The processes of its channel are the
/// other ranks, process 0 is rank 1.
class Job final : public RemoteWorkers {
 public:
  Job(const SimulatedCluster& cluster, const std::vector<Rank>& ranks, SearchMachine& machine,
      Ledger& ledger, training::Trainer& trainer, const training::TrainingJob& job,
      SimulatedRun& run)
      : cluster_(cluster),
        machine_(machine),
        ledger_(ledger),
        trainer_(trainer),
        job_(job),
        run_(run),
        now_(run.seconds),
        free_at_(run.seconds),
        ranks_(ranks.begin(), ranks.end()),
        dispatcher_(machine, ledger, *this, ranks_.at(0).threads, job, true) {}
  // Events refer to it.
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  std::size_t size() const override { return ranks_.size() - 1; }
  std::string name(std::size_t process) const override {
    return "rank " + std::to_string(process + 1);
  }
  void send(std::size_t process, RemoteOrder order) override;
  std::optional<RemoteReport> receive() override;

  /// True: the search is finished. False: it is `fails_at`, when rank `failing` does.
  bool work(double fails_at, std::size_t failing);

 private:
  struct State : Rank {
    explicit State(const Rank& rank) : Rank(rank), idle(rank.threads) {}
    int idle;                        ///< threads
    std::deque<RemoteTask> waiting;  ///< not begun
    std::set<std::uint64_t> held;    ///< ids of all that were sent to it and not answered
  };
  using Happening = std::function<void()>;

  void at(double time, Happening happening) {
    events_.emplace(std::pair(time, next_event_++), std::move(happening));
  }
  /// Lets the clock go on.
  void pass(double time) {
    run_.training_seconds += (time - now_) * running_;
    now_ = time;
  }
  void report(std::size_t process, RemoteReport report);
  void look();
  void communicate();
  void begin_here();
  void take(std::size_t process, RemoteOrder order);
  void begin_there(std::size_t process);
  training::ReplicaResult train(const std::shared_ptr<const program::Program>& program,
                                const EvaluationKey& key, const Rank& rank);
  void end_training(const training::ReplicaResult& result);
  void fail(std::size_t failing);

  const SimulatedCluster& cluster_;
  SearchMachine& machine_;
  Ledger& ledger_;
  training::Trainer& trainer_;
  const training::TrainingJob job_;
  SimulatedRun& run_;
  double now_ = 0;
  double free_at_ = 0;    ///< when rank 0 has dealt out and taken in what it is at
  bool looking_ = false;  ///< it will look for messages then
  std::vector<State> ranks_;
  Dispatcher dispatcher_;
  std::deque<RemoteReport> inbox_;  ///< of rank 0
  std::set<EvaluationKey> here_;    ///< in training in rank 0
  std::map<std::pair<double, std::uint64_t>, Happening> events_;
  std::uint64_t next_event_ = 0;
  int running_ = 0;
};

// --- rank 0 ---

void Job::send(std::size_t process, RemoteOrder order) {
  ++run_.messages;
  const auto tasks = static_cast<std::int64_t>(order.tasks.size());
  if (tasks > 0) {
    ++run_.orders;
    run_.tasks_sent += tasks;
    run_.largest_order = std::max(run_.largest_order, tasks);
  }
  for (const RemoteTask& task : order.tasks) ranks_[process + 1].held.insert(task.id);
  const double seconds =
      cluster_.task_seconds * static_cast<double>(std::max<std::int64_t>(tasks, 1));
  run_.dealing_seconds += seconds;
  free_at_ += seconds;
  at(free_at_ + cluster_.latency_seconds,
     [this, process, order = std::move(order)]() mutable { take(process, std::move(order)); });
}

std::optional<RemoteReport> Job::receive() {
  if (inbox_.empty()) return std::nullopt;
  RemoteReport report = std::move(inbox_.front());
  inbox_.pop_front();
  for (const std::uint64_t id : report.ids) ranks_[report.process + 1].held.erase(id);
  ++run_.messages;
  run_.dealing_seconds += cluster_.task_seconds;
  free_at_ += cluster_.task_seconds;
  return report;
}

/// Something has happened that the communicating thread should see.
void Job::look() {
  if (size() == 0 || std::exchange(looking_, true)) return;
  at(std::max(now_, free_at_), [this] {
    looking_ = false;
    communicate();
  });
}

void Job::communicate() {
  free_at_ = now_;
  dispatcher_.take_in();
  begin_here();
  if (!machine_.finished()) dispatcher_.deal(ranks_[0].idle);
}

void Job::begin_here() {
  State& rank = ranks_[0];
  while (rank.idle > 0 && !machine_.finished()) {
    std::optional<Task> task = machine_.next();
    if (!task) return;
    --rank.idle;
    const EvaluationKey key{task->hash, task->replica};
    ledger_.started(key, task->deaths >= kSuspectDeaths);
    here_.insert(key);
    const training::ReplicaResult result = train(task->program, key, rank);
    at(now_ + result.seconds, [this, key, task = std::move(*task), result] {
      ++ranks_[0].idle;
      here_.erase(key);
      end_training(result);
      ledger_.finished(key, result);
      dispatcher_.learn(key.hash, result.seconds);
      machine_.deliver(task, result);
      begin_here();
      look();
    });
  }
}

// --- the others ---

void Job::take(std::size_t process, RemoteOrder order) {
  State& rank = ranks_[process + 1];
  for (RemoteTask& task : order.tasks) rank.waiting.push_back(std::move(task));
  if (order.kind == RemoteOrder::Kind::kBegin) {
    report(process, {.kind = RemoteReport::Kind::kReady, .threads = rank.threads});
  } else if (order.kind == RemoteOrder::Kind::kRecall) {
    RemoteReport returned{.kind = RemoteReport::Kind::kReturned};
    for (; order.count > 0 && !rank.waiting.empty(); --order.count) {
      returned.ids.push_back(rank.waiting.back().id);
      rank.waiting.pop_back();
    }
    report(process, std::move(returned));
  }
  begin_there(process);
}

void Job::report(std::size_t process, RemoteReport report) {
  report.process = process;
  at(now_ + cluster_.latency_seconds, [this, report = std::move(report)] {
    inbox_.push_back(report);
    look();
  });
}

void Job::begin_there(std::size_t process) {
  State& rank = ranks_[process + 1];
  while (rank.idle > 0 && !rank.waiting.empty()) {
    const RemoteTask task = std::move(rank.waiting.front());
    rank.waiting.pop_front();
    --rank.idle;
    const training::ReplicaResult result = train(task.program, {task.hash, task.job.replica}, rank);
    at(now_ + result.seconds, [this, process, id = task.id, result] {
      ++ranks_[process + 1].idle;
      end_training(result);
      report(process, {.kind = RemoteReport::Kind::kFinished, .ids = {id}, .result = result});
      begin_there(process);
    });
  }
}

// --- trainings ---

training::ReplicaResult Job::train(const std::shared_ptr<const program::Program>& program,
                                   const EvaluationKey& key, const Rank& rank) {
  training::TrainingJob job = job_;
  job.program = program.get();
  job.replica = key.replica;
  training::ReplicaResult result = trainer_.train(job);
  ledger_.seconds[key] = result.seconds;
  result.seconds *= rank.slowness;
  ++running_;
  return result;
}

void Job::end_training(const training::ReplicaResult& result) {
  --running_;
  ++run_.trainings;
  run_.estimated += result.backend == RecordedSearch::kEstimated;
}

// --- the whole ---

bool Job::work(double fails_at, std::size_t failing) {
  dispatcher_.begin({});
  begin_here();
  while (!machine_.finished()) {
    assert(!events_.empty());
    const auto event = events_.extract(events_.begin());
    if (event.key().first > fails_at) {
      pass(fails_at);
      fail(failing);
      break;
    }
    pass(event.key().first);
    event.mapped()();
  }
  run_.seconds = machine_.finished() ? std::max(now_, free_at_) : now_;
  run_.begun_in_vain += running_;
  return machine_.finished();
}

/// As where MPI tells rank 0 of it: the others give back what they hold.
void Job::fail(std::size_t failing) {
  ++run_.failures;
  if (failing == 0) return;  // nobody is left to drop anything
  for (const EvaluationKey& key : here_) ledger_.dropped(key);
  const std::size_t process = failing - 1;
  try {
    inbox_.push_back({.kind = RemoteReport::Kind::kLost, .process = process});
    dispatcher_.take_in();
  } catch (const Error&) {
    dispatcher_.stop();
    for (std::size_t other = 0; other < size(); ++other) {
      const std::set<std::uint64_t>& held = ranks_[other + 1].held;
      if (other == process || held.empty()) continue;
      inbox_.push_back({.kind = RemoteReport::Kind::kStopped,
                        .process = other,
                        .ids = {held.begin(), held.end()}});
    }
    dispatcher_.take_in();
  }
}

}  // namespace

double SimulatedRun::efficiency() const {
  constexpr double kRounding = 1e-9;
  if (seconds <= 0) return 1;
  const double share = lower_bound / seconds;
  return std::abs(share - 1) < kRounding ? 1 : share;
}

SimulatedRun simulate(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
                      training::Trainer& trainer, const SimulatedCluster& cluster) {
  const std::vector<Rank> ranks = make_ranks(cluster);
  training::TrainingJob training;
  training.seed = config.seed;
  Ledger ledger;
  SimulatedRun run;
  const double rate = cluster.failures_per_hour / 3600 * static_cast<double>(ranks.size());
  for (;;) {
    const std::uint64_t bits =
        mixed(cluster.seed ^ mixed(static_cast<std::uint64_t>(run.failures)));
    const double uniform = static_cast<double>((bits >> 11) + 1) * 0x1p-53;
    const double fails_at =
        rate > 0 ? run.seconds - std::log(uniform) / rate : std::numeric_limits<double>::infinity();
    SearchMachine machine(task, space, config,
                          {cluster.curtail, cluster.reuse_identical, cluster.speculate, true},
                          ledger.results, trainer, [] { return 0.0; });
    Job job(cluster, ranks, machine, ledger, trainer, training, run);
    const bool finished = job.work(fails_at, mixed(bits) % ranks.size());
    ledger.end_job();
    if (finished) {
      run.network = machine.network();
      run.end = machine.end();
      break;
    }
    if (run.failures == kMostFailures) {
      throw failure("the simulated job failed " + std::to_string(kMostFailures) +
                    " times: fewer failures or ranks");
    }
    run.seconds += cluster.restart_seconds;
  }

  double speed = 0, fastest = 0;
  for (const Rank& rank : ranks) {
    speed += rank.threads / rank.slowness;
    fastest = std::max(fastest, 1 / rank.slowness);
  }
  const auto count_seconds = [&](const EvaluationKey& key) {
    ++run.needed;
    return ledger.seconds.at(key);
  };
  const std::optional<Hash> fixed =
      task.fixed ? std::optional(space.hash(*task.fixed)) : std::nullopt;
  const std::vector<WorkBlock> blocks = needed_work(run.network, fixed, count_seconds);
  for (const WorkBlock& block : blocks) run.needed_seconds += block.seconds;
  run.lower_bound = lower_bound(blocks, speed, fastest, cluster.speculate);
  return run;
}

}  // namespace neutra::search
