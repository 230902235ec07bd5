#include "base/supervisor.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>

#include "base/process_table.h"

extern char** environ;

namespace neutra {
namespace {

constexpr double kShortestTick = 0.002, kLongestTick = 0.05;  ///< seconds between two looks
constexpr double kOutlive = 0.5;     ///< helpers may end this much later than the process itself
constexpr double kEndAttempts = 10;  ///< seconds of trying to end what doesn't end

double seconds_now() {
  struct timespec time {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// The process between neutra and the tool.
class Supervisor {
 public:
  explicit Supervisor(const SupervisorPlan& plan) : plan_(plan) {}

  /// Precondition: all signals are blocked.
  [[noreturn]] void run() {
    setsid();  // Ctrl-C is for neutra, which then tells us
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    keep_only({plan_.input, plan_.out, plan_.err, plan_.report});
    std::signal(SIGCHLD, SIG_DFL);
    started_ = seconds_now();
    if (const int error = start(); error != 0) {
      end_ = ProcessEnd::kNotStarted;
      code_ = error;
    } else {
      watch();
    }
    if (ended_ == 0) ended_ = seconds_now();
    const SupervisorReport report{end_, code_, ended_ - started_, peak_, left_over_, clean_};
    while (write(plan_.report, &report, sizeof report) < 0 && errno == EINTR) {
    }
    _exit(0);
  }

 private:
  /// Closes all files but the standard ones and these: the pipes of other tools, locked stores.
  static void keep_only(std::array<int, 4> files) {
    std::sort(files.begin(), files.end());
    unsigned first = STDERR_FILENO + 1;
    for (const int file : files) {
      const auto kept = static_cast<unsigned>(file);
      if (kept > first) syscall(SYS_close_range, first, kept - 1, 0);
      first = kept + 1;
    }
    syscall(SYS_close_range, first, ~0U, 0);
  }

  /// Starts the tool and waits until it runs. Returns errno, or 0.
  int start() {
    int said[2];
    if (pipe2(said, O_CLOEXEC) != 0) return errno;
    tool_ = _Fork();
    if (tool_ < 0) return errno;
    if (tool_ == 0) become_tool(said[1]);
    for (const int file : {said[1], plan_.input, plan_.out, plan_.err}) close(file);
    int error = 0;
    ssize_t size = 0;
    while ((size = read(said[0], &error, sizeof error)) < 0 && errno == EINTR) {
    }
    close(said[0]);
    if (size > 0) waitpid(tool_, nullptr, 0);
    return size > 0 ? error : 0;
  }

  [[noreturn]] void become_tool(int said) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // should somebody kill the supervisor
    setsid();
    const struct rlimit no_core {};
    setrlimit(RLIMIT_CORE, &no_core);
    // The pipes' numbers are above 2: neutra's standard descriptors are open.
    const bool ready = chdir(plan_.folder) == 0 && dup2(plan_.input, STDIN_FILENO) >= 0 &&
                       dup2(plan_.out, STDOUT_FILENO) >= 0 && dup2(plan_.err, STDERR_FILENO) >= 0;
    if (ready) {
      for (int signal = 1; signal < NSIG; ++signal) std::signal(signal, SIG_DFL);
      sigset_t none;
      sigemptyset(&none);
      sigprocmask(SIG_SETMASK, &none, nullptr);
      execve(plan_.file, plan_.words, environ);
    }
    const int error = errno;
    _exit(write(said, &error, sizeof error) > 0 ? 127 : 126);
  }

  /// Collects the dead; false: none of ours is left.
  bool reap() {
    for (;;) {
      if (killing_) kill_group_of_the_dead();
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG);
      if (pid < 0 && errno == EINTR) continue;
      if (pid <= 0) return pid == 0;
      if (pid != tool_) continue;
      gone_ = true;
      ended_ = seconds_now();
      if (ending_) continue;  // we asked for it
      end_ = WIFEXITED(status) ? ProcessEnd::kExited : ProcessEnd::kSignalled;
      code_ = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
    }
  }

  /// Kills the group of the next dead one. What forks and ends all the time may never be seen in
  /// /proc, but each of its dead comes by here, and until it is collected nobody else can have its
  /// group's number. No fork escapes a signal to the group.
  static void kill_group_of_the_dead() {
    siginfo_t dead{};
    if (waitid(P_ALL, 0, &dead, WEXITED | WNOHANG | WNOWAIT) != 0 || dead.si_pid == 0) return;
    const pid_t group = getpgid(dead.si_pid);
    if (group > 1 && group != getpgrp()) kill(-group, SIGKILL);
  }

  /// A signal to all of ours.
  void send(int signal) {
    table_.read(getpid());
    table_.each([&](const ProcessRow& row) {
      kill(row.pid, signal);
      // A session can't be entered from outside, so the groups in it are ours.
      if (signal != SIGTERM && row.group > 1) kill(-row.group, signal);
    });
  }

  void end_it(ProcessEnd why, double now, double grace) {
    ending_ = true;
    end_ = why;
    kill_at_ = now + grace;
    if (grace > 0) send(SIGTERM);
  }

  /// Sleeps for a while, or until a child dies. Returns a request of neutra, or 0.
  int wait(double seconds) const {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGCHLD, SIGTERM, kEndAbruptly}) sigaddset(&signals, signal);
    const struct timespec time { 0, static_cast<long>(seconds * 1e9) };
    const int signal = sigtimedwait(&signals, nullptr, &time);
    return signal == SIGTERM || signal == kEndAbruptly ? signal : 0;
  }

