#include "base/process.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "tests/processes.h"
#include "tests/test_folder.h"

namespace neutra {
namespace {

using tests::TestFolder;

constexpr std::uint64_t kMiB = 1U << 20;
/// What must not wait for something is over after so many seconds, on the busiest machine.
constexpr double kSoon = 60;

/// A call of a shell script. "MARK" in it becomes a number that only its own processes have in
/// their command line: `sleep MARK`.
struct Call {
  explicit Call(std::string script) {
    static int calls = 0;
    mark = std::to_string(100000000 + getpid()) + "." + std::to_string(100000 + ++calls);
    for (std::size_t at = 0; (at = script.find("MARK", at)) != std::string::npos;) {
      script.replace(at, 4, mark);
    }
    call.command = {"/bin/sh", "-c", script};
    call.folder = folder.path();
    call.grace = 0.2;
  }
  ProcessResult run() const {
    const ProcessResult result = run_process(call);
    EXPECT_TRUE(result.clean);
    EXPECT_EQ(processes_with(mark), 0);
    return result;
  }
  TestFolder folder;
  std::string mark;
  ProcessCall call;
};

TEST(Process, OutputsAndExitCode) {
  const ProcessResult result = Call("echo out; echo err >&2; exit 3").run();
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.code, 3);
  EXPECT_EQ(result.out, "out\n");
  EXPECT_EQ(result.err, "err\n");
  EXPECT_EQ(result.left_over, 0);
  EXPECT_GT(result.seconds, 0);
  EXPECT_LT(result.seconds, kSoon);
}

TEST(Process, RunsInItsFolderWithEmptyInput) {
  const Call call("pwd -P; cat; ls /proc/self/fd | wc -l");
  const std::string folder = std::filesystem::canonical(call.folder.path()).string();
  // ls itself has the folder open; of ours there are none but the standard three.
  EXPECT_EQ(call.run().out, folder + "\n4\n");
}

TEST(Process, SignalsAreTheDefaults) {
  std::signal(SIGPIPE, SIG_IGN);  // as neutra does
  sigset_t set, before;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &set, &before);
  const ProcessResult result = Call("grep -E '^Sig(Blk|Ign)' /proc/self/status").run();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  std::signal(SIGPIPE, SIG_DFL);
  EXPECT_EQ(result.out, "SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n");
}

TEST(Process, MuchOutputOnBothSidesIsNoDeadlock) {
  const ProcessResult result =
      Call("head -c 300000 /dev/zero; head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero")
          .run();
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out.size(), 600000u);
  EXPECT_EQ(result.err.size(), 300000u);
}

TEST(Process, CrashIsASignal) {
  const ProcessResult result = Call("kill -SEGV $$").run();
  EXPECT_EQ(result.end, ProcessEnd::kSignalled);
  EXPECT_EQ(result.code, SIGSEGV);
}

TEST(Process, WhatCannotBeStarted) {
  Call call("");
  for (const auto& [command, error] : {std::pair<const char*, int>{"/nowhere/tool", ENOENT},
                                       {"no-such-tool-anywhere", ENOENT},
                                       {"/tmp", EACCES}}) {
    call.call.command = {command};
    const ProcessResult result = call.run();
    EXPECT_EQ(result.end, ProcessEnd::kNotStarted) << command;
    EXPECT_EQ(result.code, error) << command;
  }
  call.call.command = {"/bin/true"};
  call.call.folder = "/nowhere";
  EXPECT_EQ(call.run().end, ProcessEnd::kNotStarted);
}

TEST(Process, HangingOneIsEndedInTime) {
  Call call("sleep MARK");
  call.call.time_limit = 0.2;
  const ProcessResult result = call.run();
  EXPECT_EQ(result.end, ProcessEnd::kTime);
  EXPECT_GE(result.seconds, 0.2);
  EXPECT_LT(result.seconds, kSoon);
}

TEST(Process, HangingOneThatIgnoresSignalsIsEnded) {
  Call call("trap '' TERM INT HUP; while :; do sleep MARK; done");
  call.call.time_limit = 0.2;
  EXPECT_EQ(call.run().end, ProcessEnd::kTime);
}

TEST(Process, MayTidyUpWhenItsTimeIsOver) {
  Call call("trap 'echo tidy; exit 0' TERM; sleep MARK & wait");
  call.call.time_limit = 1;  // until then it must have set its trap
  call.call.grace = 1000;
  const ProcessResult result = call.run();
  EXPECT_EQ(result.end, ProcessEnd::kTime);
  EXPECT_EQ(result.out, "tidy\n");
  EXPECT_LT(result.seconds, kSoon);  // it need not wait for the grace to pass
}

