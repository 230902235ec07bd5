#include "search/store_reader.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/files.h"
#include "search/store.h"
#include "search/store_check.h"
#include "tests/search/fakes.h"
#include "tests/search/store_files.h"
#include "tests/source_file.h"

namespace neutra::search::tests {
namespace {

TEST(StoreReader, TellsItsConfiguration) {
  TemporaryFolder folder;
  Case c = plain_case(6);
  c.config.ties = TieOrder::kSpread;
  EXPECT_FALSE(stored_config(folder / "s.h5"));
  FakeTrainer trainer(c.landscape);
  run(c, {}, trainer, folder / "s.h5");
  const auto stored = stored_config(folder / "s.h5");
  ASSERT_TRUE(stored);
  EXPECT_EQ(to_json(*stored), to_json(c.config));
  put_bytes(folder / "bad.h5", "some thesis");
  EXPECT_FALSE(stored_config(folder / "bad.h5"));
  // A search that has its journal alone.
  put_bytes(folder / "j.h5.journal",
            journal_frame({{"type", "header"},
                           {"id", "x"},
                           {"header", {{"version", 1}, {"config", to_json(c.config)}}}}));
  ASSERT_TRUE(stored_config(folder / "j.h5"));
  EXPECT_EQ(to_json(*stored_config(folder / "j.h5")), to_json(c.config));
}

TEST(StoreReader, ForeignDamagedAndNewerFilesAreRefused) {
  TemporaryFolder folder;
  const Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  RunOptions fresh;
  fresh.fresh = true;
  for (const char* content : {"", "some thesis, without a copy", "\x89HDF\r\n\x1a\n"}) {
    put_bytes(folder / "thesis", content);
    for (const RunOptions& options : {RunOptions{}, fresh}) {
      message_of([&] { run(c, options, trainer, folder / "thesis"); }, Exit::kBadInput);
      EXPECT_EQ(read_file(folder / "thesis", "a store"), content);
    }
  }
  for (const char* suffix : {".journal", ".journal.tmp", ".tmp", ".lock"}) {
    const auto file = folder / ("t.h5" + std::string(suffix)).c_str();
    put_bytes(file, "some thesis, without a copy");
    for (const RunOptions& options : {RunOptions{}, fresh}) {
      const auto message =
          message_of([&] { run(c, options, trainer, folder / "t.h5"); }, Exit::kBadInput);
      EXPECT_NE(message.find(suffix), std::string::npos) << message;
      EXPECT_EQ(read_file(file, "a store"), "some thesis, without a copy");
    }
    std::filesystem::remove(file);
  }
  message_of([&] { run(c, {}, trainer, folder / "no/such/folder.h5"); }, Exit::kBadInput);
  message_of([&] { read_store(folder / "none.h5"); }, Exit::kBadInput);

  run(c, {}, trainer, folder / "s.h5");
  const std::string good = read_file(folder / "s.h5", "a store");
  for (const std::size_t at : {std::size_t{600}, good.size() / 2, good.size() - 1}) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 1);
    put_bytes(folder / "s.h5", bad);
    const auto message = message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kBadInput);
    EXPECT_NE(message.find("damaged"), std::string::npos) << message;
    EXPECT_EQ(check_store(folder / "s.h5").size(), 1U);
  }
  put_bytes(folder / "s.h5", good.substr(0, good.size() / 2));
  message_of([&] { read_store(folder / "s.h5"); }, Exit::kBadInput);
  std::string newer = good;
  newer.replace(newer.find("version 1"), 9, "version 7");
  put_bytes(folder / "s.h5", newer);
  const auto message = message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("found neutra-store version 7; allowed: versions up to 1: a newer neutra"),
            std::string::npos)
      << message;
  EXPECT_EQ(read_file(folder / "s.h5", "a store"), newer);
  put_bytes(folder / "s.h5", good);
  EXPECT_TRUE(run(c, {}, trainer, folder / "s.h5").was_finished);
}

/// The unfinished store of a case, with its journal.
void leave_unfinished(const Case& c, const std::filesystem::path& store) {
  struct Copying : FakeTrainer {
    using FakeTrainer::FakeTrainer;
    std::filesystem::path from, to;
    training::ReplicaResult train(const training::TrainingJob& job) override {
      auto result = FakeTrainer::train(job);
      if (trainings == 9) std::filesystem::copy_file(from, to);
      return result;
    }
  };
  Copying trainer(c.landscape);
  trainer.from = store.string() + ".journal";
  trainer.to = store.string() + ".copy";
  run(c, {}, trainer, store);
  std::filesystem::remove(store);
  std::filesystem::rename(trainer.to, trainer.from);
}