  void measure(double now) {
    if (now < measure_at_) return;
    table_.read(getpid());
    std::uint64_t pages = 0;
    table_.each([&](const ProcessRow& row) { pages += row.pages; });
    peak_ = std::max(peak_, pages * plan_.page);
    // At most a twentieth of a core for looking, however many processes the machine has.
    measure_at_ = now + std::max(kLongestTick, 20 * (seconds_now() - now));
  }

  void watch() {
    double tick = kShortestTick;
    int request = 0;
    bool counted = false;
    while (reap()) {
      const double now = seconds_now();
      if (!gone_ && !ending_) {
        measure(now);
        if (request != 0) {
          end_it(ProcessEnd::kStopped, now, request == kEndAbruptly ? 0 : plan_.grace);
        } else if (getppid() != plan_.parent) {
          end_it(ProcessEnd::kStopped, now, plan_.grace);
        } else if (plan_.time_limit > 0 && now - started_ > plan_.time_limit) {
          end_it(ProcessEnd::kTime, now, plan_.grace);
        } else if (plan_.memory_limit > 0 && peak_ > plan_.memory_limit) {
          end_it(ProcessEnd::kMemory, now, 0);
        }
      } else if (!ending_) {
        // It ended, others of it did not yet.
        if (!outlived_) {
          outlived_ = true;
          tick = kShortestTick;
          kill_at_ = now + kOutlive;
        }
        if (request != 0) kill_at_ = now;
      } else if (request == kEndAbruptly) {
        kill_at_ = now;
      }
      if ((ending_ || outlived_) && now >= kill_at_) {
        if (outlived_ && !counted) {
          table_.read(getpid());
          table_.each([&](const ProcessRow&) { ++left_over_; });
          counted = true;
        }
        if (now > kill_at_ + kEndAttempts) {
          clean_ = false;
          break;
        }
        killing_ = true;
        // Stopped ones fork no more while the others are being killed.
        send(SIGSTOP);
        send(SIGKILL);
        tick = kShortestTick;
      }
      request = wait(tick);
      tick = std::min(1.5 * tick, kLongestTick);
    }
  }

  const SupervisorPlan& plan_;
  ProcessTable table_;
  pid_t tool_ = 0;
  double started_ = 0, ended_ = 0, measure_at_ = 0, kill_at_ = 0;
  bool gone_ = false;      ///< the tool's first process
  bool ending_ = false;    ///< being ended here
  bool outlived_ = false;  ///< it is gone, something of it isn't
  bool killing_ = false;   ///< whatever is left of it is being killed
  ProcessEnd end_ = ProcessEnd::kExited;
  int code_ = 0, left_over_ = 0;
  std::uint64_t peak_ = 0;
  bool clean_ = true;
};

}  // namespace

void supervise(const SupervisorPlan& plan) { Supervisor(plan).run(); }

}  // namespace neutra
