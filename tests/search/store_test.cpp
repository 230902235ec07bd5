#include "search/store.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/file_lock.h"
#include "base/files.h"
#include "search/store_check.h"
#include "search/store_header.h"
#include "search/store_reader.h"
#include "tests/search/fakes.h"
#include "tests/search/reference_search.h"
#include "tests/search/store_files.h"

namespace neutra::search::tests {
namespace {

TEST(Store, StoppedAfterEachTrainingItEndsInTheSameNetwork) {
  Case c = plain_case(4);
  c.config.budget_evaluations = 25;
  const std::string expected = reference_tsv(c);
  TemporaryFolder folder;
  FakeTrainer whole(c.landscape);
  run(c, {}, whole, folder / "whole.h5");
  for (int stop = 1; stop < whole.trainings; ++stop) {
    FakeTrainer first(c.landscape);
    first.stop_after = stop;
    RunOptions options;
    options.workers = 1 + stop % 2;
    options.fresh = true;
    options.stop = &first.stop;
    const auto part = run(c, options, first, folder / "s.h5");
    EXPECT_LE(first.trainings, stop + 1);
    if (part.end != SearchEnd::kInterrupted) {
      // The last training was under way beside the one that stopped: nothing was left to do.
      ASSERT_GT(options.workers, 1);
      ASSERT_EQ(stop + 1, whole.trainings);
      ASSERT_EQ(tsv(part.network), expected);
      continue;
    }
    EXPECT_FALSE(read_store(folder / "s.h5").finished);
    EXPECT_TRUE(check_store(folder / "s.h5").empty());

    FakeTrainer second(c.landscape);
    options.fresh = false;
    options.stop = nullptr;
    const auto rest = run(c, options, second, folder / "s.h5");
    ASSERT_EQ(tsv(rest.network), expected) << stop;
    EXPECT_EQ(rest.counters.evaluations, 25);
    EXPECT_TRUE(options.workers > 1 || first.trainings + second.trainings == whole.trainings);
  }
}

TEST(Store, AFinishedSearchIsReadNotTrained) {
  TemporaryFolder folder;
  const Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  RunOptions options;
  options.provenance = {{"program_version", "0.1.0"}, {"libraries", {{"hdf5", "1.10"}}}};
  options.command = "neutra search F6";
  const auto first = run(c, options, trainer, folder / "s.h5");
  EXPECT_FALSE(first.was_finished);
  EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.journal"));
  EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.lock"));
  const int trainings = trainer.trainings;
  const auto second = run(c, options, trainer, folder / "s.h5");
  EXPECT_TRUE(second.was_finished);
  EXPECT_EQ(trainer.trainings, trainings);
  EXPECT_EQ(second.end, first.end);
  EXPECT_EQ(second.counters.evaluations, first.counters.evaluations);

  const StoredRun stored = read_store(folder / "s.h5");
  EXPECT_TRUE(stored.finished);
  EXPECT_EQ(stored.header.at("program_version"), "0.1.0");
  EXPECT_EQ(stored.header.at("command"), "neutra search F6");
  ASSERT_EQ(stored.network.nodes.size(), first.network.nodes.size());
  for (std::size_t i = 0; i < stored.network.nodes.size(); ++i) {
    const Node &a = stored.network.nodes[i], &b = first.network.nodes[i];
    EXPECT_EQ(a.parameters, b.parameters);
    EXPECT_EQ(a.hash, b.hash);
    EXPECT_EQ(a.parent, b.parent);
    EXPECT_EQ(a.depth, b.depth);
    EXPECT_EQ(a.mutation, b.mutation);
    EXPECT_EQ(a.status, b.status);
    EXPECT_EQ(a.metrics, b.metrics);
    EXPECT_EQ(a.neutral, b.neutral);
    EXPECT_EQ(a.queued, b.queued);
    EXPECT_EQ(a.alternative, b.alternative);
    EXPECT_EQ(a.significant, b.significant);
    EXPECT_EQ(a.p, b.p);
    EXPECT_EQ(a.d, b.d);
    EXPECT_EQ(a.dequeued, b.dequeued);
  }
  EXPECT_EQ(tsv(stored.network), tsv(first.network));
  EXPECT_EQ(to_json(stored.network).dump(), to_json(first.network).dump());
  EXPECT_TRUE(check_store(folder / "s.h5").empty());
}

TEST(Store, AVanishedFolderIsReportedAtOnce) {
  struct Removing : FakeTrainer {
    using FakeTrainer::FakeTrainer;
    std::filesystem::path folder;
    training::ReplicaResult train(const training::TrainingJob& job) override {
      if (trainings == 5) std::filesystem::remove_all(folder);
      const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
      while (trainings >= 5 && !job.stop->load() && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
      }
      if (job.stop->load()) throw Error(Exit::kInterrupted, "interrupted");
      return FakeTrainer::train(job);
    }
  };
  for (const bool saved : {false, true}) {
    TemporaryFolder outer;
    const Case c = plain_case(13);
    const auto folder = outer / "searches";
    std::filesystem::create_directory(folder);
    if (saved) {  // with a file beside the journal
      FakeTrainer first(c.landscape);
      first.stop_after = 3;
      RunOptions options;
      options.stop = &first.stop;
      run(c, options, first, folder / "s.h5");
    }
    Removing trainer(c.landscape);
    trainer.folder = folder;
    const auto begin = std::chrono::steady_clock::now();
    const std::string message =
        message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kFailed);
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
    EXPECT_NE(message.find("s.h5.journal: is gone"), std::string::npos) << message;
    EXPECT_EQ(message.find("kept"), std::string::npos) << message;
    EXPECT_FALSE(std::filesystem::exists(folder));
  }
}

TEST(Store, AStopGivesUpTheTrainingInFlight) {
  struct Patient : FakeTrainer {
    using FakeTrainer::FakeTrainer;
    training::ReplicaResult train(const training::TrainingJob& job) override {
      while (!job.stop->load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      throw Error(Exit::kInterrupted, "interrupted");
    }
  };
  TemporaryFolder folder;
  const Case c = plain_case(6);
  Patient trainer(c.landscape);
  std::atomic<bool> stop{false};
  RunOptions options;
  options.stop = &stop;
  options.workers = 2;
  std::thread signal([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop = true;
  });
  EXPECT_EQ(run(c, options, trainer, folder / "s.h5").end, SearchEnd::kInterrupted);
  signal.join();
  EXPECT_FALSE(std::filesystem::exists(folder / "s.h5"));  // nothing was evaluated
  EXPECT_FALSE(std::filesystem::exists(folder / "s.h5.journal"));
}

TEST(Store, EvaluationsOfOtherStoresCount) {
  TemporaryFolder folder;
  const Case c = plain_case(7);
  FakeTrainer trainer(c.landscape);
  run(c, {}, trainer, folder / "old.h5");
  Case wider = c;
  wider.config.budget_evaluations = 80;
  RunOptions options;
  options.reuse = {folder / "old.h5"};
  FakeTrainer second(c.landscape);
  const auto outcome = run(wider, options, second, folder / "new.h5");
  EXPECT_EQ(tsv(outcome.network), reference_tsv(wider));
  EXPECT_EQ(outcome.counters.trainings_reused, trainer.trainings);
  EXPECT_EQ(outcome.counters.trainings, second.trainings);

  wider.config.seed = 1;
  FakeTrainer third(c.landscape);
  const auto other_seed = run(wider, options, third, folder / "third.h5");
  EXPECT_EQ(other_seed.counters.trainings_reused, 0);
}

TEST(Store, SavingOnTheWayLosesNothing) {
  TemporaryFolder folder;
  const Case c = plain_case(9);
  const Json header = {{"format", "neutra-store"},
                       {"version", 1},
                       {"fault", "F"},
                       {"metric", "accuracy"},
                       {"goal", "maximize"},
                       {"start", "a=0"},
                       {"fixed", nullptr},
                       {"config", to_json(c.config)}};
  std::string before, after;
  {
    Store store(folder / "s.h5", header, false);
    for (int replica = 0; replica < 3; ++replica) store.started({{1, 2}, replica}, false);
    store.finished({{1, 2}, 0}, {});
    store.started({{5, 6}, 0}, true);  // isolated: its process may die without ours
    before = read_file(folder / "s.h5.journal", "a store");
    store.save({}, {}, std::nullopt);
    store.finished({{1, 2}, 1}, {});
    store.dropped({{1, 2}, 2});
    store.started({{3, 4}, 7}, false);
    after = read_file(folder / "s.h5.journal", "a store");
  }
  const std::string file = read_file(folder / "s.h5", "a store");
  // Death after the save: program 3-4 was in training.
  put_bytes(folder / "s.h5.journal", after);
  StoreContent content = load_store(folder / "s.h5");
  EXPECT_EQ(content.evaluations.size(), 2U);
  EXPECT_EQ(content.deaths, (std::map<Hash, int>{{{3, 4}, 1}}));
  EXPECT_FALSE(content.finished);
  // Death before the new journal: the file holds all of the old one.
  put_bytes(folder / "s.h5.journal", before);
  EXPECT_EQ(load_store(folder / "s.h5").evaluations.size(), 1U);
  // Death before the new file.
  std::filesystem::remove(folder / "s.h5");
  content = load_store(folder / "s.h5");
  EXPECT_EQ(content.evaluations.size(), 1U);
  EXPECT_EQ(content.deaths, (std::map<Hash, int>{{{1, 2}, 1}}));
}

TEST(Store, ASecondWriterLearnsWhoIsFirst) {
  TemporaryFolder folder;
  const Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  const auto lock =
      std::make_unique<FileLock>(folder / "s.h5.lock", "the first command", kStoreInUse);
  const auto message = message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kFailed);
  EXPECT_NE(message.find("pid " + std::to_string(getpid())), std::string::npos) << message;
  EXPECT_NE(message.find("the first command"), std::string::npos) << message;
  EXPECT_EQ(trainer.trainings, 0);
}

}  // namespace
}  // namespace neutra::search::tests