TEST(StoreReader, AllReadersGiveOneVerdictOnAJournal) {
  TemporaryFolder folder;
  const Case c = plain_case(12);
  const auto store = folder / "s.h5";
  leave_unfinished(c, store);
  const auto journal = folder / "s.h5.journal";
  const std::string whole = read_file(journal, "a store");
  ASSERT_TRUE(check_store(store).empty());

  put_bytes(journal, "hello");
  FakeTrainer trainer(c.landscape);
  const std::vector<std::string> problems = check_store(store);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems.front().find("found another kind of file"), std::string::npos);
  EXPECT_EQ(message_of([&] { read_store(store); }, Exit::kBadInput), problems.front());
  EXPECT_EQ(message_of([&] { run(c, {}, trainer, store); }, Exit::kBadInput), problems.front());
  EXPECT_EQ(trainer.trainings, 0);
  EXPECT_EQ(read_file(journal, "a store"), "hello");

  // In the first record, in the middle and at the end: all of them are the search's own journal.
  for (const std::size_t at : {std::size_t{0}, whole.size() / 2, whole.size() - 3}) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    put_bytes(journal, damaged);
    const std::vector<std::string> found = check_store(store);
    ASSERT_EQ(found.size(), 1U) << at;
    EXPECT_NE(found.front().find("damaged bytes, the first at byte"), std::string::npos);
    const std::string warning = "warning: " + found.front() + "\n";
    ::testing::internal::CaptureStderr();
    read_store(store);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), warning);
    ::testing::internal::CaptureStderr();
    Store opened(store, load_store(store).header, false);
    EXPECT_EQ(::testing::internal::GetCapturedStderr(), warning);
    for (const auto& item : std::filesystem::directory_iterator(folder / ".")) {
      if (item.path() != folder / "s.h5.lock") std::filesystem::remove(item.path());
    }
  }
}

TEST(StoreReader, AFinishedOneWarnsOfADamagedJournalBesideIt) {
  TemporaryFolder folder;
  const Case c = plain_case(12);
  const auto store = folder / "s.h5";
  FakeTrainer trainer(c.landscape);
  run(c, {}, trainer, store);
  put_bytes(folder / "s.h5.journal", "NJR1 and bytes that are no record");
  const std::vector<std::string> found = check_store(store);
  ASSERT_EQ(found.size(), 1U);
  ::testing::internal::CaptureStderr();
  EXPECT_TRUE(run(c, {}, trainer, store).was_finished);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "warning: " + found.front() + "\n");
}

/// Stores of earlier versions (tests/data/compat) go on, whatever it is that trains by now.
TEST(StoreReader, UnfinishedOnesOfEarlierVersionsGoOn) {
  int versions = 0;
  const std::filesystem::path files = source_file("tests/data/compat");
  for (const auto& version : std::filesystem::directory_iterator(files)) {
    if (!version.is_directory()) continue;
    ++versions;
    TemporaryFolder folder;
    const auto store = folder / "unfinished.h5";
    for (const char* name : {"unfinished.h5", "unfinished.h5.journal"}) {
      std::filesystem::copy_file(version.path() / name, folder / name);
    }
    const StoreContent before = load_store(store);
    EXPECT_EQ(before.journal_damage.bytes, 0U);
    EXPECT_FALSE(before.finished);
    EXPECT_GT(before.evaluations.size(), 3U);
    EXPECT_GT(before.network.nodes.size(), 0U);
    {
      Store going(store, before.header, false);
      going.finished({{1, 2}, 0}, {});
      going.save(before.network, before.counters, SearchEnd::kQueueEmpty);
    }
    const StoreContent after = load_store(store);
    EXPECT_TRUE(after.finished);
    EXPECT_EQ(after.evaluations.size(), before.evaluations.size() + 1);
    for (const auto& [key, result] : before.evaluations) {
      EXPECT_EQ(to_json(after.evaluations.at(key)), to_json(result));
    }
    EXPECT_EQ(tsv(after.network), tsv(before.network));
    EXPECT_TRUE(check_store(store).empty());
  }
  EXPECT_GT(versions, 0);
}

}  // namespace
}  // namespace neutra::search::tests
