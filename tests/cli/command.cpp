#include "tests/cli/command.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <stdexcept>
#include <thread>

namespace neutra::cli {

Running::Running(std::vector<std::string> words, const std::filesystem::path& folder) {
  const auto out = outputs_.path() / "out", err = outputs_.path() / "err";
  std::vector<char*> pointers;
  for (auto& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::runtime_error("fork");
  if (pid_ > 0) return;
  for (const int stopping : {SIGINT, SIGTERM, SIGHUP})  // ignored behind nohup or a script's &
    signal(stopping, SIG_DFL);
  const int null = open("/dev/null", O_RDONLY);
  const int out_fd = open(out.c_str(), O_WRONLY | O_CREAT, 0600),
            err_fd = open(err.c_str(), O_WRONLY | O_CREAT, 0600);
  if (chdir(folder.c_str()) != 0 || dup2(null, 0) < 0 || dup2(out_fd, 1) < 0 || dup2(err_fd, 2) < 0)
    _exit(99);
  unsetenv("COLUMNS");  // a test that fits tables to a width says so
  execvp(pointers[0], pointers.data());
  _exit(99);
}

Running::~Running() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void Running::wait_until(const std::function<bool()>& holds) const {
  const auto runs = [&] {
    siginfo_t ended{};
    return waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
           ended.si_pid == 0;
  };
  while (!holds() && runs()) std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

Called Running::wait(int seconds) {
  Called called;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  int status = 0;
  while (waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      kill(pid_, SIGKILL);
      waitpid(pid_, &status, 0);
      called.exit = 124;
      break;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  pid_ = -1;
  if (called.exit != 124)
    called.exit = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  called.out = outputs_.read("out");
  called.err = outputs_.read("err");
  return called;
}

std::string built_command() { return NEUTRA_COMMAND; }

Called call(const std::vector<std::string>& arguments, const std::filesystem::path& folder,
            int seconds) {
  std::vector<std::string> words = {built_command()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return Running(std::move(words), folder).wait(seconds);
}

testing::AssertionResult refused(const Called& called, int exit,
                                 const std::vector<std::string>& parts) {
  const auto wrong = [&](const std::string& what) {
    return testing::AssertionFailure() << what << "\nexit code " << called.exit << ", output:\n"
                                       << called.out << "error:\n"
                                       << called.err;
  };
  if (called.exit != exit) return wrong("exit code is not " + std::to_string(exit));
  if (!called.out.empty()) return wrong("there is output");
  constexpr std::string_view kBegin = "neutra: error: ";
  const std::size_t begin = called.err.find(kBegin);
  if (begin == std::string::npos) return wrong("there is no error");
  std::string error = called.err.substr(begin + kBegin.size());
  error.resize(std::min(error.find("\nusage: "), error.size()));
  return has(error, parts);
}

}  // namespace neutra::cli
