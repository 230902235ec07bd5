// How tasks are dealt out, with processes that are numbers in a table and a clock that a test
// turns.

#include "search/dispatcher.h"

#include <gtest/gtest.h>

#include <queue>

#include "tests/search/fakes.h"

namespace neutra::testing {
namespace {

/// Processes that keep what they are sent.
class Table : public RemoteWorkers {
 public:
  explicit Table(std::size_t size) : sent(size) {}
  std::size_t size() const override { return sent.size(); }
  std::string name(std::size_t process) const override {
    return "process " + std::to_string(process);
  }
  void send(std::size_t process, RemoteOrder order) override {
    sent[process].push_back(std::move(order));
  }
  std::optional<RemoteReport> receive() override {
    if (reports.empty()) return std::nullopt;
    RemoteReport report = std::move(reports.front());
    reports.pop_front();
    return report;
  }
  void report(std::size_t process, RemoteReport report) {
    report.process = process;
    reports.push_back(std::move(report));
  }
  /// Tasks of all orders to train so far.
  std::vector<RemoteTask> tasks(std::size_t process) const {
    std::vector<RemoteTask> tasks;
    for (const RemoteOrder& order : sent[process])
      tasks.insert(tasks.end(), order.tasks.begin(), order.tasks.end());
    return tasks;
  }

  std::vector<std::vector<RemoteOrder>> sent;
  std::deque<RemoteReport> reports;
};

/// A search of `c` with everything but workers.
struct Bench {
  Bench(const Case& search, std::size_t processes, std::vector<int> threads, int local = 0,
        Memory memory = {}, bool isolated = true)
      : c(search),
        trainer(c.landscape),
        table(processes),
        store(folder / "s.h5", header(), true),
        machine(c.task, c.space, c.config, {.isolated = isolated}, std::move(memory), trainer,
                [] { return 0.0; }),
        dispatcher(machine, store, table, local, {}, isolated) {
    for (std::size_t i = 0; i < threads.size(); ++i) {
      table.report(i, {.kind = RemoteReport::Kind::kReady, .threads = threads[i]});
    }
    dispatcher.take_in();
  }
  static Json header() { return {{"format", "neutra-store"}, {"version", 1}, {"command", ""}}; }
  void finish(std::size_t process, const RemoteTask& task, double seconds) {
    RemoteReport report{.kind = RemoteReport::Kind::kFinished, .ids = {task.id}};
    report.result = trainer.result_of(task.program->document.at("meaning").get<std::string>(),
                                      task.job.replica);
    report.result.seconds = seconds;
    table.report(process, std::move(report));
  }
  /// Ends the known fix and the root, so that the root's neighbours are next.
  void to_first_block(double seconds) {
    for (;;) {
      dispatcher.deal(0);
      bool any = false;
      for (std::size_t process = 0; process < table.size(); ++process) {
        for (const RemoteTask& task : table.tasks(process)) {
          if (!done.insert(task.id).second) continue;
          any = true;
          finish(process, task, seconds);
          dispatcher.take_in();
          if (machine.counters().evaluations > 0) return;
        }
      }
      ASSERT_TRUE(any);
    }
  }
  std::vector<RemoteTask> open(std::size_t process) const {
    std::vector<RemoteTask> tasks;
    for (const RemoteTask& task : table.tasks(process)) {
      if (!done.count(task.id)) tasks.push_back(task);
    }
    return tasks;
  }
  /// Programs that would count a death if this process died now.
  std::set<Hash> in_training() const {
    std::set<Hash> programs;
    for (const auto& [hash, count] : load_store(folder / "s.h5").deaths) programs.insert(hash);
    return programs;
  }

