#include "serve/library.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/journal.h"
#include "base/temporary_folder.h"
#include "experiments/catalog.h"
#include "tests/source_file.h"

namespace neutra::serve {
namespace {

namespace fs = std::filesystem;

const fs::path kCompat = source_file("tests/data/compat/0.1.0");

/// A folder, and what a library sees of it.
class LibraryTest : public ::testing::Test {
 protected:
  const fs::path& root() const { return folder.path(); }
  void copy(const std::string& from, const std::string& to) const {
    fs::create_directories((root() / to).parent_path());
    fs::copy(kCompat / from, root() / to, fs::copy_options::recursive);
  }
  std::vector<std::string> names() {
    Library library(root(), std::chrono::milliseconds(0));
    listing = library.listing();
    std::vector<std::string> found;
    for (const ListedSearch& search : listing->searches)
      found.push_back(search.name + " " + search.state.state);
    for (const ListedBenchmark& benchmark : listing->benchmarks)
      found.push_back(benchmark.name + (benchmark.content ? "" : " damaged"));
    return found;
  }
  bool noted(const std::string& words) const {
    for (const std::string& note : listing->notes)
      if (note.find(words) != std::string::npos) return true;
    return false;
  }

  TemporaryFolder folder{"neutra-library-test"};
  std::shared_ptr<const Listing> listing;
};

using Names = std::vector<std::string>;

TEST_F(LibraryTest, ManySearchesAreReadOneLookAfterTheOther) {
  const int count = Library::kReadAtOnce + 5;
  for (int i = 0; i < count; ++i) copy("batch/D6.h5", std::to_string(100 + i) + ".h5");
  Library library(root(), std::chrono::hours(1), std::chrono::milliseconds(0));
  const auto unread = [&] {
    listing = library.listing();
    return std::count_if(listing->searches.begin(), listing->searches.end(),
                         [](const ListedSearch& one) { return one.state.state == "unread"; });
  };
  EXPECT_EQ(unread(), 5);  // all are listed, though
  EXPECT_EQ(listing->searches.size(), static_cast<std::size_t>(count));
  EXPECT_FALSE(listing->complete);
  const std::string last = std::to_string(99 + count) + ".h5";
  EXPECT_NE(library.report(last, {}), nullptr);  // that is read when it is asked for
  EXPECT_EQ(unread(), 0);
  EXPECT_TRUE(listing->complete);
  EXPECT_EQ(listing->find_search(last)->state.state, "finished");
}

TEST_F(LibraryTest, ASearchSaysWhatItFound) {
  copy("batch/D6.h5", "D6.h5");
  names();
  const experiments::BatchState& state = listing->find_search("D6.h5")->state;
  EXPECT_EQ(state.title, experiments::load_fault("D6").title);
  EXPECT_EQ(state.metric, "accuracy");
  EXPECT_TRUE(state.maximize);
  ASSERT_TRUE(state.buggy && state.level);
  EXPECT_LT(*state.buggy, *state.level);
  EXPECT_FALSE(state.buggy_reaches_level);
  EXPECT_EQ(state.best.has_value(), state.alternatives > 0);
}

TEST_F(LibraryTest, FindsSearchesAndBenchmarksInFolders) {
  copy("batch/D6.h5", "a/b/D6.h5");
  copy("unfinished.h5", "half.h5");
  copy("unfinished.h5.journal", "half.h5.journal");
  copy("benchmark.h5", "a/small.h5");
  copy("monitor.h5", "a/monitor.h5");  // neither
  EXPECT_EQ(names(), (Names{"a/b/D6.h5 finished", "half.h5 stopped", "a/small.h5"}));
  const ListedSearch* search = listing->find_search("a/b/D6.h5");
  ASSERT_NE(search, nullptr);
  EXPECT_EQ(search->state.fault, "D6");
  EXPECT_EQ(search->state.evaluations, 12);
  const ListedBenchmark* benchmark = listing->find_benchmark("a/small.h5");
  ASSERT_NE(benchmark, nullptr);
  EXPECT_EQ(benchmark->content->entries.size(), 2U);
  EXPECT_TRUE(benchmark->content->data.empty());
  EXPECT_TRUE(listing->notes.empty());
}

TEST_F(LibraryTest, RateAndTimeLeftAreThoseOfTheLastSave) {
  copy("unfinished.h5", "half.h5");
  copy("unfinished.h5.journal", "half.h5.journal");
  names();
  const experiments::BatchState before = listing->searches.front().state;
  std::ofstream(root() / "half.h5.journal", std::ios::app | std::ios::binary)
      << journal_frame({{"type", "elapsed"}, {"seconds", 1e6}});
  names();
  const experiments::BatchState after = listing->searches.front().state;
  EXPECT_EQ(after.seconds, 1e6);
  ASSERT_TRUE(before.evaluations_an_hour && before.seconds_left && before.budget_used);
  EXPECT_EQ(after.evaluations_an_hour, before.evaluations_an_hour);
  EXPECT_EQ(after.seconds_left, before.seconds_left);
  EXPECT_EQ(after.budget_used, before.budget_used);
  EXPECT_GT(*after.budget_used, 0);
  EXPECT_LT(*after.budget_used, 1);
}

TEST_F(LibraryTest, HowASearchEndedIsSaidInWords) {
  copy("batch/D6.h5", "D6.h5");
  names();
  const experiments::BatchState& state = listing->searches.front().state;
  EXPECT_EQ(state.note, "evaluation_budget");
  EXPECT_EQ(experiments::note_text(state), "evaluation budget used up");
  EXPECT_EQ(state.budget_used, 1);
  EXPECT_FALSE(state.saved);  // of running ones alone
}

TEST_F(LibraryTest, NamesAreOnlyLookedUp) {
  copy("batch/D6.h5", "in/D6.h5");
  copy("batch/D6.h5", "out/D6.h5");
  Library library(root() / "in");
  EXPECT_NE(library.report("D6.h5", {}), nullptr);
  for (const std::string& name :
       {std::string("../out/D6.h5"), (root() / "out/D6.h5").string(), std::string("./D6.h5"),
        std::string(""), std::string("D6.h5/"), std::string("D6.h5\0x", 7)})
    EXPECT_EQ(library.report(name, {}), nullptr) << name;
}

TEST_F(LibraryTest, LinksAreNotFollowed) {
  copy("batch/D6.h5", "out/D6.h5");
  copy("benchmark.h5", "out/small.h5");
  copy("unfinished.h5", "in/half.h5");
  copy("unfinished.h5.journal", "out/half.h5.journal");
  fs::create_symlink(root() / "out", root() / "in/folder");
  fs::create_symlink(root() / "out/D6.h5", root() / "in/D6.h5");
  fs::create_symlink(root() / "out/small.h5", root() / "in/small.h5");
  fs::create_symlink(root() / "out/half.h5.journal", root() / "in/half.h5.journal");
  Library library(root() / "in");
  listing = library.listing();
  ASSERT_EQ(listing->searches.size(), 1U);
  EXPECT_EQ(listing->searches[0].state.state, "damaged");
  EXPECT_TRUE(listing->benchmarks.empty());
  EXPECT_TRUE(noted("4 links"));
  EXPECT_EQ(library.report("D6.h5", {}), nullptr);
  EXPECT_THROW(library.report("half.h5", {}), Error);
}

TEST_F(LibraryTest, DamagedAndHalfMadeOnesAreSaid) {
  copy("batch/D6.h5", "cut.h5");
  fs::resize_file(root() / "cut.h5", 4000);
  copy("benchmark.h5", "cut-small.h5");
  fs::resize_file(root() / "cut-small.h5", 4000);
  write_file_atomically(root() / "empty.h5", "");
  write_file_atomically(root() / "text.h5", "hello");
  write_file_atomically(root() / "begun.h5.journal", "");
  fs::create_directories(root() / "folder");
  write_file_atomically(root() / "folder/benchmark.json", "{}");
  EXPECT_EQ(names(), (Names{"begun.h5 damaged", "cut.h5 damaged", "cut-small.h5 damaged",
                            "folder damaged"}));
  for (const ListedSearch& search : listing->searches) {
    EXPECT_FALSE(search.state.note.empty());
    EXPECT_EQ(search.state.note.find(root().string()), std::string::npos) << search.state.note;
  }
}

TEST_F(LibraryTest, SearchesOfABatchWait) {
  copy("batch", "batch");
  const Names before = names();
  EXPECT_NE(std::find(before.begin(), before.end(), "batch/D6.h5 finished"), before.end());
  fs::remove(root() / "batch/D6.h5");
  const Names after = names();
  EXPECT_NE(std::find(after.begin(), after.end(), "batch/D6.h5 waiting"), after.end());
  write_file_atomically(root() / "batch/batch.json", "{}");
  names();
  EXPECT_TRUE(noted("batch.json"));
}

TEST_F(LibraryTest, NamesMayHoldAnything) {
  const Names odd{"a b#c%20d", "<script>alert(1)</script>", "\xc3\xa9\xf0\x9f\x98\x80", "q?x=1&y",
                  "quote\"'"};
  for (const std::string& name : odd) {
    // A slash in a name is a folder.
    copy("batch/D6.h5", name + ".h5");
  }
  copy("batch/D6.h5", "not\xffutf8.h5");
  copy("batch/D6.h5", "line\nbreak.h5");
  copy("batch/D6.h5", ".hidden.h5");
  EXPECT_EQ(names().size(), odd.size());
  EXPECT_TRUE(noted("2 names"));
  Library library(root());
  for (const std::string& name : odd) EXPECT_NE(library.report(name + ".h5", {}), nullptr) << name;
}

TEST_F(LibraryTest, DeepFoldersAreLeftOut) {
  std::string path;
  for (int i = 0; i <= Library::kDepth; ++i) path += "f/";
  copy("batch/D6.h5", path + "D6.h5");
  EXPECT_TRUE(names().empty());
  EXPECT_TRUE(noted("deeper"));
  copy("batch/D6.h5", path.substr(2) + "D6.h5");
  EXPECT_EQ(names().size(), 1U);
}

TEST_F(LibraryTest, SpecialFilesAreLeftOut) {
  ASSERT_EQ(::mkfifo((root() / "pipe.h5").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo((root() / "x.h5.journal").c_str(), 0600), 0);
  EXPECT_TRUE(names().empty());
}

TEST_F(LibraryTest, SeesWhatChanges) {
  Library library(root(), std::chrono::milliseconds(0));
  EXPECT_TRUE(library.listing()->searches.empty());
  copy("batch/D6.h5", "D6.h5");
  const auto first = library.listing();
  ASSERT_EQ(first->searches.size(), 1U);
  const auto page = library.report("D6.h5", {});
  EXPECT_EQ(page, library.report("D6.h5", {}));  // not made again
  EXPECT_EQ(library.listing()->searches[0].revision, first->searches[0].revision);
  fs::remove(root() / "D6.h5");
  EXPECT_TRUE(library.listing()->searches.empty());
  EXPECT_EQ(library.report("D6.h5", {}), nullptr);
}

TEST_F(LibraryTest, AFolderThatVanishesIsSaidAndMayComeBack) {
  copy("batch/D6.h5", "in/D6.h5");
  Library library(root() / "in", std::chrono::milliseconds(0));
  EXPECT_EQ(library.listing()->searches.size(), 1U);
  fs::rename(root() / "in", root() / "away");
  listing = library.listing();
  EXPECT_TRUE(listing->searches.empty());
  EXPECT_FALSE(listing->notes.empty());
  fs::rename(root() / "away", root() / "in");
  EXPECT_EQ(library.listing()->searches.size(), 1U);
}

TEST_F(LibraryTest, AsksForAFolder) {
  EXPECT_THROW(Library(root() / "none"), Error);
  write_file_atomically(root() / "file", "");
  EXPECT_THROW(Library(root() / "file"), Error);
}

}  // namespace
}  // namespace neutra::serve
