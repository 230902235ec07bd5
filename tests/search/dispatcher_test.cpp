// How tasks are dealt out, with processes that are numbers in a table and a clock that a test
// turns.

#include "search/dispatcher.h"

#include <gtest/gtest.h>

#include "search/machine.h"
#include "search/store.h"
#include "search/store_reader.h"
#include "tests/search/fakes.h"

namespace neutra::search::tests {
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
        EarlierResults earlier = {}, bool isolated = true)
      : c(search),
        trainer(c.landscape),
        table(processes),
        store(folder / "s.h5", header(), true),
        machine(c.task, c.space, c.config, {.isolated = isolated}, std::move(earlier), trainer,
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
  EarlierResults earlier;
  earlier.deaths[fixed] = 2;
  Bench suspects(c, 1, {1}, 0, earlier);
  suspects.dispatcher.deal(0);
  ASSERT_EQ(suspects.table.tasks(0).size(), 1U);
  EXPECT_TRUE(suspects.table.tasks(0).front().isolated);
  EXPECT_TRUE(suspects.in_training().empty());  // it would take its own process with it only

  earlier.deaths[c.space.hash(c.space.program(c.task.start))] = 3;
  earlier.deaths.erase(fixed);
  Bench dead(c, 1, {1}, 0, earlier, false);
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

}  // namespace
}  // namespace neutra::search::tests