  Case c;
  TemporaryFolder folder;
  FakeTrainer trainer;
  Table table;
  Store store;
  SearchMachine machine;
  Dispatcher dispatcher;
  std::set<std::uint64_t> done;
};

Case wide_case() {
  Case c = plain_case(2);
  c.space = FakeSpace(20, 4);  // 60 neighbours
  c.task.start = c.space.start();
  Parameters fixed = c.task.start;
  fixed["c"] = "1";
  c.task.fixed = c.space.program(fixed);
  c.task.fixed_parameters = fixed;
  c.config.budget_evaluations.reset();
  return c;
}

TEST(Durations, OwnMeanElseMedianOfTheLast) {
  Durations durations;
  EXPECT_FALSE(durations.known());
  EXPECT_FALSE(durations.predict({1, 1}));
  for (int i = 0; i < 100; ++i) durations.learn({2, static_cast<std::uint64_t>(i)}, 50);
  for (int i = 0; i < 31; ++i) durations.learn({3, static_cast<std::uint64_t>(i)}, i);
  durations.learn({1, 1}, 2);
  durations.learn({1, 1}, 4);
  EXPECT_EQ(durations.predict({1, 1}), 3);
  EXPECT_EQ(durations.predict({9, 9}), 15);  // of 2 to 30, 2 and 4
}

TEST(Dispatcher, UnknownTrainingsGoOutSingly) {
  Bench bench(wide_case(), 3, {1, 2});  // the third is not ready yet
  EXPECT_TRUE(bench.dispatcher.deal(0));
  EXPECT_FALSE(bench.dispatcher.deal(0));
  EXPECT_EQ(bench.table.tasks(0).size(), 1U);
  EXPECT_EQ(bench.table.tasks(1).size(), 2U);
  EXPECT_EQ(bench.table.tasks(2).size(), 0U);
}

TEST(Dispatcher, AChunkIsSomeTimeOfDifferentCandidates) {
  Bench bench(wide_case(), 1, {1});
  bench.to_first_block(Dispatcher::kShortestChunk / 6.5);
  bench.dispatcher.deal(0);
  const auto open = bench.open(0);
  EXPECT_EQ(open.size(), 7U);
  std::set<Hash> programs;
  for (const RemoteTask& task : open) programs.insert(task.hash);
  EXPECT_EQ(programs.size(), open.size());
}

TEST(Dispatcher, LongTrainingsGoOutSinglyOthersWithASecondOne) {
  for (const auto& [seconds, tasks] : {std::pair(30.0, 2U), {0.4, 4U}}) {
    Bench bench(wide_case(), 1, {2});
    bench.to_first_block(seconds);
    bench.dispatcher.deal(0);
    EXPECT_EQ(bench.open(0).size(), tasks);
  }
}

TEST(Dispatcher, ChunksAreSharesOfWhatIsLeft) {
  // 60 candidates for two processes and two threads here: 15 each.
  Bench bench(wide_case(), 2, {1, 1}, 2);
  bench.to_first_block(0.001);
  bench.dispatcher.deal(0);
  EXPECT_GT(bench.open(0).size(), 10U);
  EXPECT_LE(bench.open(0).size(), 16U);
  for (int i = 0; i < 5; ++i) bench.dispatcher.deal(0);
  EXPECT_LE(bench.open(0).size() + bench.open(1).size(), 34U);
  // An idle thread here finds one, too.
  EXPECT_TRUE(bench.machine.next());
}

TEST(Dispatcher, ManyThreadsGetLongerChunks) {
  Bench bench(wide_case(), 1, {1}, 500);
  bench.to_first_block(0.01);
  bench.dispatcher.deal(0);
  EXPECT_EQ(bench.open(0).size(), 1U);  // 60 candidates are too few to share among so many
}

TEST(Dispatcher, AnIdleThreadHasTasksRecalled) {
  Case c = wide_case();
  c.config.budget_evaluations = 40;  // nothing runs ahead of the first block
  c.config.replicas = 1;
  Bench bench(c, 2, {1});
  bench.to_first_block(0.002);
  while (bench.machine.ahead() > 0) {
    bench.dispatcher.deal(0);
    if (bench.open(0).size() >= 20) break;
  }
  ASSERT_GE(bench.open(0).size(), 20U);
  // Another one is ready late: it takes the others, and then there is nothing left.
  bench.table.report(1, {.kind = RemoteReport::Kind::kReady, .threads = 1});
  bench.dispatcher.take_in();
  for (int i = 0; i < 60; ++i) {
    bench.dispatcher.deal(0);
    const auto open = bench.open(1);
    if (open.empty()) break;
    for (const RemoteTask& task : open) {
      bench.done.insert(task.id);
      bench.finish(1, task, 0.002);
    }
    bench.dispatcher.take_in();
  }
  ASSERT_EQ(bench.table.sent[0].back().kind, RemoteOrder::Kind::kRecall);
  EXPECT_EQ(bench.table.sent[0].back().count, 1U);
  EXPECT_FALSE(bench.dispatcher.deal(0));  // one recall at a time
  const RemoteTask last = bench.open(0).back();
  bench.done.insert(last.id);
  bench.table.report(0, {.kind = RemoteReport::Kind::kReturned, .ids = {last.id}});
  bench.dispatcher.take_in();
  EXPECT_TRUE(bench.dispatcher.deal(0));
  ASSERT_EQ(bench.open(1).size(), 1U);
  EXPECT_EQ(bench.open(1).front().hash, last.hash);
}

TEST(Dispatcher, OnlyWhatMayBeInTrainingHasStarted) {
  Bench bench(wide_case(), 1, {2});
  bench.to_first_block(0.01);
  bench.dispatcher.deal(0);
  const auto open = bench.open(0);
  ASSERT_GT(open.size(), 4U);
  EXPECT_EQ(bench.in_training(), (std::set<Hash>{open[0].hash, open[1].hash}));
  bench.finish(0, open[1], 0.01);
  bench.dispatcher.take_in();
  EXPECT_EQ(bench.in_training(), (std::set<Hash>{open[0].hash, open[2].hash}));
  bench.dispatcher.stop();
  EXPECT_EQ(bench.table.sent[0].back().kind, RemoteOrder::Kind::kStop);
  EXPECT_FALSE(bench.dispatcher.all_back());
  RemoteReport stopped{.kind = RemoteReport::Kind::kStopped};
  for (const RemoteTask& task : open) {
    if (task.id != open[1].id) stopped.ids.push_back(task.id);
  }
  bench.table.report(0, std::move(stopped));
  bench.dispatcher.take_in();
  EXPECT_TRUE(bench.dispatcher.all_back());
  EXPECT_FALSE(bench.dispatcher.interrupted());
  EXPECT_TRUE(bench.in_training().empty());
}

TEST(Dispatcher, SuspectsTrainApartAndTheDeadNotAtAll) {
  const Case c = wide_case();
  const Hash fixed = c.space.hash(*c.task.fixed);
  Memory memory;
  memory.deaths[fixed] = 2;
  Bench suspects(c, 1, {1}, 0, memory);
  suspects.dispatcher.deal(0);
  ASSERT_EQ(suspects.table.tasks(0).size(), 1U);
  EXPECT_TRUE(suspects.table.tasks(0).front().apart);
  EXPECT_TRUE(suspects.in_training().empty());  // it would take its own process with it only

  memory.deaths[c.space.hash(c.space.program(c.task.start))] = 3;
  memory.deaths.erase(fixed);
  Bench dead(c, 1, {1}, 0, memory, false);
  while (dead.machine.counters().evaluations == 0) {
    dead.dispatcher.deal(0);
    for (const RemoteTask& task : dead.open(0)) {
      dead.done.insert(task.id);
      dead.finish(0, task, 0.1);
    }
    dead.dispatcher.take_in();
  }
  EXPECT_EQ(dead.machine.counters().failed, 1);
}

/// Processes that train in time of their own: messages take `kLatency`, tasks what `cost` says
/// times the process's `slowness`.
class Simulation : public Bench {
 public:
  static constexpr double kLatency = 0.002;
  using Cost = std::function<double(const RemoteTask&)>;
  Simulation(const Case& search, std::vector<int> threads, std::vector<double> slowness, Cost cost)
      : Bench(search, threads.size(), threads),
        slowness_(std::move(slowness)),
        cost_(std::move(cost)),
        free_(threads),
        waiting_(threads.size()),
        read_(threads.size()) {}

