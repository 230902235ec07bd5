#include "search/store.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

#include "base/last_act.h"
#include "tests/search/fakes.h"

namespace neutra::search::tests {
namespace {

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

void put_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
}

std::string message_of(const std::function<void()>& action, Exit exit) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), exit) << error.what();
    return error.what();
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

// --- the journal ---

std::string some_journal(std::vector<std::size_t>* ends = nullptr) {
  std::string bytes;
  for (int i = 0; i < 5; ++i) {
    bytes += journal_frame({{"type", "elapsed"}, {"seconds", i}, {"text", std::string(7, 'x')}});
    if (ends != nullptr) ends->push_back(bytes.size());
  }
  return bytes;
}

TEST(JournalFormat, EveryTruncationKeepsTheWholeRecords) {
  std::vector<std::size_t> ends;
  const std::string bytes = some_journal(&ends);
  for (std::size_t length = 0; length <= bytes.size(); ++length) {
    const JournalContent content = parse_journal(bytes.substr(0, length));
    const auto whole = std::upper_bound(ends.begin(), ends.end(), length) - ends.begin();
    ASSERT_EQ(content.records.size(), static_cast<std::size_t>(whole));
    const std::size_t kept = whole == 0 ? 0 : ends[static_cast<std::size_t>(whole) - 1];
    EXPECT_EQ(content.damage.bytes, length - kept);
    if (kept < length) {
      EXPECT_EQ(content.damage.first, kept);
    }
    EXPECT_TRUE(may_be_journal(bytes.substr(0, length), content));
  }
}

TEST(JournalFormat, EveryFlippedBitCostsItsRecordOnly) {
  const std::string bytes = some_journal();
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << bit % 8));
    const JournalContent content = parse_journal(flipped);
    ASSERT_EQ(content.records.size(), 4U) << bit;
    EXPECT_GT(content.damage.bytes, 0U);
    EXPECT_TRUE(may_be_journal(flipped, content));
  }
}

TEST(JournalFormat, OtherFilesAreNone) {
  EXPECT_FALSE(may_be_journal("hello", {}));
  EXPECT_TRUE(may_be_journal("", {}));
  EXPECT_TRUE(may_be_journal(std::string(100, '\0'), {}));
  EXPECT_TRUE(parse_journal("hello NJR1 NJR1").records.empty());
}

// --- stops and resumes ---

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

