#include "base/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"

extern char** environ;

namespace neutra {
namespace {

constexpr int kPollMilliseconds = 50;

[[noreturn]] void fail_to_start(int error) {
  throw failure(std::string("cannot start a process: ") + std::strerror(error));
}

ChildAnswer answer_of(pid_t child, Descriptor from_child, const WhileWaiting& waiting) {
  ChildAnswer answer;
  std::array<char, 4096> block;
  for (;;) {
    pollfd readable{from_child.number(), POLLIN, 0};
    if (::poll(&readable, 1, kPollMilliseconds) <= 0) {  // nothing yet, or a signal came
      if (waiting) waiting(child);
      continue;
    }
    const ssize_t got = ::read(from_child.number(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.text.append(block.data(), static_cast<std::size_t>(got));
  }
  while (::waitpid(child, &answer.status, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

void limit(decltype(RLIMIT_CPU) resource, std::uint64_t most) {
  const rlimit both{most, most};
  ::setrlimit(resource, &both);
}

[[noreturn]] void be_copy(const std::function<int(int)>& work, const CopyLimits& limits,
                          pid_t parent, int answer) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(1);  // it was gone before the call above
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_CPU, limits.seconds);
  if (limits.memory > 0) limit(RLIMIT_AS, limits.memory);
  for (const int signal : {SIGXCPU, SIGSEGV, SIGBUS, SIGABRT, SIGFPE}) {
    std::signal(signal, SIG_DFL);
  }
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, SIG_IGN);
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  ::dup2(nowhere, STDERR_FILENO);
  ::_exit(work(answer));
}

}  // namespace

ChildAnswer run_copy(const std::function<int(int answer)>& work, const CopyLimits& limits) {
  using Clock = std::chrono::steady_clock;
  const auto deadline = Clock::now() + std::chrono::seconds(limits.patience);
  bool late = false;
  const auto end_late = [&](pid_t child) {
    if (limits.patience == 0 || late || Clock::now() <= deadline) return;
    late = true;
    ::kill(child, SIGKILL);
  };
  Pipe answer = make_pipe();
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) fail_to_start(errno);
  if (child == 0) be_copy(work, limits, parent, answer.write.number());
  answer.write.close();
  ChildAnswer given = answer_of(child, std::move(answer.read), end_late);
  given.late = late;
  return given;
}

ChildAnswer run_program(const char* file, std::vector<std::string> words, std::string_view input,
                        const WhileWaiting& waiting) {
  Pipe to_child = make_pipe(), from_child = make_pipe();
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child.read.number(), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_child.write.number(), STDOUT_FILENO);
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none, handled;
  sigemptyset(&none);
  sigemptyset(&handled);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&handled, signal);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &handled);
  posix_spawnattr_setflags(&attributes,
                           POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, file, &actions, &attributes, pointers.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) fail_to_start(error);
  to_child.read.close();
  from_child.write.close();
  write_all(to_child.write.number(), input);  // how it ended tells why it didn't read all
  to_child.write.close();
  return answer_of(child, std::move(from_child.read), waiting);
}

}  // namespace neutra