  /// The end of the search.
  double run() {
    while (!machine.finished()) {
      dispatcher.deal(0);
      for (std::size_t p = 0; p < table.size(); ++p) {
        for (; read_[p] < table.sent[p].size(); ++read_[p]) {
          events_.push({now_ + kLatency, next_++,
                        [this, p, order = table.sent[p][read_[p]]] { take(p, order); }});
        }
      }
      if (events_.empty()) {
        ADD_FAILURE() << "nothing goes on";
        return now_;
      }
      const Event event = events_.top();
      events_.pop();
      now_ = event.time;
      event.happen();
      dispatcher.take_in();
    }
    return now_;
  }
  double busy() const { return busy_; }  ///< seconds of training, all threads

 private:
  struct Event {
    double time;
    int order;
    std::function<void()> happen;
    bool operator<(const Event& other) const {
      return std::pair(time, order) > std::pair(other.time, other.order);
    }
  };
  void take(std::size_t p, const RemoteOrder& order) {
    waiting_[p].insert(waiting_[p].end(), order.tasks.begin(), order.tasks.end());
    if (order.kind == RemoteOrder::Kind::kRecall) {
      RemoteReport report{.kind = RemoteReport::Kind::kReturned};
      for (std::size_t i = 0; i < order.count && !waiting_[p].empty(); ++i) {
        report.ids.push_back(waiting_[p].back().id);
        waiting_[p].pop_back();
      }
      events_.push({now_ + kLatency, next_++, [this, p, report] { table.report(p, report); }});
    }
    begin(p);
  }
  void begin(std::size_t p) {
    while (free_[p] > 0 && !waiting_[p].empty()) {
      const RemoteTask task = waiting_[p].front();
      waiting_[p].pop_front();
      --free_[p];
      const double seconds = cost_(task) * slowness_[p];
      busy_ += seconds / slowness_[p];
      events_.push({now_ + seconds, next_++, [this, p, task, seconds] {
                      ++free_[p];
                      begin(p);
                      events_.push({now_ + kLatency, next_++,
                                    [this, p, task, seconds] { finish(p, task, seconds); }});
                    }});
    }
  }