TEST(Store, OtherOptionsAreNamed) {
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

TEST(Store, FieldsThatOlderStoresLackMeanWhatTheyDidThen) {
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

TEST(Store, TellsItsConfiguration) {
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

TEST(Store, LargerBudgetsEndAsIfTheyHadBeenThereFromTheStart) {
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

TEST(Store, ABudgetThatIsTakenAwayIsAnotherSearch) {
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

TEST(Store, AnEditedProgramIsAnotherSearch) {
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

TEST(Store, ForeignDamagedAndNewerFilesAreRefused) {
  TemporaryFolder folder;
  const Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  RunOptions fresh;
  fresh.fresh = true;
  for (const char* content : {"", "some thesis, without a copy", "\x89HDF\r\n\x1a\n"}) {
    put_bytes(folder / "thesis", content);
    for (const RunOptions& options : {RunOptions{}, fresh}) {
      message_of([&] { run(c, options, trainer, folder / "thesis"); }, Exit::kBadInput);
      EXPECT_EQ(bytes_of(folder / "thesis"), content);
    }
  }
  for (const char* suffix : {".journal", ".journal.tmp", ".tmp", ".lock"}) {
    const auto file = folder / ("t.h5" + std::string(suffix)).c_str();
    put_bytes(file, "some thesis, without a copy");
    for (const RunOptions& options : {RunOptions{}, fresh}) {
      const auto message =
          message_of([&] { run(c, options, trainer, folder / "t.h5"); }, Exit::kBadInput);
      EXPECT_NE(message.find(suffix), std::string::npos) << message;
      EXPECT_EQ(bytes_of(file), "some thesis, without a copy");
    }
    std::filesystem::remove(file);
  }
  message_of([&] { run(c, {}, trainer, folder / "no/such/folder.h5"); }, Exit::kFailed);
  message_of([&] { read_store(folder / "none.h5"); }, Exit::kBadInput);

  run(c, {}, trainer, folder / "s.h5");
  const std::string good = bytes_of(folder / "s.h5");
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
  EXPECT_EQ(bytes_of(folder / "s.h5"), newer);
  put_bytes(folder / "s.h5", good);
  EXPECT_TRUE(run(c, {}, trainer, folder / "s.h5").was_finished);
}

TEST(Store, AJournalThatTellsOfAnotherSearchOrOfNoneIsRefused) {
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
  EXPECT_EQ(bytes_of(folder / "n.h5.journal"), journal_frame(newer));

  const std::string record = journal_frame({{"type", "elapsed"}, {"seconds", 1}});
  put_bytes(folder / "t.h5.journal", record);
  message = message_of([&] { run(c, {}, trainer, folder / "t.h5"); }, Exit::kBadInput);
  EXPECT_NE(message.find("damaged first record"), std::string::npos) << message;
  EXPECT_EQ(bytes_of(folder / "t.h5.journal"), record);
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

TEST(Store, AllReadersGiveOneVerdictOnAJournal) {
  TemporaryFolder folder;
  const Case c = plain_case(12);
  const auto store = folder / "s.h5";
  leave_unfinished(c, store);
  const auto journal = folder / "s.h5.journal";
  const std::string whole = bytes_of(journal);
  ASSERT_TRUE(check_store(store).empty());

  put_bytes(journal, "hello");
  FakeTrainer trainer(c.landscape);
  const std::vector<std::string> problems = check_store(store);
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_NE(problems.front().find("found another kind of file"), std::string::npos);
  EXPECT_EQ(message_of([&] { read_store(store); }, Exit::kBadInput), problems.front());
  EXPECT_EQ(message_of([&] { run(c, {}, trainer, store); }, Exit::kBadInput), problems.front());
  EXPECT_EQ(trainer.trainings, 0);
  EXPECT_EQ(bytes_of(journal), "hello");

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

TEST(Store, AFinishedOneWarnsOfADamagedJournalBesideIt) {
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

TEST(Store, ASecondWriterLearnsWhoIsFirst) {
  TemporaryFolder folder;
  const Case c = plain_case(6);
  FakeTrainer trainer(c.landscape);
  const auto lock = std::make_unique<StoreLock>(folder / "s.h5.lock", "the first command");
  const auto message = message_of([&] { run(c, {}, trainer, folder / "s.h5"); }, Exit::kFailed);
  EXPECT_NE(message.find("pid " + std::to_string(getpid())), std::string::npos) << message;
  EXPECT_NE(message.find("the first command"), std::string::npos) << message;
  EXPECT_EQ(trainer.trainings, 0);
}

TEST(Store, APipeInTheLocksPlaceHasNoOwner) {
  TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "s.h5.lock").c_str(), 0600), 0);
  EXPECT_EQ(store_owner(folder / "s.h5"), std::nullopt);
}

TEST(Store, ALockDiesWithItsProcess) {
  TemporaryFolder folder;
  const pid_t child = fork();
  if (child == 0) {
    new StoreLock(folder / "l", "child");
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / "l"));
  const StoreLock lock(folder / "l", "parent");
  EXPECT_NE(bytes_of(folder / "l").find("parent"), std::string::npos);
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

/// What a process leaves that was killed after each of its writes: a journal cut at every byte,
/// with and without the file of a folded store beside it.
TEST(Store, AJournalCutAnywhereResumes) {
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
  const std::string journal = bytes_of(copy);
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

TEST(Store, AStaleJournalBesideAFoldedFileCountsNothingTwice) {
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
    journal = bytes_of(folder / "s.h5.journal");
  }
  put_bytes(folder / "s.h5.journal", journal);
  for (int death = 0; death < 2; ++death) {
    Store store(folder / "s.h5", header, false);
    EXPECT_EQ(store.content().evaluations.size(), 1U);
    EXPECT_EQ(store.content().deaths.at({3, 4}), 1);
    EXPECT_EQ(store.content().deaths.count({1, 2}), 0U);
  }
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
    store.started({{5, 6}, 0}, true);  // apart: its process may die without ours
    before = bytes_of(folder / "s.h5.journal");
    store.save({}, {}, std::nullopt);
    store.finished({{1, 2}, 1}, {});
    store.dropped({{1, 2}, 2});
    store.started({{3, 4}, 7}, false);
    after = bytes_of(folder / "s.h5.journal");
  }
  const std::string file = bytes_of(folder / "s.h5");
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

/// Stores of earlier versions (tests/data/compat) go on, whatever it is that trains by now.
TEST(Store, UnfinishedOnesOfEarlierVersionsGoOn) {
  int versions = 0;
  const std::filesystem::path files = NEUTRA_TEST_DATA "/../../data/compat";
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

// --- repair and merge ---

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
    file = bytes_of(folder / "s.h5");
    Copying second(c.landscape);
    second.from = folder / "s.h5.journal";
    second.to = folder / "copy";
    second.after = trainings / 3;
    run(c, {}, second, folder / "s.h5");
    journal = bytes_of(folder / "copy");
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
  EXPECT_EQ(bytes_of(store), stopped.file);
  EXPECT_EQ(bytes_of(stopped.folder / "s.h5.journal"), stopped.journal);
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
    EXPECT_EQ(bytes_of(made->kept[in_file ? 0 : 1]), bytes);
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
    ASSERT_EQ(bytes_of(stopped.folder / "s.h5.journal"), cut);
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
  EXPECT_EQ(bytes_of(store), stopped.file.substr(0, stopped.file.size() / 2));
  {
    const StoreLock lock(stopped.folder / "s.h5.lock", "the writer");
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
  EXPECT_EQ(bytes_of(stopped.folder / "runs"), runs);

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
  EXPECT_EQ(bytes_of(stopped.folder / "newer"), newer);

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

// --- deaths, each in a process of its own: the test program run again as DISABLED_Child ---

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
  const auto store = folder / "s.h5";
  std::mt19937 random(1);
  int killed = 0;
  for (int round = 0; round < 30; ++round) {
    const int status = run_child(store, "killed", static_cast<int>(5'000 + random() % 45'000));
    killed += WIFSIGNALED(status);
  }
  EXPECT_GT(killed, 5);
  const int status = run_child(store, "killed");
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  const Case c = child_case("killed");
  FakeTrainer trainer(c.landscape);
  const auto outcome = run(c, {}, trainer, store);
  EXPECT_TRUE(outcome.was_finished);
  EXPECT_EQ(outcome.counters.failed, 0);
  EXPECT_EQ(tsv(outcome.network), reference_tsv(c));
  EXPECT_TRUE(check_store(store).empty());
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
