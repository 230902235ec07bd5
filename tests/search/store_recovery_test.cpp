#include "search/store_recovery.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <vector>

#include "base/file_lock.h"
#include "base/files.h"
#include "program/file_formats.h"
#include "search/store_check.h"
#include "search/store_header.h"
#include "search/store_reader.h"
#include "tests/search/fakes.h"
#include "tests/search/reference_search.h"
#include "tests/search/store_files.h"

namespace neutra::search::tests {
namespace {

/// A search that was stopped: some of its evaluations in the file, some in the journal.
struct Stopped {
  Case c = plain_case(8);
  TemporaryFolder folder;
  std::string file, journal, expected;
  EvaluationMap evaluations;
  int trainings = 0;  ///< of the whole search

  Stopped() {
    c.config.budget_evaluations = 40;
    expected = reference_tsv(c);
    FakeTrainer whole(c.landscape);
    run(c, {}, whole, folder / "whole.h5");
    trainings = whole.trainings;
    struct Copying : FakeTrainer {
      using FakeTrainer::FakeTrainer;
      std::filesystem::path from, to;
      int count = 0, after = 0;
      training::ReplicaResult train(const training::TrainingJob& job) override {
        if (++count == after) std::filesystem::copy_file(from, to);
        return FakeTrainer::train(job);
      }
    };
    FakeTrainer first(c.landscape);
    first.stop_after = trainings / 3;
    RunOptions options;
    options.stop = &first.stop;
    run(c, options, first, folder / "s.h5");
    file = read_file(folder / "s.h5", "a store");
    Copying second(c.landscape);
    second.from = folder / "s.h5.journal";
    second.to = folder / "copy";
    second.after = trainings / 3;
    run(c, {}, second, folder / "s.h5");
    journal = read_file(folder / "copy", "a store");
    restore();
    evaluations = load_store(folder / "s.h5").evaluations;
  }
  void restore() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder / ".")) {
      std::filesystem::remove(entry);
    }
    put_bytes(folder / "s.h5", file);
    put_bytes(folder / "s.h5.journal", journal);
  }
  /// How many of the evaluations a store holds; none that isn't one of them.
  std::size_t found_in(const std::filesystem::path& store) const {
    const EvaluationMap found = load_store(store).evaluations;
    for (const auto& [key, result] : found) {
      const auto known = evaluations.find(key);
      EXPECT_TRUE(known != evaluations.end() && to_json(known->second) == to_json(result));
    }
    return found.size();
  }
};

TEST(Store, AnUnfinishedOneGoesOnWithALargerBudgetAlsoAfterADeathOnTheWay) {
  Stopped stopped;
  const auto store = stopped.folder / "s.h5";
  stopped.c.config.budget_evaluations = 60;
  const std::string expected = reference_tsv(stopped.c);
  ::testing::internal::CaptureStderr();
  FakeTrainer rest(stopped.c.landscape);
  EXPECT_EQ(tsv(run(stopped.c, {}, rest, store).network), expected);
  FakeTrainer whole(stopped.c.landscape);
  run(stopped.c, {}, whole, stopped.folder / "large.h5");
  EXPECT_EQ(rest.trainings + static_cast<int>(stopped.evaluations.size()), whole.trainings);

  // The new file is there, and beside it still the journal of the smaller budget.
  stopped.restore();
  FakeTrainer none(stopped.c.landscape);
  std::atomic<bool> stop{true};
  RunOptions options;
  options.stop = &stop;
  run(stopped.c, options, none, store);
  ASSERT_EQ(read_store(store).header.at("config").at("budget_evaluations"), 60);
  put_bytes(stopped.folder / "s.h5.journal", stopped.journal);
  EXPECT_EQ(stopped.found_in(store), stopped.evaluations.size());
  FakeTrainer again(stopped.c.landscape);
  EXPECT_EQ(tsv(run(stopped.c, {}, again, store).network), expected);
  EXPECT_EQ(again.trainings, rest.trainings);
  ::testing::internal::GetCapturedStderr();
}

TEST(Repair, ASoundStoreIsCopiedWhereAnotherFileIsAsked) {
  const Stopped stopped;
  const auto store = stopped.folder / "s.h5", copy = stopped.folder / "copy.h5";
  const auto unfinished = repair_store(store, copy);
  ASSERT_TRUE(unfinished.has_value());
  EXPECT_FALSE(unfinished->finished);
  EXPECT_EQ(unfinished->trainings, stopped.evaluations.size());
  EXPECT_EQ(stopped.found_in(copy), stopped.evaluations.size());
  EXPECT_EQ(read_file(store, "a store"), stopped.file);
  EXPECT_EQ(read_file(stopped.folder / "s.h5.journal", "a store"), stopped.journal);
  FakeTrainer rest(stopped.c.landscape);
  EXPECT_EQ(tsv(run(stopped.c, {}, rest, copy).network), stopped.expected);

  const auto finished = repair_store(copy, stopped.folder / "second.h5");
  ASSERT_TRUE(finished.has_value());
  EXPECT_TRUE(finished->finished);
  FakeTrainer none(stopped.c.landscape);
  EXPECT_TRUE(run(stopped.c, {}, none, stopped.folder / "second.h5").was_finished);
  EXPECT_EQ(tsv(read_store(stopped.folder / "second.h5").network), stopped.expected);
  EXPECT_TRUE(check_store(stopped.folder / "second.h5").empty());
}