  const std::vector<double> slowness_;
  const Cost cost_;
  std::vector<int> free_;
  std::vector<std::deque<RemoteTask>> waiting_;
  std::vector<std::size_t> read_;
  std::priority_queue<Event> events_;
  double now_ = 0, busy_ = 0;
  int next_ = 0;
};

TEST(Dispatcher, TinyTasksKeepAllThreadsBusy) {
  Case c = wide_case();
  c.config.budget_evaluations = 600;
  // 1 ms each, half the time that a message takes.
  Simulation simulation(c, {1, 1, 2}, {1, 1, 1}, [](const RemoteTask&) { return 0.001; });
  const double end = simulation.run();
  EXPECT_GT(simulation.machine.counters().trainings, 500);
  EXPECT_GT(simulation.busy() / (4 * end), 0.8) << end;
}

TEST(Dispatcher, ASlowProcessLeavesNoTail) {
  Case c = wide_case();
  c.config.budget_evaluations = 300;
  const auto cost = [](const RemoteTask& task) {
    return 0.05 + 0.1 * static_cast<double>(task.hash.low % 100) / 100;
  };
  Simulation simulation(c, {1, 1, 1, 1}, {1, 1, 1, 8}, cost);
  const double end = simulation.run();
  EXPECT_GT(simulation.machine.counters().trainings, 300);
  // What three and an eighth could do at best, and one training of the slow one.
  EXPECT_LT(end, 1.1 * simulation.busy() / 3.125 + 8 * 0.15) << simulation.busy();
}

}  // namespace
}  // namespace neutra::testing
