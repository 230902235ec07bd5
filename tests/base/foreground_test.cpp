#include "base/foreground.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/error.h"
#include "tests/processes.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::TestFolder;

int shell(const std::string& script) { return run_in_foreground({"/bin/sh", "-c", script}); }

TEST(Foreground, ReturnsHowAProgramEnded) {
  EXPECT_EQ(shell("exit 7"), W_EXITCODE(7, 0));
  const int killed = shell("kill -SEGV $$");
  EXPECT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(WTERMSIG(killed), SIGSEGV);
}

TEST(Foreground, SaysWhyAProgramCannotBeStarted) {
  const TestFolder folder;
  folder.write("text", "no program");
  for (const char* name : {"text", "missing"}) {
    const std::string file = (folder.path() / name).string();
    try {
      run_in_foreground({file});
      ADD_FAILURE() << name;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()).find(file + ": cannot be started: "), 0u);
    }
  }
}

/// Runs `script` in the foreground of a process that gets `signal` once it has made `begun`.
int signalled(const std::string& script, const TestFolder& folder, int signal) {
  const std::string begun = (folder.path() / "begun").string();
  const pid_t starter = fork();
  if (starter == 0) {
    std::signal(signal, SIG_DFL);
    const int status = run_in_foreground({"/bin/sh", "-c", script, "sh", begun});
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  }
  while (access(begun.c_str(), F_OK) != 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  kill(starter, signal);
  int status = 0;
  waitpid(starter, &status, 0);
  return status;
}

TEST(Foreground, HandsSignalsOn) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR2}) {
    const TestFolder folder;
    const int status = signalled(
        "trap 'exit 9' INT TERM HUP USR2; : >\"$1\"; while :; do sleep 0.01; done", folder, signal);
    EXPECT_EQ(status, W_EXITCODE(9, 0)) << signal;
  }
  const TestFolder folder;
  EXPECT_EQ(signalled(": >\"$1\"; while :; do sleep 0.01; done", folder, SIGTERM),
            W_EXITCODE(128 + SIGTERM, 0));
}

TEST(Foreground, AProgramEndsWithItsStarter) {
  const TestFolder folder;
  const std::string mark = "4" + std::to_string(100000000 + getpid());
  signalled(": >\"$1\"; sleep 0.01; exec sleep " + mark, folder, SIGKILL);
  for (int i = 0; i < 2000 && processes_with(mark) > 0; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  EXPECT_EQ(processes_with(mark), 0);
}

}  // namespace
}  // namespace neutra
