#include "base/foreground.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cassert>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/descriptor.h"
#include "base/error.h"

namespace neutra {
namespace {

constexpr std::array kHandedOn = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

std::atomic<pid_t> g_program{0};

extern "C" void hand_on(int signal, siginfo_t* info, void*) {
  // A terminal signals all processes in its foreground: the program has it already.
  if (info->si_code == SI_KERNEL) return;
  const int error = errno;
  if (const pid_t program = g_program; program > 0) kill(program, signal);
  errno = error;
}

/// While it lives, signals are handed on.
class HandingOn {
 public:
  HandingOn() {
    for (std::size_t i = 0; i < kHandedOn.size(); ++i) {
      sigaction(kHandedOn[i], nullptr, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) continue;
      struct sigaction action {};
      action.sa_sigaction = hand_on;
      action.sa_flags = SA_SIGINFO | SA_RESTART;
      sigemptyset(&action.sa_mask);
      sigaction(kHandedOn[i], &action, nullptr);
    }
  }
  HandingOn(const HandingOn&) = delete;
  ~HandingOn() {
    g_program = 0;
    for (std::size_t i = 0; i < kHandedOn.size(); ++i)
      sigaction(kHandedOn[i], &before_[i], nullptr);
  }

 private:
  std::array<struct sigaction, kHandedOn.size()> before_{};
};

/// Becomes the program. Only what is async-signal-safe is called: there may be other threads.
[[noreturn]] void become(char** words, pid_t parent, const sigset_t& mask, int report) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it was gone before the call above
  for (const int signal : {SIGPIPE, SIGXFSZ}) std::signal(signal, SIG_DFL);  // ignored by main()
  sigprocmask(SIG_SETMASK, &mask, nullptr);
  ::execv(words[0], words);
  const int error = errno;
  (void)!::write(report, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

int run_in_foreground(const std::vector<std::string>& words) {
  assert(!words.empty());
  std::vector<std::string> kept = words;
  std::vector<char*> pointers;
  for (std::string& word : kept) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  Pipe report = make_pipe();  // closed by execve(2)
  const HandingOn handing_on;
  // Signals wait until it is known whom they are handed on to.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  const pid_t parent = ::getpid();
  const pid_t program = ::_Fork();  // not fork(): handlers of libraries would run in both processes
  if (program == 0) become(pointers.data(), parent, before, report.write.number());
  int error = program < 0 ? errno : 0;
  g_program = program;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (program < 0) throw failure(std::string("cannot start a process: ") + std::strerror(error));
  report.write.close();
  while (::read(report.read.number(), &error, sizeof error) < 0 && errno == EINTR) {
  }
  int status = 0;
  while (::waitpid(program, &status, 0) < 0 && errno == EINTR) {
  }
  if (error != 0) throw failure(words.front() + ": cannot be started: " + std::strerror(error));
  return status;
}

}  // namespace neutra
