#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <thread>

#include "base/last_act.h"
#include "search/store_check.h"
#include "search/store_reader.h"
#include "tests/search/fakes.h"
#include "tests/search/reference_search.h"
#include "tests/search/store_files.h"

namespace neutra::search::tests {
namespace {

// Deaths, each in a process of its own: the test program run again as DISABLED_Child.

/// Runs the child test with NEUTRA_TEST_* set; gives the status of waitpid.
int run_child(const std::filesystem::path& store, const std::string& mode, int kill_after_us = -1) {
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setenv("NEUTRA_TEST_STORE", store.c_str(), 1);
    setenv("NEUTRA_TEST_MODE", mode.c_str(), 1);
    const int silence = open("/dev/null", O_WRONLY);
    dup2(silence, 1);
    dup2(silence, 2);
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    execl("/proc/self/exe", "child", "--gtest_filter=StoreDeath.DISABLED_Child",
          "--gtest_also_run_disabled_tests", nullptr);
    _exit(99);
  }
  if (kill_after_us >= 0) {
    usleep(static_cast<useconds_t>(kill_after_us));
    kill(child, SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

Case child_case(const std::string& mode) {
  Case c = plain_case(11);
  if (mode == "killed") c.landscape.microseconds = 1500;
  if (mode.rfind("deadly", 0) == 0) {
    program::Parameters deadly = c.task.start;
    deadly["d"] = "1";
    c.landscape.deadly = c.space.program(deadly).document.at("meaning").get<std::string>();
    c.landscape.microseconds = 300;
  }
  return c;
}

/// Trains in a forked process, as the command does by running itself.
std::optional<training::ReplicaResult> train_forked(FakeTrainer& trainer,
                                                    const training::TrainingJob& job) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    const double metric = trainer.train(job).metric;
    _exit(write(ends[1], &metric, sizeof metric) == sizeof metric ? 0 : 1);
  }
  close(ends[1]);
  training::ReplicaResult result;
  const bool answered = read(ends[0], &result.metric, sizeof result.metric) == sizeof result.metric;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  if (!answered) return std::nullopt;
  result.total = 20;
  result.correct = std::lround(result.metric * 20);
  return result;
}

TEST(StoreDeath, DISABLED_Child) {
  const char* store = std::getenv("NEUTRA_TEST_STORE");
  if (store == nullptr) GTEST_SKIP() << "runs as a child of the other tests";
  const std::string mode = std::getenv("NEUTRA_TEST_MODE");
  const Case c = child_case(mode);
  FakeTrainer trainer(c.landscape);
  RunOptions options;
  options.workers = 2;
  if (mode != "deadly") {
    options.isolated = [&](const training::TrainingJob& job) { return train_forked(trainer, job); };
  }
  if (mode.rfind("full ", 0) == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlim_t bytes = std::stoul(mode.substr(5));
    const rlimit small{bytes, bytes};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  if (mode == "deaf") {
    struct Deaf : FakeTrainer {
      using FakeTrainer::FakeTrainer;
      training::ReplicaResult train(const training::TrainingJob& job) override {
        if (trainings >= 6) std::this_thread::sleep_for(std::chrono::hours(1));
        return FakeTrainer::train(job);
      }
    } deaf(c.landscape);
    std::atomic<bool> stop = false;
    options.stop = &stop;
    std::thread([&] {
      while (deaf.trainings < 6) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop = true;
      begin_ending();
      do_last_acts();
      _exit(44);
    }).detach();
    run(c, options, deaf, store);
  }
  try {
    run(c, options, trainer, store);
  } catch (const Error& error) {
    const bool helpful = std::string(error.what()).find("free some space") != std::string::npos;
    std::exit(error.exit() == Exit::kFailed && helpful ? 42 : 43);  // with exit handlers
  }
}

TEST(StoreDeath, KilledAtRandomMomentsItEndsInTheSameNetwork) {
  TemporaryFolder folder;
  const Case c = child_case("killed");
  const std::string reference = reference_tsv(c);
  const auto store = folder / "s.h5";
  const auto finish = [&] {
    const int status = run_child(store, "killed");
    ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    FakeTrainer trainer(c.landscape);
    const auto outcome = run(c, {}, trainer, store);
    EXPECT_TRUE(outcome.was_finished);
    EXPECT_EQ(outcome.counters.failed, 0);
    EXPECT_EQ(tsv(outcome.network), reference);
    EXPECT_TRUE(check_store(store).empty());
  };
  std::mt19937 random(1);
  for (int killed = 0, round = 0; killed < 20; ++round) {
    ASSERT_LT(round, 1000);
    const int status = run_child(store, "killed", static_cast<int>(5'000 + random() % 45'000));
    if (WIFSIGNALED(status)) {
      ++killed;
    } else {  // finished: a fast machine searches several times before it was killed often enough
      finish();
      for (const auto& file : std::filesystem::directory_iterator(folder.path()))
        std::filesystem::remove(file);
    }
  }
  finish();
}

/// The reference with the deadly program as one that never trains.
std::string without_the_deadly(Case c) {
  struct Space : FakeSpace {
    std::string deadly;
    program::Program program(const program::Parameters& parameters) const override {
      const program::Program program = FakeSpace::program(parameters);
      if (program.document.at("meaning") == deadly) throw input_error("deadly");
      return program;
    }
  };
  Space space;
  space.deadly = c.landscape.deadly;
  c.landscape.deadly = "";
  TemporaryFolder folder;
  FakeTrainer trainer(c.landscape);
  return tsv(run_search(c.task, space, c.config, {}, trainer, folder / "s.h5").network);
}

TEST(StoreDeath, AProgramThatKillsItsProcessThreeTimesIsOut) {
  for (const std::string mode : {"deadly", "deadly isolated"}) {
    TemporaryFolder folder;
    const auto store = folder / "s.h5";
    int deaths = 0;
    for (;; ++deaths) {
      ASSERT_LT(deaths, 10);
      const int status = run_child(store, mode);
      if (WIFEXITED(status)) {
        ASSERT_EQ(WEXITSTATUS(status), 0);
        break;
      }
      EXPECT_EQ(WTERMSIG(status), SIGABRT);
    }
    // The third death is that of the process of its own, where there is one.
    EXPECT_EQ(deaths, mode == "deadly" ? 3 : 2);
    const Case c = child_case(mode);
    const StoredRun stored = read_store(store);
    EXPECT_TRUE(stored.finished);
    int failed = 0;
    for (const Node& node : stored.network.nodes) {
      if (node.status != "failed") continue;
      ++failed;
      EXPECT_EQ(c.space.program(node.parameters).document.at("meaning"), c.landscape.deadly);
      EXPECT_FALSE(node.neutral || node.alternative || node.queued);
    }
    EXPECT_GE(failed, 1);
    EXPECT_EQ(tsv(stored.network), without_the_deadly(c));
  }
}

/// A step that listens to nothing is given up; what had ended is kept, and nothing counts as dead.
TEST(StoreDeath, AStepThatDoesNotEndIsGivenUp) {
  TemporaryFolder folder;
  const auto store = folder / "s.h5";
  const int status = run_child(store, "deaf");
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 44) << status;
  EXPECT_TRUE(std::filesystem::exists(store));
  EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.journal"));
  EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.lock"));
  EXPECT_TRUE(check_store(store).empty());
  const StoreContent content = load_store(store);
  EXPECT_GE(content.evaluations.size(), 6U);
  EXPECT_TRUE(content.deaths.empty());
  EXPECT_FALSE(content.finished);
  const Case c = child_case("deaf");
  FakeTrainer trainer(c.landscape);
  const auto outcome = run(c, {}, trainer, store);
  EXPECT_EQ(tsv(outcome.network), reference_tsv(c));
  EXPECT_GE(outcome.counters.trainings_from_store, 6);
}

TEST(StoreDeath, AFullDiskKeepsWhatWasDone) {
  const Case c = child_case("full");
  for (int kilobytes = 2;; kilobytes *= 2) {  // first the journal finds no room, then the file
    TemporaryFolder folder;
    const auto store = folder / "s.h5";
    const int status = run_child(store, "full " + std::to_string(1024 * kilobytes));
    ASSERT_TRUE(WIFEXITED(status)) << status;
    if (WEXITSTATUS(status) == 0) {
      EXPECT_GT(kilobytes, 16);
      break;
    }
    ASSERT_EQ(WEXITSTATUS(status), 42) << kilobytes << " KiB";
    EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.tmp"));
    FakeTrainer trainer(c.landscape);
    const auto outcome = run(c, {}, trainer, store);
    EXPECT_EQ(tsv(outcome.network), reference_tsv(c));
    EXPECT_GT(outcome.counters.trainings_from_store, 0) << kilobytes << " KiB";
  }
}

}  // namespace
}  // namespace neutra::search::tests
