#include "search/store_header.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "search/store_check.h"
#include "search/store_reader.h"
#include "search/store_recovery.h"
#include "tests/search/fakes.h"
#include "tests/search/reference_search.h"
#include "tests/search/store_files.h"

namespace neutra::search::tests {
namespace {

TEST(StoreHeader, OtherOptionsAreNamed) {
  TemporaryFolder folder;
  Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  run(c, {}, trainer, folder / "s.h5");
  c.config.replicas = 4;
  c.config.budget_evaluations.reset();
  const std::string message =
      message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("replicas was 5, now 4"), std::string::npos) << message;
  EXPECT_NE(message.find("budget_evaluations was 60, now not set"), std::string::npos) << message;
  RunOptions fresh;
  fresh.fresh = true;
  EXPECT_FALSE(run(c, fresh, trainer, folder / "s.h5").was_finished);
}

TEST(StoreHeader, FieldsThatOlderStoresLackMeanWhatTheyDidThen) {
  Json old = {{"config", to_json(SearchConfig{})}};
  old["config"].erase("ties");
  old["config"].erase("improve");
  SearchConfig config;
  EXPECT_TRUE(header_differences(old, {{"config", to_json(config)}}).empty());
  config.ties = TieOrder::kSpread;
  config.improve = true;
  const auto differences = header_differences(old, {{"config", to_json(config)}});
  ASSERT_EQ(differences.size(), 2U);
  EXPECT_EQ(differences[0], "ties was parameters, now spread");
  EXPECT_EQ(differences[1], "improve was false, now true");
}

TEST(StoreHeader, LargerBudgetsEndAsIfTheyHadBeenThereFromTheStart) {
  TemporaryFolder folder;
  ::testing::internal::CaptureStderr();
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    Case large = random_case(seed);
    large.config.budget_evaluations = 2 + static_cast<int>(seed);
    large.config.budget_seconds = 1e9;
    FakeTrainer whole(large.landscape);
    RunOptions options;
    options.workers = 1 + static_cast<int>(seed % 2);
    options.fresh = true;
    const auto expected = run(large, options, whole, folder / "whole.h5");
    ASSERT_EQ(tsv(expected.network), reference_tsv(large)) << seed;

    Case small = large;
    if (seed % 3 == 0) {
      small.config.budget_seconds = 0;  // nothing is trained
    } else {
      small.config.budget_evaluations = 1 + static_cast<int>(seed) / 2;
    }
    FakeTrainer first(large.landscape), second(large.landscape);
    run(small, options, first, folder / "s.h5");
    ASSERT_TRUE(read_store(folder / "s.h5").finished);
    options.fresh = false;
    options.command = "the larger one";
    const auto outcome = run(large, options, second, folder / "s.h5");
    EXPECT_FALSE(outcome.was_finished);
    EXPECT_EQ(outcome.end, expected.end);
    EXPECT_EQ(outcome.counters.evaluations, expected.counters.evaluations);
    ASSERT_EQ(to_json(outcome.network).dump(), to_json(expected.network).dump()) << seed;
    if (options.workers == 1) {
      EXPECT_EQ(first.trainings + second.trainings, whole.trainings);
    }
    const StoredRun stored = read_store(folder / "s.h5");
    EXPECT_TRUE(stored.finished);
    EXPECT_EQ(stored.header.at("command"), "the larger one");
    EXPECT_TRUE(run(large, options, second, folder / "s.h5").was_finished);
    const auto message =
        message_of([&] { run(small, options, second, folder / "s.h5"); }, Exit::kBadInput);
    EXPECT_NE(message.find("made with other options"), std::string::npos) << message;
  }
  ::testing::internal::GetCapturedStderr();
}

TEST(StoreHeader, ABudgetThatIsTakenAwayIsAnotherSearch) {
  TemporaryFolder folder;
  Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  run(c, {}, trainer, folder / "s.h5");
  c.config.budget_evaluations.reset();  // perhaps it was forgotten
  auto message = message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("budget_evaluations was 60, now not set"), std::string::npos) << message;
  c.config.budget_evaluations = 70;
  c.config.top_k += 1;
  message = message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("top_k"), std::string::npos) << message;
}

TEST(StoreHeader, AnEditedProgramIsAnotherSearch) {
  struct Edited : FakeSpace {
    Hash hash(const program::Program& program) const override {
      const Hash hash = FakeSpace::hash(program);
      return {hash.high + 1, hash.low};
    }
  };
  TemporaryFolder folder;
  Case c = plain_case(6);
  c.task.fixed.reset();
  FakeTrainer trainer(c.landscape);
  run(c, {}, trainer, folder / "s.h5");
  const std::string message =
      message_of([&] { run_search(c.task, Edited(), c.config, {}, trainer, folder / "s.h5"); },
                 Exit::kBadInput);
  EXPECT_NE(message.find("the buggy program was changed"), std::string::npos) << message;
}

/// A script whose section is larger than an attribute of HDF5 may be.
Json long_script(int line) {
  Json script = {{"file", "train.py"}, {"places", Json::array()}};
  for (int i = 0; i < 5000; ++i) script["places"].push_back({{"path", "/fit"}, {"line", line + i}});
  script["folder"] = "/a";
  return script;
}

TEST(StoreHeader, TheScriptOfAFaultIsKeptAndMakesNoOtherSearch) {
  TemporaryFolder folder;
  Case c = plain_case(6);
  FakeTrainer bare_trainer(c.landscape), trainer(c.landscape);
  const auto bare = run(c, {}, bare_trainer, folder / "bare.h5");
  EXPECT_FALSE(read_store(folder / "bare.h5").header.contains(kStoredScript));
  c.task.script = long_script(1);
  trainer.stop_after = bare_trainer.trainings / 2;
  RunOptions options;
  options.stop = &trainer.stop;
  EXPECT_EQ(run(c, options, trainer, folder / "s.h5").end, SearchEnd::kInterrupted);
  EXPECT_EQ(read_store(folder / "s.h5").header.at(kStoredScript), c.task.script);
  // Captured again: its lines moved.
  c.task.script = long_script(2);
  const auto went_on = run(c, {}, trainer, folder / "s.h5");
  EXPECT_EQ(tsv(went_on.network), tsv(bare.network));
  EXPECT_EQ(to_json(went_on.network).dump(), to_json(bare.network).dump());
  EXPECT_EQ(read_store(folder / "s.h5").header.at(kStoredScript), long_script(1));
  EXPECT_TRUE(check_store(folder / "s.h5").empty());
  // Nor does a fault without one.
  c.task.script = nullptr;
  EXPECT_TRUE(run(c, {}, trainer, folder / "s.h5").was_finished);

  merge_stores({folder / "s.h5", folder / "bare.h5"}, folder / "merged.h5");
  EXPECT_EQ(read_store(folder / "merged.h5").header.at(kStoredScript), long_script(1));
  std::string bytes = read_file(folder / "s.h5", "a store");
  bytes[700] = static_cast<char>(bytes[700] + 1);
  put_bytes(folder / "s.h5", bytes);
  ASSERT_TRUE(repair_store(folder / "s.h5", std::nullopt));
  EXPECT_EQ(read_store(folder / "s.h5").header.at(kStoredScript), long_script(1));
}

}  // namespace
}  // namespace neutra::search::tests
