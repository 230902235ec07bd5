// Searches with other processes: threads stand for them, with their messages in memory.

#include "search/remote.h"

#include <gtest/gtest.h>

#include <mutex>
#include <new>

#include "search/remote_worker.h"
#include "search/store_check.h"
#include "search/store_content.h"
#include "search/store_reader.h"
#include "tests/search/fakes.h"
#include "tests/search/reference_search.h"

namespace neutra::search::tests {
namespace {

Json setup() { return {{"fake", true}}; }

/// As FakeTrainer, but with whatever a test wants to happen.
class TestTrainer : public FakeTrainer {
 public:
  using Hook = std::function<void(const training::TrainingJob&)>;
  explicit TestTrainer(Landscape landscape, Hook hook = {})
      : FakeTrainer(std::move(landscape)), hook_(std::move(hook)) {}
  training::ReplicaResult train(const training::TrainingJob& job) override {
    if (hook_) hook_(job);
    return FakeTrainer::train(job);
  }

 private:
  Hook hook_;
};

class FakeProcesses : public RemoteWorkers {
 public:
  struct Process {
    TestTrainer::Hook hook = {};
    std::function<void(const Json&)> prepare = {};
    int threads = 1;
    int lost_after = -1;             ///< sends no more than so many results
    std::atomic<bool> stop = false;  ///< a signal to it
    std::atomic<int> trainings = 0;
  };

  FakeProcesses(const Case& c, int count, std::uint64_t seed = 0) : random_(seed) {
    for (int i = 0; i < count; ++i) processes_.push_back(std::make_unique<Process>());
    landscape_ = c.landscape;
  }
  ~FakeProcesses() override {
    for (std::size_t i = 0; i < threads_.size(); ++i) links_[i]->put_order({});
    for (std::thread& thread : threads_) thread.join();
  }
  Process& operator[](std::size_t i) { return *processes_[i]; }
  void start() {
    for (const auto& process : processes_) {
      Link& link = *links_.emplace_back(std::make_unique<Link>(*process));
      threads_.emplace_back([this, &link, process = process.get()] {
        const auto prepare = [&](const Json& given) {
          EXPECT_EQ(given, setup());
          if (process->prepare) process->prepare(given);
          TrainingSite site;
          site.trainer = std::make_unique<TestTrainer>(landscape_,
                                                       [process](const training::TrainingJob& job) {
                                                         ++process->trainings;
                                                         if (process->hook) process->hook(job);
                                                       });
          site.threads = process->threads;
          return site;
        };
        train_for(link, prepare, &process->stop);
      });
    }
  }
  int trainings() const {
    int sum = 0;
    for (const auto& process : processes_) sum += process->trainings;
    return sum;
  }

  std::size_t size() const override { return processes_.size(); }
  std::string name(std::size_t process) const override {
    return "process " + std::to_string(process);
  }
  void send(std::size_t process, RemoteOrder order) override { links_[process]->put_order(order); }
  std::optional<RemoteReport> receive() override {
    // In any order but each one's own.
    const std::size_t first = random_() % links_.size();
    for (std::size_t i = 0; i < links_.size(); ++i) {
      const std::size_t process = (first + i) % links_.size();
      auto text = links_[process]->take_report();
      if (!text) continue;
      RemoteReport report = report_from_text(*text);
      report.process = process;
      return report;
    }
    for (std::size_t i = 0; i < links_.size(); ++i) {
      if (!links_[i]->lost || links_[i]->known_lost) continue;
      links_[i]->known_lost = true;
      return RemoteReport{.kind = RemoteReport::Kind::kLost, .process = i, .message = "lost"};
    }
    return std::nullopt;
  }

