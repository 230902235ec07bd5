#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>
#include <utility>

#include "base/error.h"
#include "base/last_act.h"

extern char** environ;

namespace neutra {
namespace {

constexpr double kShortestTick = 0.002, kLongestTick = 0.05;  ///< seconds between two looks
constexpr double kOutlive = 0.5;       ///< helpers may end this much later than the process itself
constexpr double kEndAttempts = 10;    ///< seconds of trying to end what doesn't end
constexpr int kPollMilliseconds = 20;  ///< how soon a stop is seen
constexpr int kAbruptly = SIGUSR1;     ///< to the supervisor: end it without grace

/// What the supervisor tells. Smaller than PIPE_BUF: written whole or not at all.
struct Report {
  ProcessEnd end;
  int code;
  double seconds;
  std::uint64_t peak_memory;
  int left_over;
  bool clean;
};

// From here to Supervisor::run(): code of a process forked from one with threads. Another thread
// may have held any lock at the fork, so it calls only what is async-signal-safe (signal-safety(7))
// and allocates nothing.

double seconds_now() {
  struct timespec time {};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

/// A line of the process table.
struct Row {
  pid_t pid, parent, group;
  std::uint64_t pages;  ///< resident
  bool zombie;
};

/// The processes below one, read from /proc (proc(5)).
class ProcessTable {
 public:
  /// Finds the descendants of `root`.
  void read(pid_t root) {
    count_ = 0;
    const int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (proc < 0) return;
    alignas(8) static char entries[1 << 15];
    for (;;) {
      const long size = syscall(SYS_getdents64, proc, entries, sizeof entries);
      if (size <= 0) break;
      for (long at = 0; at < size;) {
        // struct linux_dirent64: inode, offset (8 bytes each), length (2), type (1), name.
        unsigned short length = 0;
        std::memcpy(&length, entries + at + 16, sizeof length);
        const char* name = entries + at + 19;
        if (*name >= '1' && *name <= '9') add(proc, name);
        at += length;
      }
    }
    close(proc);
    mark(root);
  }

  template <class Visit>
  void each(Visit&& visit) const {
    for (int i = 0; i < ours_; ++i) {
      if (!rows_[i].zombie) visit(rows_[i]);
    }
  }

 private:
  static constexpr int kMost = 1 << 16;

  static const char* number(const char* text, std::uint64_t& value) {
    while (*text == ' ') ++text;
    value = 0;
    for (; *text >= '0' && *text <= '9'; ++text) {
      value = 10 * value + static_cast<std::uint64_t>(*text - '0');
    }
    return text;
  }

  void add(int proc, const char* pid) {
    if (count_ == kMost) return;
    char name[32], text[1024];
    const std::size_t length = std::strlen(pid);
    if (length > 20) return;
    std::memcpy(name, pid, length);
    std::memcpy(name + length, "/stat", 6);
    const int file = openat(proc, name, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;  // gone meanwhile
    const ssize_t size = ::read(file, text, sizeof text - 1);
    close(file);
    if (size <= 0) return;
    text[size] = '\0';
    // "pid (name) state ppid pgrp ...", where the name may hold anything; rss is the 24th field.
    const char* at = std::strrchr(text, ')');
    if (at == nullptr || at[1] != ' ') return;
    const char state = at[2];
    at += 3;
    std::uint64_t id = 0, parent = 0, group = 0, pages = 0;
    number(pid, id);
    at = number(number(at, parent), group);
    for (int field = 6; field < 24; ++field) {
      at = std::strchr(at + 1, ' ');
      if (at == nullptr) return;
    }
    number(at, pages);
    rows_[count_++] = {static_cast<pid_t>(id), static_cast<pid_t>(parent),
                       static_cast<pid_t>(group), pages, state == 'Z' || state == 'X'};
  }

  /// Brings the descendants of `root` to the front.
  void mark(pid_t root) {
    ours_ = 0;
    pid_t parent = root;
    for (int done = -1; done < ours_; ++done) {
      if (done >= 0) parent = rows_[done].pid;
      for (int i = ours_; i < count_; ++i) {
        if (rows_[i].parent == parent) std::swap(rows_[i], rows_[ours_++]);
      }
    }
  }

  inline static Row rows_[kMost];  // too large for a stack; untouched pages cost nothing
  int count_ = 0, ours_ = 0;
};

/// What the supervisor needs, prepared before the fork.
struct Plan {
  char** words;
  const char* file;
  const char* folder;
  int input, out, err, report;
  double time_limit, grace;
  std::uint64_t memory_limit, page;
  pid_t parent;
};

/// The process between neutra and the tool.
class Supervisor {
 public:
  explicit Supervisor(const Plan& plan) : plan_(plan) {}

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
      supervise();
    }
    if (ended_ == 0) ended_ = seconds_now();
    const Report report{end_, code_, ended_ - started_, peak_, left_over_, clean_};
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
    table_.each([&](const Row& row) {
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
    for (const int signal : {SIGCHLD, SIGTERM, kAbruptly}) sigaddset(&signals, signal);
    const struct timespec time { 0, static_cast<long>(seconds * 1e9) };
    const int signal = sigtimedwait(&signals, nullptr, &time);
    return signal == SIGTERM || signal == kAbruptly ? signal : 0;
  }

  void measure(double now) {
    if (now < measure_at_) return;
    table_.read(getpid());
    std::uint64_t pages = 0;
    table_.each([&](const Row& row) { pages += row.pages; });
    peak_ = std::max(peak_, pages * plan_.page);
    // At most a twentieth of a core for looking, however many processes the machine has.
    measure_at_ = now + std::max(kLongestTick, 20 * (seconds_now() - now));
  }

  void supervise() {
    double tick = kShortestTick;
    int request = 0;
    bool counted = false;
    while (reap()) {
      const double now = seconds_now();
      if (!gone_ && !ending_) {
        measure(now);
        if (request != 0) {
          end_it(ProcessEnd::kStopped, now, request == kAbruptly ? 0 : plan_.grace);
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
      } else if (request == kAbruptly) {
        kill_at_ = now;
      }
      if ((ending_ || outlived_) && now >= kill_at_) {
        if (outlived_ && !counted) {
          table_.read(getpid());
          table_.each([&](const Row&) { ++left_over_; });
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

  const Plan& plan_;
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

// Back in neutra.

/// A descriptor that closes with the object.
class File {
 public:
  explicit File(int number = -1) : number_(number) {}
  File(File&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  File& operator=(File&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~File() { close(); }
  int number() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }

 private:
  int number_;
};

std::pair<File, File> make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) {
    throw failure(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  return {File(ends[0]), File(ends[1])};
}

/// Where exec would find it; the name itself where it wouldn't.
std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  const std::string folders = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string folder = folders.substr(begin, end - begin);
    const std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (access(file.c_str(), X_OK) == 0) return file;
    begin = end + 1;
  }
  return name;
}

}  // namespace

std::string_view to_string(ProcessEnd end) {
  switch (end) {
    case ProcessEnd::kExited:
      return "exited";
    case ProcessEnd::kSignalled:
      return "signalled";
    case ProcessEnd::kTime:
      return "time";
    case ProcessEnd::kMemory:
      return "memory";
    case ProcessEnd::kOutput:
      return "output";
    case ProcessEnd::kStopped:
      return "stopped";
    case ProcessEnd::kNotStarted:
      return "not_started";
  }
  return "";
}

namespace {

/// Ends what a supervisor started at once, and waits for that, at most kEndPatience.
void end_supervisor(pid_t supervisor) {
  kill(supervisor, kAbruptly);
  constexpr std::chrono::milliseconds kEndPatience(2000), kPause(10);
  for (std::chrono::milliseconds waited(0); waited < kEndPatience; waited += kPause) {
    siginfo_t ended{};
    // Its exit code stays for who waits for it.
    if (waitid(P_PID, static_cast<id_t>(supervisor), &ended, WEXITED | WNOHANG | WNOWAIT) != 0)
      return;
    if (ended.si_pid != 0) return;
    std::this_thread::sleep_for(kPause);
  }
}

}  // namespace

ProcessResult run_process(const ProcessCall& call) {
  assert(!call.command.empty());
  std::vector<std::string> command = call.command;
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  const std::string file = find_program(command.front());

  File input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  auto [out, out_end] = make_pipe();
  auto [err, err_end] = make_pipe();
  auto [report, report_end] = make_pipe();
  const Plan plan{words.data(),
                  file.c_str(),
                  call.folder.c_str(),
                  input.number(),
                  out_end.number(),
                  err_end.number(),
                  report_end.number(),
                  call.time_limit,
                  call.grace,
                  call.memory_limit,
                  static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
                  getpid()};
  // Signals for the supervisor wait until it looks for them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Not fork(): handlers of libraries would run in both processes.
  const pid_t supervisor = _Fork();
  if (supervisor == 0) Supervisor(plan).run();
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (supervisor < 0) {
    throw failure(std::string("cannot start a process: ") + std::strerror(error));
  }
  for (File* end : {&input, &out_end, &err_end, &report_end}) end->close();
  // A process that has to end leaves no other one behind.
  std::optional<LastAct> last_act([supervisor] { end_supervisor(supervisor); });

  ProcessResult result;
  std::optional<ProcessEnd> asked;
  const auto ask = [&](ProcessEnd why, int signal) {
    if (asked) return;
    asked = why;
    kill(supervisor, signal);
  };
  std::array<char, 1 << 16> buffer{};
  /// Reads what is there; false at the end.
  const auto read_some = [&](File& from, std::string& to) {
    const ssize_t size = read(from.number(), buffer.data(), buffer.size());
    if (size < 0) return errno == EINTR;
    const std::uint64_t room = call.output_limit - (result.out.size() + result.err.size());
    to.append(buffer.data(), std::min(static_cast<std::uint64_t>(size), room));
    if (static_cast<std::uint64_t>(size) > room) ask(ProcessEnd::kOutput, kAbruptly);
    return size > 0;
  };
  std::optional<Report> told;
  while (report.number() >= 0) {
    std::array<struct pollfd, 3> files{
        {{report.number(), POLLIN, 0}, {out.number(), POLLIN, 0}, {err.number(), POLLIN, 0}}};
    // A tool that printed too much is left waiting for a reader.
    if (asked == ProcessEnd::kOutput) files[1].fd = files[2].fd = -1;
    if (call.stop != nullptr && call.stop->load()) ask(ProcessEnd::kStopped, SIGTERM);
    if (poll(files.data(), files.size(), kPollMilliseconds) <= 0) continue;
    if (files[1].revents != 0 && !read_some(out, result.out)) out.close();
    if (files[2].revents != 0 && !read_some(err, result.err)) err.close();
    // The report last: the output of a tool that has ended is there by then.
    if (files[0].revents != 0 && files[1].revents == 0 && files[2].revents == 0) {
      Report one{};
      const ssize_t size = read(report.number(), &one, sizeof one);
      if (size < 0 && errno == EINTR) continue;
      if (size == static_cast<ssize_t>(sizeof one)) told = one;
      report.close();
    }
  }
  last_act.reset();  // before its number may become another one's
  while (waitpid(supervisor, nullptr, 0) < 0 && errno == EINTR) {
  }
  if (!told) throw failure("the supervisor of " + command.front() + " was killed");
  // One that printed too much may have ended meanwhile.
  const bool ended_here = told->end == ProcessEnd::kStopped || asked == ProcessEnd::kOutput;
  result.end = asked && ended_here ? *asked : told->end;
  result.code = told->code;
  result.seconds = told->seconds;
  result.peak_memory = told->peak_memory;
  result.left_over = told->left_over;
  result.clean = told->clean;
  return result;
}

}  // namespace neutra
