#include "base/process.h"

#include <fcntl.h>
#include <poll.h>
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

#include "base/descriptor.h"
#include "base/error.h"
#include "base/last_act.h"
#include "base/supervisor.h"

namespace neutra {
namespace {

constexpr int kPollMilliseconds = 20;  ///< how soon a stop is seen

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

/// Ends what a supervisor started at once, and waits for that, at most kEndPatience.
void end_supervisor(pid_t supervisor) {
  kill(supervisor, kEndAbruptly);
  constexpr std::chrono::milliseconds kEndPatience(2000), kPause(10);
  for (std::chrono::milliseconds waited(0); waited < kEndPatience; waited += kPause) {
    siginfo_t ended{};
    // Its exit code stays for who waits for it.
    if (waitid(P_PID, static_cast<id_t>(supervisor), &ended, WEXITED | WNOHANG | WNOWAIT) != 0) {
      return;
    }
    if (ended.si_pid != 0) return;
    std::this_thread::sleep_for(kPause);
  }
}

/// A command that runs under a supervisor, and what both have told.
class Run {
 public:
  explicit Run(const ProcessCall& call) : call_(call) {}

  void start();
  /// Reads until the supervisor has reported; nullopt: it was killed before.
  std::optional<SupervisorReport> wait();

  std::string out, err;             ///< what the command printed, up to the limit
  std::optional<ProcessEnd> asked;  ///< what this process has ended it for

 private:
  void ask(ProcessEnd why, int signal);
  bool read_some(const Descriptor& from, std::string& to);

  const ProcessCall& call_;
  Descriptor out_, err_, report_;
  pid_t supervisor_ = -1;
};

void Run::start() {
  std::vector<std::string> command = call_.command;
  std::vector<char*> words;
  for (std::string& word : command) words.push_back(word.data());
  words.push_back(nullptr);
  const std::string file = find_program(command.front());
  const Descriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  Pipe output = make_pipe(), errors = make_pipe(), report = make_pipe();
  const SupervisorPlan plan{words.data(),
                            file.c_str(),
                            call_.folder.c_str(),
                            input.number(),
                            output.write.number(),
                            errors.write.number(),
                            report.write.number(),
                            call_.time_limit,
                            call_.grace,
                            call_.memory_limit,
                            static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)),
                            getpid()};
  // Signals for the supervisor wait until it looks for them.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Not fork(): handlers of libraries would run in both processes.
  supervisor_ = _Fork();
  if (supervisor_ == 0) supervise(plan);
  const int error = errno;
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (supervisor_ < 0) {
    throw failure(std::string("cannot start a process: ") + std::strerror(error));
  }
  out_ = std::move(output.read);
  err_ = std::move(errors.read);
  report_ = std::move(report.read);
}

void Run::ask(ProcessEnd why, int signal) {
  if (asked) return;
  asked = why;
  kill(supervisor_, signal);
}

/// Reads what is there; false at the end.
bool Run::read_some(const Descriptor& from, std::string& to) {
  std::array<char, 1 << 16> buffer;
  const ssize_t size = read(from.number(), buffer.data(), buffer.size());
  if (size < 0) return errno == EINTR;
  const std::uint64_t room = call_.output_limit - (out.size() + err.size());
  to.append(buffer.data(), std::min(static_cast<std::uint64_t>(size), room));
  if (static_cast<std::uint64_t>(size) > room) ask(ProcessEnd::kOutput, kEndAbruptly);
  return size > 0;
}

std::optional<SupervisorReport> Run::wait() {
  // A process that has to end leaves no other one behind.
  std::optional<LastAct> last_act([this] { end_supervisor(supervisor_); });
  std::optional<SupervisorReport> told;
  while (report_) {
    std::array<struct pollfd, 3> files{
        {{report_.number(), POLLIN, 0}, {out_.number(), POLLIN, 0}, {err_.number(), POLLIN, 0}}};
    // A tool that printed too much is left waiting for a reader.
    if (asked == ProcessEnd::kOutput) files[1].fd = files[2].fd = -1;
    if (call_.stop != nullptr && call_.stop->load()) ask(ProcessEnd::kStopped, SIGTERM);
    if (poll(files.data(), files.size(), kPollMilliseconds) <= 0) continue;
    if (files[1].revents != 0 && !read_some(out_, out)) out_.close();
    if (files[2].revents != 0 && !read_some(err_, err)) err_.close();
    // The report last: the output of a tool that has ended is there by then.
    if (files[0].revents != 0 && files[1].revents == 0 && files[2].revents == 0) {
      SupervisorReport one{};
      const ssize_t size = read(report_.number(), &one, sizeof one);
      if (size < 0 && errno == EINTR) continue;
      if (size == static_cast<ssize_t>(sizeof one)) told = one;
      report_.close();
    }
  }
  last_act.reset();  // before its number may become another one's
  while (waitpid(supervisor_, nullptr, 0) < 0 && errno == EINTR) {
  }
  return told;
}

}  // namespace

ProcessResult run_process(const ProcessCall& call) {
  assert(!call.command.empty());
  Run run(call);
  run.start();
  const std::optional<SupervisorReport> told = run.wait();
  if (!told) throw failure("the supervisor of " + call.command.front() + " was killed");
  // One that printed too much may have ended meanwhile.
  const bool ended_here = told->end == ProcessEnd::kStopped || run.asked == ProcessEnd::kOutput;
  return {run.asked && ended_here ? *run.asked : told->end,
          told->code,
          std::move(run.out),
          std::move(run.err),
          told->seconds,
          told->peak_memory,
          told->left_over,
          told->clean};
}

}  // namespace neutra
