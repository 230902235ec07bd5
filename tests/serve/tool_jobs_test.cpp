#include "serve/tool_jobs.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"

namespace neutra::serve {
namespace {

/// Jobs whose command is a script for the shell; "$2" is the fault's file, "$4" the tool.
class ToolJobsTest : public ::testing::Test {
 protected:
  void start(const std::string& script) {
    ToolJobs::Setup setup;
    setup.command = {"/bin/sh", "-c", script, "neutra"};
    setup.options = {"--workers", "3"};
    setup.write_fault = [](const ToolQuestion& question, const std::filesystem::path& in) {
      if (question.entry == 99) throw failure("no such entry");
      write_file_atomically(in / "fault.json",
                            "{\"entry\": " + std::to_string(question.entry) + "}");
      return std::string("fault.json");
    };
    jobs = std::make_unique<ToolJobs>(setup);
  }
  static ToolQuestion question(const std::string& tool = "umlaut", int entry = 1) {
    return {"small.h5", "1", entry, tool, 2, false};
  }
  /// The job when it is in one of these states.
  Json wait(std::int64_t id, const std::string& states) {
    for (;;) {
      Json job = jobs->job(id);
      if (states.find(job["state"].get<std::string>()) != std::string::npos) return job;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  static constexpr const char* kOver = "done failed cancelled";
  std::filesystem::path flag() const { return folder.path() / "flag"; }

  TemporaryFolder folder{"neutra-jobs-test"};
  std::unique_ptr<ToolJobs> jobs;
};

TEST_F(ToolJobsTest, TheAnswerIsWhatTheCommandPrints) {
  start(R"sh(printf '{"file": %s, "words": "%s"}' "$(cat "$2")" "$1 $(shift 2; echo $*)")sh");
  const auto id = jobs->ask(question());
  ASSERT_TRUE(id);
  const Json job = wait(*id, kOver);
  EXPECT_EQ(job["state"], "done") << job;
  EXPECT_EQ(job["answer"]["file"]["entry"], 1);
  EXPECT_EQ(job["answer"]["words"],
            "localise --tool umlaut --runs 2 --version buggy --json --quiet --workers 3");
  EXPECT_EQ(jobs->jobs("small.h5", 1).size(), 1U);
  EXPECT_EQ(jobs->jobs("small.h5", 2).size(), 0U);
}

TEST_F(ToolJobsTest, AnAnswerIsKeptAndAFailureIsNot) {
  start(R"([ "$4" = good ] && echo '{}' || { echo broken >&2; exit 3; })");
  const auto good = jobs->ask(question("good"));
  EXPECT_EQ(wait(*good, kOver)["state"], "done");
  EXPECT_EQ(jobs->ask(question("good")), good);
  const auto bad = jobs->ask(question("bad"));
  const Json failed = wait(*bad, kOver);
  EXPECT_EQ(failed["state"], "failed");
  EXPECT_EQ(failed["error"], "exit code 3: broken\n");
  EXPECT_NE(jobs->ask(question("bad")), bad);
  ToolQuestion other = question("good");
  other.revision = "2";
  EXPECT_NE(jobs->ask(other), good);
}

TEST_F(ToolJobsTest, WhateverACommandDoesIsAState) {
  start(R"(case "$4" in
    crash) kill -SEGV $$;;
    text) echo no JSON;;
    much) yes;;
    broken) echo '{"tools": []}'; exit 1;;
  esac)");
  EXPECT_EQ(wait(*jobs->ask(question("crash")), kOver)["state"], "failed");
  EXPECT_EQ(wait(*jobs->ask(question("text")), kOver)["state"], "failed");
  EXPECT_EQ(wait(*jobs->ask(question("much")), kOver)["error"].get<std::string>().substr(0, 6),
            "output");
  EXPECT_EQ(wait(*jobs->ask(question("silent")), kOver)["state"], "failed");
  // Some of its runs broke: what it says is an answer all the same.
  EXPECT_EQ(wait(*jobs->ask(question("broken")), kOver)["state"], "done");
  const Json job = wait(*jobs->ask(question("umlaut", 99)), kOver);
  EXPECT_EQ(job["error"], "no such entry");
}

TEST_F(ToolJobsTest, OneRunsAndOthersWait) {
  start("while [ ! -e '" + flag().string() + "' ]; do sleep 0.01; done; echo '{}'");
  const auto first = jobs->ask(question("a")), second = jobs->ask(question("b"));
  wait(*first, "running");
  EXPECT_EQ(jobs->job(*second)["state"], "waiting");
  EXPECT_TRUE(jobs->cancel(*second));
  EXPECT_EQ(jobs->job(*second)["state"], "cancelled");
  for (std::size_t i = 0; i < ToolJobs::kWaiting; ++i)
    EXPECT_TRUE(jobs->ask(question("c", static_cast<int>(i))));
  EXPECT_FALSE(jobs->ask(question("d")));
  write_file_atomically(flag(), "");
  EXPECT_EQ(wait(*first, kOver)["state"], "done");
  EXPECT_NE(jobs->ask(question("b")), second);  // it was cancelled
}

TEST_F(ToolJobsTest, ARunningOneIsCancelledAndItsProcessEnds) {
  start("trap '' TERM; echo $$ > '" + flag().string() + "'; while true; do sleep 0.01; done");
  const auto id = jobs->ask(question());
  while (!std::filesystem::exists(flag())) std::this_thread::yield();
  std::string pid;
  while (pid.empty()) pid = read_file(flag(), "a number");
  EXPECT_TRUE(jobs->cancel(*id));
  EXPECT_EQ(wait(*id, kOver)["state"], "cancelled");
  EXPECT_FALSE(std::filesystem::exists("/proc/" + pid.substr(0, pid.find('\n'))));
  EXPECT_TRUE(jobs->cancel(*id));  // it is over
  EXPECT_FALSE(jobs->cancel(12345));
  EXPECT_TRUE(jobs->job(12345).is_null());
}

TEST_F(ToolJobsTest, TheEndOfTheServerEndsThem) {
  start("echo > '" + flag().string() + "'; while true; do sleep 0.01; done");
  const auto first = jobs->ask(question("a"));
  jobs->ask(question("b"));
  while (!std::filesystem::exists(flag())) std::this_thread::yield();
  jobs->stop();
  EXPECT_FALSE(jobs->ask(question("c")));
  EXPECT_EQ(wait(*first, kOver)["state"], "cancelled");
  jobs.reset();
}

TEST_F(ToolJobsTest, OldAnswersGo) {
  start("echo '{}'");
  const auto first = jobs->ask(question("0"));
  wait(*first, kOver);
  const auto last = [&] {
    std::optional<std::int64_t> id;
    for (std::size_t i = 1; i <= ToolJobs::kKept + 1; ++i) {
      while (!(id = jobs->ask(question(std::to_string(i)))))
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return id;
  }();
  wait(*last, kOver);
  jobs->ask(question("another"));
  EXPECT_TRUE(jobs->job(*first).is_null());
  EXPECT_FALSE(jobs->job(*last).is_null());
}

}  // namespace
}  // namespace neutra::serve
