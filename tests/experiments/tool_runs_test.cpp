#include "experiments/tool_runs.h"

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "tests/test_folder.h"

namespace {
bool disk_fails = false;
}

/// Stands before the system's: disks that fail are rare.
extern "C" int fdatasync(int descriptor) {
  if (!disk_fails) return static_cast<int>(syscall(SYS_fdatasync, descriptor));
  errno = EIO;
  return -1;
}

namespace neutra::experiments {
namespace {

class JournalFile {
 public:
  const std::filesystem::path& path() const { return path_; }
  std::string text() const {
    std::ostringstream text;
    text << std::ifstream(path_).rdbuf();
    return text.str();
  }
  void append(const std::string& text) const { std::ofstream(path_, std::ios::app) << text; }

 private:
  neutra::tests::TestFolder folder_;
  std::filesystem::path path_ = folder_.write("runs.jsonl", "");
};

fl_adapters::Localisation run_of(const std::string& answer, double seconds = 1) {
  fl_adapters::Localisation run;
  run.faults = program::parse_fault_set(answer, "test");
  run.seconds = seconds;
  return run;
}

Json key_of(int run) { return {{"fault", "D7"}, {"run", run}}; }

TEST(RunJournal, KeepsRunsOverRestarts) {
  const JournalFile file;
  fl_adapters::Localisation said = run_of("ACH(1), LRM|LAD", 0.1);
  said.status = fl_adapters::LocalisationStatus::kTimeout;
  said.reason = "too slow\n\xff";
  said.ranking = {{1, 5, "ACH", 0.75}, {-1, -1, "HLR", 0.5}};
  fl_adapters::ToolMessage message;
  message.code = "c1";
  message.layers = {0, 2};
  message.text = "two layers";
  said.messages.push_back(message);
  {
    RunJournal journal(file.path());
    EXPECT_FALSE(journal.find(key_of(0)));
    journal.add(key_of(0), said);
    EXPECT_TRUE(journal.find(key_of(0)));
  }
  RunJournal journal(file.path());
  EXPECT_FALSE(journal.find(key_of(1)));
  const auto read = journal.find(key_of(0));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->faults, said.faults);
  EXPECT_EQ(read->seconds, 0.1);
  EXPECT_EQ(read->status, fl_adapters::LocalisationStatus::kTimeout);
  EXPECT_EQ(read->reason, "too slow\n\xef\xbf\xbd");
  EXPECT_EQ(to_string(read->ranking), "ACH(1) > HLR");
  EXPECT_EQ(read->ranking.at(0).suspiciousness, 0.75);
  EXPECT_EQ(read->messages.at(0).code, "c1");
  EXPECT_EQ(read->messages.at(0).layers, (std::set<int>{0, 2}));
}

TEST(RunJournal, ALineWithoutAnEndIsCutOff) {
  const JournalFile file;
  { RunJournal(file.path()).add(key_of(0), run_of("HLR")); }
  const std::string whole = file.text();
  file.append(whole.substr(whole.find('\n') + 1, 30));
  {
    RunJournal journal(file.path());
    EXPECT_TRUE(journal.find(key_of(0)));
    EXPECT_EQ(file.text(), whole);
    journal.add(key_of(1), run_of("LCH"));
  }
  EXPECT_EQ(to_string(RunJournal(file.path()).find(key_of(1))->faults), "LCH");
}

TEST(RunJournal, WhatIsNoJournalIsNamedWithItsLine) {
  for (const char* text : {"hello\n", "{\"format\": \"neutra-store\", \"version\": 1}\n",
                           "{\"format\": \"neutra-runs\", \"version\": 1}\n{\"key\": {}}\n"}) {
    const JournalFile file;
    file.append(text);
    try {
      RunJournal journal(file.path());
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      EXPECT_NE(std::string(error.what()).find(": line "), std::string::npos) << error.what();
    }
    EXPECT_EQ(file.text(), text);
  }
}

TEST(RunJournal, EachLineKnowsItsDigest) {
  std::string whole;
  {
    const JournalFile file;
    RunJournal(file.path()).add(key_of(0), run_of("ACH(1), LCH", 0.125));
    whole = file.text();
  }
  const std::size_t at = whole.find("0.125");
  ASSERT_NE(at, std::string::npos);
  const auto error_of = [](const std::string& text) -> std::string {
    const JournalFile file;
    file.append(text);
    try {
      const RunJournal journal(file.path());
      EXPECT_TRUE(journal.find(key_of(0)));
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(error_of(whole), "");
  std::string damaged = whole;
  damaged[at + 2] = '3';  // another number, but no other form
  EXPECT_NE(error_of(damaged).find("line 2"), std::string::npos);
  // As older versions wrote it.
  std::string older;
  for (std::size_t from = 0; from < whole.size(); from = whole.find('\n', from) + 1) {
    const std::string line = whole.substr(from, whole.find('\n', from) - from);
    older += line.substr(0, line.rfind(",\"digest\"")) + "}\n";
  }
  EXPECT_EQ(error_of(older), "");
}

TEST(RunJournal, ADiskThatFailsIsAnError) {
  const JournalFile file;
  RunJournal journal(file.path());
  disk_fails = true;
  try {
    journal.add(key_of(0), run_of("HLR"));
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kFailed);
    EXPECT_EQ(error.what(), "cannot write " + file.path().string() + ": Input/output error");
  }
  disk_fails = false;
  EXPECT_FALSE(journal.find(key_of(0)));
}

TEST(RunJournal, HasOneWriter) {
  const JournalFile file;
  const RunJournal journal(file.path());
  EXPECT_THROW(RunJournal(file.path()), Error);
}

fl_adapters::Tool tool_that(
    std::function<fl_adapters::Localisation(const fl_adapters::FaultyProgram&,
                                            const fl_adapters::LocaliseContext&)>
        localise) {
  fl_adapters::Tool tool;
  tool.name = "fake";
  tool.version = "7";
  tool.localise = std::move(localise);
  return tool;
}

TEST(GuardedRun, AFailureIsAnAnswer) {
  const fl_adapters::Tool broken =
      tool_that([](const fl_adapters::FaultyProgram&,
                   const fl_adapters::LocaliseContext&) -> fl_adapters::Localisation {
        throw std::runtime_error("it broke");
      });
  const fl_adapters::Localisation run = run_guarded(broken, {}, {});
  EXPECT_EQ(run.status, fl_adapters::LocalisationStatus::kFailed);
  EXPECT_EQ(run.reason, "it broke");
  EXPECT_FALSE(run.faults.applicable);
  const fl_adapters::Tool lacking =
      tool_that([](const fl_adapters::FaultyProgram&,
                   const fl_adapters::LocaliseContext&) -> fl_adapters::Localisation {
        throw MissingData("no model.json");
      });
  EXPECT_EQ(run_guarded(lacking, {}, {}).reason, "no model.json");
}

TEST(GuardedRun, ARunThatWasGivenUpIsNone) {
  std::atomic<bool> stop{false};
  const fl_adapters::Tool tool =
      tool_that([&](const fl_adapters::FaultyProgram&, const fl_adapters::LocaliseContext&) {
        stop = true;
        return run_of("HLR");
      });
  fl_adapters::LocaliseContext context;
  context.stop = &stop;
  try {
    run_guarded(tool, {}, context);
    ADD_FAILURE();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kInterrupted);
  }
}

TEST(Summary, TheMostFrequentAnswerOfTheRuns) {
  const fl_adapters::Tool tool = tool_that({});
  fl_adapters::Localisation failed = run_of("N/A", 100);
  failed.status = fl_adapters::LocalisationStatus::kFailed;
  const evaluators::Answer answer = summary_of_runs(
      "D7", "fake-native", tool, {run_of("LCH", 1), run_of("HLR", 2), run_of("HLR", 6), failed});
  EXPECT_EQ(answer.fault, "D7");
  EXPECT_EQ(answer.tool, "fake-native");
  EXPECT_EQ(answer.version, "7");
  EXPECT_EQ(to_string(answer.faults), "HLR");
  EXPECT_EQ(answer.runs, 4);
  EXPECT_EQ(answer.stability, 0.5);
  EXPECT_EQ(answer.seconds, 3);  // not that of the failed run
  EXPECT_EQ(answer.status, "3 ok, 1 failed");
  EXPECT_EQ(summary_of_runs("D7", "x", tool, {run_of("-")}).status, "ok");
  EXPECT_FALSE(summary_of_runs("D7", "x", tool, {failed}).seconds);
}

TEST(Summary, RankingsAreMergedAndStableByTheirFirstPlace) {
  const fl_adapters::Tool tool = tool_that({});
  const auto ranked = [](const evaluators::Ranking& ranking) {
    fl_adapters::Localisation run = run_of("-");
    run.ranking = ranking;
    return run;
  };
  const evaluators::Answer answer = summary_of_runs(
      "D7", "x", tool,
      {ranked({{0, -1, "", 0.9}, {1, -1, "", 0.8}}), ranked({{1, -1, "", 0.9}, {0, -1, "", 0.2}}),
       ranked({{1, -1, "", 0.7}, {2, -1, "", 0.3}, {0, -1, "", 0.1}})});
  EXPECT_EQ(to_string(answer.ranking), "(1) > (0) > (2)");
  EXPECT_DOUBLE_EQ(*answer.stability, 2. / 3);
  EXPECT_TRUE(answer.faults.items.empty());
}

}  // namespace
}  // namespace neutra::experiments