TEST(Repair, EveryFlippedBitIsSeenOrHarmlessAndCostsOneEvaluation) {
  const Stopped stopped;
  ASSERT_GT(stopped.evaluations.size(), 40U);
  const auto store = stopped.folder / "s.h5", journal = stopped.folder / "s.h5.journal";
  std::mt19937_64 random(1);
  ::testing::internal::CaptureStderr();
  int harmless = 0;
  for (int i = 0; i < 1000; ++i) {
    stopped.restore();
    const bool in_file = i % 2 == 0;
    std::string bytes = in_file ? stopped.file : stopped.journal;
    const std::size_t bit = random() % (bytes.size() * 8);
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ (1 << bit % 8));
    put_bytes(in_file ? store : journal, bytes);
    if (check_store(store).empty()) {
      ++harmless;
      ASSERT_EQ(stopped.found_in(store), stopped.evaluations.size()) << bit;
      ASSERT_FALSE(repair_store(store, std::nullopt).has_value());
      continue;
    }
    if (i % 10 > 1) continue;  // the others are seen, too
    const auto made = repair_store(store, std::nullopt);
    ASSERT_TRUE(made.has_value());
    ASSERT_TRUE(check_store(store).empty());
    ASSERT_GE(stopped.found_in(store) + 1, stopped.evaluations.size()) << bit;
    ASSERT_EQ(made->kept.size(), 2U);
    EXPECT_EQ(read_file(made->kept[in_file ? 0 : 1], "a store"), bytes);
    if (i % 50 > 1) continue;
    FakeTrainer again(stopped.c.landscape);
    ASSERT_EQ(tsv(run(stopped.c, {}, again, store).network), stopped.expected) << bit;
    EXPECT_LE(again.trainings,
              stopped.trainings - static_cast<int>(stopped.evaluations.size()) + 1);
  }
  ::testing::internal::GetCapturedStderr();
  EXPECT_LT(harmless, 10);
}

TEST(Repair, AJournalCutAnywhereGivesAllItsWholeRecords) {
  const Stopped stopped;
  const auto store = stopped.folder / "s.h5";
  const std::size_t size = stopped.journal.size();
  ::testing::internal::CaptureStderr();
  for (std::size_t length = size - std::min<std::size_t>(size, 4096); length < size; length += 5) {
    stopped.restore();
    const std::string cut = stopped.journal.substr(0, length);
    put_bytes(stopped.folder / "s.h5.journal", cut);
    std::size_t records = 0;
    for (const auto& [offset, payload] : parse_journal(cut).records) {
      records += payload.at("type") == "finished" ? 1 : 0;
    }
    const auto in_file = static_cast<std::size_t>(stopped.trainings / 3);
    ASSERT_EQ(stopped.found_in(store), in_file + records) << length;
    if (length % 20 != 0 || !repair_store(store, stopped.folder / "out.h5")) continue;
    ASSERT_EQ(stopped.found_in(stopped.folder / "out.h5"), in_file + records) << length;
    ASSERT_EQ(read_file(stopped.folder / "s.h5.journal", "a store"), cut);
  }
  ::testing::internal::GetCapturedStderr();
}

