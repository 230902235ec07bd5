#include "search/store_replay.h"

#include <gtest/gtest.h>

#include "base/files.h"
#include "search/store.h"
#include "search/store_reader.h"
#include "tests/search/fakes.h"
#include "tests/search/reference_search.h"
#include "tests/search/store_files.h"

namespace neutra::search::tests {
namespace {

TEST(StoreReplay, AJournalThatTellsOfAnotherSearchOrOfNoneIsRefused) {
  TemporaryFolder folder;
  const Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  RunOptions options;
  std::atomic<bool> stop{false};
  options.stop = &stop;
  options.progress = [&](const Progress&) { stop = true; };
  EXPECT_EQ(run(c, options, trainer, folder / "s.h5").end, SearchEnd::kInterrupted);
  const Json other = {{"type", "header"}, {"id", "x"}, {"header", {{"fault", "other"}}}};
  put_bytes(folder / "s.h5.journal", journal_frame(other));
  auto message = message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("the journal of another search"), std::string::npos) << message;

  const Json newer = {{"type", "header"}, {"id", "x"}, {"header", {{"version", 7}}}};
  put_bytes(folder / "n.h5.journal", journal_frame(newer));
  message = message_of([&] { run(c, {}, trainer, folder / "n.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("found version 7; allowed: versions up to 1: a newer neutra made it"),
            std::string::npos)
      << message;
  EXPECT_EQ(read_file(folder / "n.h5.journal", "a store"), journal_frame(newer));

  const std::string record = journal_frame({{"type", "elapsed"}, {"seconds", 1}});
  put_bytes(folder / "t.h5.journal", record);
  message = message_of([&] { run(c, {}, trainer, folder / "t.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("damaged first record"), std::string::npos) << message;
  EXPECT_EQ(read_file(folder / "t.h5.journal", "a store"), record);
}

/// What a process leaves that was killed after each of its writes: a journal cut at every byte,
/// with and without the file of a folded store beside it.
TEST(StoreReplay, AJournalCutAnywhereResumes) {
  TemporaryFolder folder;
  Case c = plain_case(8);
  c.config.budget_evaluations = 5;
  const std::string expected = reference_tsv(c);
  const auto copy = folder / "copy.journal";
  struct Copying : FakeTrainer {
    using FakeTrainer::FakeTrainer;
    std::filesystem::path from, to;
    training::ReplicaResult train(const training::TrainingJob& job) override {
      auto result = FakeTrainer::train(job);
      std::filesystem::copy_file(from, to, std::filesystem::copy_options::overwrite_existing);
      return result;
    }
  };
  Copying trainer(c.landscape);
  trainer.from = folder / "s.h5.journal";
  trainer.to = copy;
  run(c, {}, trainer, folder / "s.h5");
  const std::string journal = read_file(copy, "a store");
  ASSERT_GT(parse_journal(journal).records.size(), 10U);
  ::testing::internal::CaptureStderr();  // a warning for each
  for (std::size_t length = 0; length < journal.size(); length += 29) {
    for (const char* left : {"s.h5", "s.h5.tmp", "s.h5.journal.tmp", "s.h5.lock"}) {
      std::filesystem::remove(folder / left);
    }
    put_bytes(folder / "s.h5.journal", journal.substr(0, length));
    if (length % 2 == 0) put_bytes(folder / "s.h5.tmp", "neutra-store ver");
    FakeTrainer again(c.landscape);
    ASSERT_EQ(tsv(run(c, {}, again, folder / "s.h5").network), expected) << length;
  }
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("damaged bytes"), std::string::npos);
}

TEST(StoreReplay, AStaleJournalBesideAFoldedFileCountsNothingTwice) {
  // Death between the two renames of a save: the journal is one that the file holds already.
  TemporaryFolder folder;
  const Case c = plain_case(9);
  const EvaluationKey key{{1, 2}, 0};
  const Json header = {{"format", "neutra-store"},
                       {"version", 1},
                       {"fault", "F"},
                       {"metric", "accuracy"},
                       {"goal", "maximize"},
                       {"start", "a=0"},
                       {"fixed", nullptr},
                       {"config", to_json(c.config)}};
  training::ReplicaResult result;
  result.metric = 0.5;
  std::string journal;
  {
    Store store(folder / "s.h5", header, false);
    store.started(key, false);
    store.finished(key, result);
    store.started({{3, 4}, 0}, false);
    journal = read_file(folder / "s.h5.journal", "a store");
  }
  put_bytes(folder / "s.h5.journal", journal);
  for (int death = 0; death < 2; ++death) {
    Store store(folder / "s.h5", header, false);
    EXPECT_EQ(store.content().evaluations.size(), 1U);
    EXPECT_EQ(store.content().deaths.at({3, 4}), 1);
    EXPECT_EQ(store.content().deaths.count({1, 2}), 0U);
  }
}

}  // namespace
}  // namespace neutra::search::tests