TEST(Process, ForksThatHangAreEnded) {
  Call call(
      "trap '' TERM; for i in 1 2 3; do (trap '' TERM; sleep MARK & sleep MARK) & done; wait");
  call.call.time_limit = 0.3;
  EXPECT_EQ(call.run().end, ProcessEnd::kTime);
}

TEST(Process, DaemonsThatOutliveItAreEnded) {
  // Forked twice, in a session of its own: an orphan that no process group leads to.
  const ProcessResult result = Call(
                                   "(setsid sh -c 'trap \"\" TERM HUP; setsid sleep MARK & sleep "
                                   "MARK' >/dev/null 2>&1 &) ; echo done")
                                   .run();
  EXPECT_EQ(result.end, ProcessEnd::kExited);
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.out, "done\n");
  EXPECT_EQ(result.left_over, 3);  // a shell and two sleepers
}

TEST(Process, HelpersMayEndALittleLater) {
  const ProcessResult result = Call("(sleep 0.1; echo late) & echo done").run();
  EXPECT_EQ(result.out, "done\nlate\n");
  EXPECT_EQ(result.left_over, 0);
}

TEST(Process, OneThatForksAndEndsAllTheTimeIsCaught) {
  const TestFolder folder;
  folder.write("hop.sh", "trap '' TERM\nsh ./hop.sh MARK &\n");
  Call call("sh ./hop.sh MARK");
  std::filesystem::copy_file(folder.path() / "hop.sh", call.folder.path() / "hop.sh");
  const ProcessResult result = call.run();
  EXPECT_EQ(result.end, ProcessEnd::kExited);
}

TEST(Process, EndlessOutputIsCutOff) {
  Call call("trap '' TERM; yes MARK & yes MARK >&2");
  call.call.output_limit = kMiB;
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult result = call.run();
  EXPECT_EQ(result.end, ProcessEnd::kOutput);
  EXPECT_EQ(result.out.size() + result.err.size(), kMiB);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::duration<double>(kSoon));
}

TEST(Process, OutputUpToTheLimitIsAllRight) {
  Call call("head -c 5000 /dev/zero");
  call.call.output_limit = 5000;
  EXPECT_EQ(call.run().end, ProcessEnd::kExited);
  call.call.output_limit = 4999;
  EXPECT_EQ(call.run().end, ProcessEnd::kOutput);
}

TEST(Process, MemoryOfAllItsProcessesCounts) {
  // 60 MB each: tail holds them until its input ends. (A shell reads into a variable by 128 bytes:
  // on a busy machine that took longer than the time limit.)
  const std::string hold = "((head -c 60000000 /dev/zero; sleep MARK) | tail -c 60000000 >&2) & ";
  Call call(hold + hold + "wait");
  call.call.memory_limit = 100 * kMiB;
  call.call.time_limit = 60;
  const ProcessResult result = call.run();
  EXPECT_EQ(result.end, ProcessEnd::kMemory);
  EXPECT_GT(result.peak_memory, 100 * kMiB);
  Call less("sleep 0.3");
  less.call.memory_limit = 100 * kMiB;
  EXPECT_EQ(less.run().end, ProcessEnd::kExited);
}

TEST(Process, StopsWhenAskedTo) {
  std::atomic<bool> stop{false};
  Call call("trap '' TERM; sleep MARK & sleep MARK");
  call.call.stop = &stop;
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    stop = true;
  });
  const ProcessResult result = call.run();
  later.join();
  EXPECT_EQ(result.end, ProcessEnd::kStopped);
}

TEST(Process, ManyAtOnce) {
  std::vector<std::thread> threads;
  std::atomic<int> good{0};
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&good, i] {
      ProcessCall call;
      call.command = {"/bin/sh", "-c", "(setsid sleep 0.1 &); echo " + std::to_string(i)};
      call.folder = "/tmp";
      const ProcessResult result = run_process(call);
      if (result.out == std::to_string(i) + "\n" && result.left_over == 0 && result.clean) ++good;
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(good, 8);
}

TEST(Process, NothingIsLeftWhenItsCallerIsKilled) {
  Call call("trap '' TERM; (setsid sh -c 'trap \"\" TERM; sleep MARK' &); sleep MARK");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    run_process(call.call);
    _exit(0);
  }
  const auto until = [&](bool alive) {
    for (int i = 0; i < 500 && (processes_with(call.mark) > 0) != alive; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return (processes_with(call.mark) > 0) == alive;
  };
  EXPECT_TRUE(until(true));
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(until(false));
}

}  // namespace
}  // namespace neutra