 private:
  class Link : public RemoteSearch {
   public:
    explicit Link(Process& process) : process_(process) {}
    void put_order(const RemoteOrder& order) {
      const std::lock_guard lock(mutex_);
      orders_.push_back(writer_.text(order));
    }
    std::optional<RemoteOrder> receive() override {
      const std::lock_guard lock(mutex_);
      if (orders_.empty()) return std::nullopt;
      RemoteOrder order = reader_.order(orders_.front());
      orders_.pop_front();
      return order;
    }
    void send(RemoteReport report) override {
      if (report.kind == RemoteReport::Kind::kFinished && results_++ == process_.lost_after)
        lost = true;
      if (lost) return;
      const std::lock_guard lock(mutex_);
      reports_.push_back(report_text(report));
    }
    std::optional<std::string> take_report() {
      const std::lock_guard lock(mutex_);
      if (reports_.empty()) return std::nullopt;
      std::string text = std::move(reports_.front());
      reports_.pop_front();
      return text;
    }
    std::atomic<bool> lost = false;
    bool known_lost = false;

   private:
    Process& process_;
    std::mutex mutex_;
    OrderWriter writer_;
    OrderReader reader_;
    std::deque<std::string> orders_, reports_;
    int results_ = 0;
  };

  Landscape landscape_;
  std::mt19937_64 random_;
  std::vector<std::unique_ptr<Process>> processes_;
  std::vector<std::unique_ptr<Link>> links_;
  std::vector<std::thread> threads_;
};

/// Waits until a process has begun so many trainings, so that it does before all others are done.
TestTrainer::Hook wait_for(const FakeProcesses::Process& process, int trainings) {
  return [&process, trainings](const training::TrainingJob&) {
    for (int i = 0; i < 50000 && process.trainings < trainings; ++i) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
  };
}

RunOptions options_with(FakeProcesses& processes) {
  processes.start();
  RunOptions options;
  options.remote = &processes;
  options.remote_setup = setup();
  return options;
}

// --- messages ---

RemoteTask task_of(const program::Program& program, std::uint64_t id) {
  RemoteTask task;
  task.id = id;
  task.hash = FakeSpace().hash(program);
  task.program = std::make_shared<const program::Program>(program);
  task.job.seed = 7;
  task.job.replica = 3;
  task.job.stream = training::StreamKey::kIndependent;
  task.job.time_limit = 0.1;
  task.job.memory_limit = std::uint64_t{1} << 40;
  task.isolated = id % 2 == 1;
  return task;
}

program::Program program_named(int number) {
  return {{{"meaning", std::to_string(number)}, {"x", 0.1}}};
}

TEST(RemoteMessages, TasksArriveWhole) {
  OrderWriter writer;
  OrderReader reader;
  const RemoteOrder order = reader.order(
      writer.text({.kind = RemoteOrder::Kind::kTrain,
                   .tasks = {task_of(program_named(1), 8), task_of(program_named(2), 9)}}));
  ASSERT_EQ(order.kind, RemoteOrder::Kind::kTrain);
  ASSERT_EQ(order.tasks.size(), 2U);
  const RemoteTask& task = order.tasks[1];
  EXPECT_EQ(task.id, 9U);
  EXPECT_TRUE(task.isolated);
  EXPECT_EQ(task.program->document, program_named(2).document);
  EXPECT_EQ(task.hash, FakeSpace().hash(program_named(2)));
  EXPECT_EQ(task.job.seed, 7U);
  EXPECT_EQ(task.job.replica, 3);
  EXPECT_EQ(task.job.stream, training::StreamKey::kIndependent);
  EXPECT_EQ(task.job.time_limit, 0.1);
  EXPECT_EQ(task.job.memory_limit, std::uint64_t{1} << 40);
}

TEST(RemoteMessages, AProgramIsWrittenOnceAmongTheLastOnes) {
  OrderWriter writer;
  OrderReader reader;
  const auto written = [&](int number) {
    const std::string text = writer.text(
        {.kind = RemoteOrder::Kind::kTrain, .tasks = {task_of(program_named(number), 0)}});
    EXPECT_EQ(reader.order(text).tasks.at(0).program->document, program_named(number).document);
    return text.find("meaning") != std::string::npos;
  };
  EXPECT_TRUE(written(0));
  EXPECT_FALSE(written(0));
  const int known = static_cast<int>(OrderWriter::kKnown);
  for (int number = 1; number < known; ++number) EXPECT_TRUE(written(number));
  EXPECT_FALSE(written(0));
  EXPECT_TRUE(written(known));  // pushes the first one out
  EXPECT_TRUE(written(0));
  EXPECT_FALSE(written(known));
  EXPECT_THROW(OrderReader().order(writer.text(
                   {.kind = RemoteOrder::Kind::kTrain, .tasks = {task_of(program_named(0), 0)}})),
               Error);
}

TEST(RemoteMessages, ReportsArriveWhole) {
  RemoteReport report{.kind = RemoteReport::Kind::kFinished, .ids = {12}};
  report.result.metric = std::numeric_limits<double>::quiet_NaN();
  report.result.status = training::RunStatus::kDiverged;
  report.result.seconds = 0.1;
  report.result.epochs_reused = 4;
  report.result.samples_reused = 5;
  const RemoteReport result = report_from_text(report_text(report));
  EXPECT_EQ(result.ids, std::vector<std::uint64_t>{12});
  EXPECT_TRUE(std::isnan(result.result.metric));
  EXPECT_EQ(result.result.status, training::RunStatus::kDiverged);
  EXPECT_EQ(result.result.seconds, 0.1);
  EXPECT_EQ(result.result.epochs_reused, 4);
  EXPECT_EQ(result.result.samples_reused, 5);

  const RemoteReport failed = report_from_text(report_text(
      {.kind = RemoteReport::Kind::kFailed, .exit = Exit::kBadInput, .message = "a\xff"}));
  EXPECT_EQ(failed.kind, RemoteReport::Kind::kFailed);
  EXPECT_EQ(failed.exit, Exit::kBadInput);
  EXPECT_EQ(failed.message.front(), 'a');
}

// --- searches ---

TEST(Remote, ProcessesDontShow) {
  TemporaryFolder folder;
  int elsewhere = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const Case c = random_case(seed);
    FakeProcesses processes(c, 1 + static_cast<int>(seed % 3), seed);
    processes[0].threads = 1 + static_cast<int>(seed % 2);
    std::atomic<bool> begun = false;
    processes[0].prepare = [&](const Json&) { begun = true; };
    RunOptions options = options_with(processes);
    options.workers = 1 + static_cast<int>(seed / 3 % 2);
    options.speculate = seed % 5 != 0;
    options.fresh = true;
    TestTrainer trainer(c.landscape, [&](const training::TrainingJob&) {
      while (!begun) std::this_thread::yield();
      std::this_thread::yield();
    });
    const auto outcome = run(c, options, trainer, folder / "s.h5");
    ASSERT_EQ(tsv(outcome.network), reference_tsv(c)) << "seed " << seed;
    // Each training counts once, wherever it was.
    EXPECT_EQ(outcome.counters.trainings, trainer.trainings + processes.trainings());
    elsewhere += processes.trainings();
  }
  EXPECT_GT(elsewhere, 200);
}

TEST(Remote, SeveralSearchesOneAfterTheOther) {
  TemporaryFolder folder;
  const Case c = plain_case(2);
  FakeProcesses processes(c, 2);
  RunOptions options = options_with(processes);
  for (const char* store : {"a.h5", "b.h5"}) {
    FakeTrainer trainer(c.landscape);
    EXPECT_EQ(tsv(run(c, options, trainer, folder / store).network), reference_tsv(c));
  }
}

std::string message_of_failed_search(FakeProcesses& processes, const Case& c,
                                     const std::filesystem::path& store, Exit exit,
                                     TestTrainer::Hook here = {}) {
  TestTrainer trainer(c.landscape, std::move(here));
  try {
    run(c, options_with(processes), trainer, store);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), exit);
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

/// The rest trains nothing again, if anything had been trained.
void expect_rest_gives_the_same(const Case& c, const std::filesystem::path& store,
                                bool trained = true) {
  FakeTrainer trainer(c.landscape);
  const auto rest = run(c, {}, trainer, store);
  EXPECT_EQ(tsv(rest.network), reference_tsv(c));
  EXPECT_EQ(rest.counters.trainings_from_store > 0, trained);
}

TEST(Remote, ErrorsOfATrainingArrive) {
  const Case c = plain_case(4);
  const std::vector<std::pair<TestTrainer::Hook, std::pair<Exit, std::string>>> kinds = {
      {[](const training::TrainingJob&) { throw input_error("x.csv: no such file"); },
       {Exit::kBadInput, "process 1: x.csv: no such file"}},
      {[](const training::TrainingJob&) { throw std::bad_alloc(); },
       {Exit::kFailed, "process 1: out of memory"}},
      {[](const training::TrainingJob&) { throw std::runtime_error("broken"); },
       {Exit::kFailed, "process 1: broken"}}};
  for (const auto& [hook, expected] : kinds) {
    TemporaryFolder folder;
    FakeProcesses processes(c, 2);
    processes[1].hook = [&processes, hook = hook](const training::TrainingJob& job) {
      if (processes[1].trainings == 4) hook(job);
    };
    processes[0].hook = wait_for(processes[1], 4);
    EXPECT_EQ(message_of_failed_search(processes, c, folder / "s.h5", expected.first,
                                       wait_for(processes[1], 4)),
              expected.second);
    EXPECT_TRUE(check_store(folder / "s.h5").empty());
    expect_rest_gives_the_same(c, folder / "s.h5");
  }
}

TEST(Remote, AProcessThatCannotTrainAlikeIsRefused) {
  Case c = plain_case(4);
  c.landscape.microseconds = 1000;
  TemporaryFolder folder;
  FakeProcesses processes(c, 2);
  std::atomic<bool> refused = false;
  processes[0].prepare = [&](const Json&) {
    refused = true;
    throw failure("another instruction set");
  };
  const auto here = [&](const training::TrainingJob&) {
    while (!refused) std::this_thread::yield();
  };
  EXPECT_EQ(message_of_failed_search(processes, c, folder / "s.h5", Exit::kFailed, here),
            "process 0: another instruction set");
}

TEST(Remote, StoppedAnywhereItEndsInTheSameNetwork) {
  const Case c = plain_case(4);
  for (const bool elsewhere : {false, true}) {
    for (const int after : {1, 4}) {
      TemporaryFolder folder;
      FakeProcesses processes(c, 2);
      std::atomic<bool> stop = false;
      // A training that ends at a stop only, as long ones do.
      processes[1].hook = [&, after](const training::TrainingJob& job) {
        if (processes[1].trainings < after) return;
        (elsewhere ? processes[1].stop : stop) = true;
        while (!job.stop->load()) std::this_thread::yield();
        throw Error(Exit::kInterrupted, "interrupted");
      };
      processes[0].hook = wait_for(processes[1], after);
      RunOptions options = options_with(processes);
      options.stop = &stop;
      TestTrainer trainer(c.landscape, wait_for(processes[1], after));
      const auto part = run(c, options, trainer, folder / "s.h5");
      EXPECT_EQ(part.end, SearchEnd::kInterrupted);
      // The stop may come before the first training has ended: then there is no store.
      const bool trained = part.counters.trainings > 0;
      if (trained) {
        EXPECT_TRUE(check_store(folder / "s.h5").empty());
        EXPECT_TRUE(load_store(folder / "s.h5").deaths.empty());
      }
      expect_rest_gives_the_same(c, folder / "s.h5", trained);
    }
  }
}

TEST(Remote, ALostProcessCountsADeathForWhatItTrained) {
  const Case c = plain_case(4);
  TemporaryFolder folder;
  {
    FakeProcesses processes(c, 2);
    processes[0].lost_after = 3;
    processes[1].hook = wait_for(processes[0], 4);
    EXPECT_EQ(message_of_failed_search(processes, c, folder / "s.h5", Exit::kFailed,
                                       wait_for(processes[0], 4)),
              "process 0: lost");
  }
  const StoreContent content = load_store(folder / "s.h5");
  ASSERT_EQ(content.deaths.size(), 1U);
  EXPECT_EQ(content.deaths.begin()->second, 1);
  expect_rest_gives_the_same(c, folder / "s.h5");
}

}  // namespace
}  // namespace neutra::search::tests