TEST(Repair, RefusesWhatItWouldLose) {
  const Stopped stopped;
  const auto store = stopped.folder / "s.h5";
  put_bytes(store, stopped.file.substr(0, stopped.file.size() / 2));
  put_bytes(stopped.folder / "s.h5.damaged", "mine");
  auto message = message_of([&] { repair_store(store, std::nullopt); }, Exit::kBadInput);
  EXPECT_NE(message.find("s.h5.damaged"), std::string::npos) << message;
  message = message_of([&] { repair_store(store, store); }, Exit::kBadInput);
  EXPECT_NE(message.find("still free"), std::string::npos) << message;
  EXPECT_EQ(read_file(store, "a store"), stopped.file.substr(0, stopped.file.size() / 2));
  {
    const FileLock lock(stopped.folder / "s.h5.lock", "the writer", kStoreInUse);
    message = message_of([&] { repair_store(store, std::nullopt); }, Exit::kFailed);
    EXPECT_NE(message.find("the writer"), std::string::npos) << message;
  }
  // The journal of something else.
  const std::string runs = journal_frame({{"type", "header"}, {"header", {{"format", "runs"}}}});
  put_bytes(stopped.folder / "runs", runs);
  message =
      message_of([&] { repair_store(stopped.folder / "runs", std::nullopt); }, Exit::kBadInput);
  EXPECT_NE(message.find("found a journal of neutra; allowed: the store of a search"),
            std::string::npos)
      << message;
  EXPECT_EQ(read_file(stopped.folder / "runs", "a store"), runs);

  program::name_file_formats();
  const std::string mutants = journal_frame(
      {{"type", "header"}, {"header", {{"format", "neutra-mutant-runs"}, {"version", 2}}}});
  put_bytes(stopped.folder / "mutants.runs", mutants);
  for (const auto& action : std::vector<std::function<void()>>{
           [&] { repair_store(stopped.folder / "mutants.runs", std::nullopt); },
           [&] { read_store(stopped.folder / "mutants.runs"); }}) {
    message = message_of(action, Exit::kBadInput);
    EXPECT_NE(message.find("found the runs of neutra mutate --kill"), std::string::npos) << message;
    EXPECT_EQ(message.find("still free"), std::string::npos) << message;
  }

  // What a newer version wrote is sound for that version.
  const std::string newer =
      "neutra-store version 7" +
      journal_frame({{"type", "header"}, {"header", {{"format", "neutra-store"}, {"version", 7}}}});
  put_bytes(stopped.folder / "newer", newer);
  message =
      message_of([&] { repair_store(stopped.folder / "newer", std::nullopt); }, Exit::kBadInput);
  EXPECT_NE(message.find("a newer neutra made it"), std::string::npos) << message;
  EXPECT_EQ(read_file(stopped.folder / "newer", "a store"), newer);

  put_bytes(store, "neutra-store and nothing else");
  std::filesystem::remove(stopped.folder / "s.h5.journal");
  message = message_of([&] { repair_store(store, stopped.folder / "o.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("what was searched"), std::string::npos) << message;
  message =
      message_of([&] { repair_store(stopped.folder / "no.h5", std::nullopt); }, Exit::kBadInput);
  EXPECT_NE(message.find("no such file"), std::string::npos) << message;
}

TEST(Merge, StoresOfOneSearchBecomeOne) {
  TemporaryFolder folder;
  Case c = plain_case(8);
  c.config.budget_evaluations = 40;
  const std::string expected = reference_tsv(c);
  FakeTrainer whole(c.landscape);
  run(c, {}, whole, folder / "whole.h5");
  Case small = c;
  small.config.budget_evaluations = 4;
  small.config.max_depth = 1;
  FakeTrainer trainer(c.landscape);
  run(small, {}, trainer, folder / "a.h5");
  FakeTrainer stopped(c.landscape);
  stopped.stop_after = whole.trainings / 2;
  RunOptions options;
  options.stop = &stopped.stop;
  run(c, options, stopped, folder / "b.h5");

  const StoreSummary summary =
      merge_stores({folder / "b.h5", folder / "a.h5"}, folder / "merged.h5");
  EXPECT_GE(static_cast<int>(summary.trainings), whole.trainings / 2);
  FakeTrainer rest(c.landscape);
  const auto outcome = run(c, {}, rest, folder / "merged.h5");
  EXPECT_EQ(tsv(outcome.network), expected);
  EXPECT_EQ(rest.trainings + static_cast<int>(summary.trainings), whole.trainings);

  auto message =
      message_of([&] { merge_stores({folder / "a.h5"}, folder / "b.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("still free"), std::string::npos) << message;
  Case other = c;
  other.config.seed = 7;
  FakeTrainer seven(c.landscape);
  run(other, {}, seven, folder / "seed.h5");
  message = message_of(
      [&] {
        merge_stores({folder / "a.h5", folder / "seed.h5"}, folder / "n.h5");
      },
      Exit::kBadInput);
  EXPECT_NE(message.find("seed was 0, now 7"), std::string::npos) << message;
  Case changed = c;
  changed.landscape.seed += 1;
  FakeTrainer lucky(changed.landscape);
  run(changed, {}, lucky, folder / "luck.h5");
  message = message_of(
      [&] {
        merge_stores({folder / "a.h5", folder / "luck.h5"}, folder / "n.h5");
      },
      Exit::kBadInput);
  EXPECT_NE(message.find("another result"), std::string::npos) << message;
  EXPECT_FALSE(std::filesystem::exists(folder / "n.h5"));
}

}  // namespace
}  // namespace neutra::search::tests
