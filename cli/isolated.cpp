#include "cli/isolated.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/error.h"

extern char** environ;

namespace neutra::cli {
namespace {

constexpr int kStopPollMilliseconds = 50;

}  // namespace

ChildAnswer answer_of_child(pid_t child, int from_child, const std::function<void()>& waiting) {
  ChildAnswer answer;
  std::array<char, 4096> block;
  for (;;) {
    struct pollfd readable {
      from_child, POLLIN, 0
    };
    if (poll(&readable, 1, kStopPollMilliseconds) <= 0) {  // nothing yet, or a signal came
      if (waiting) waiting();
      continue;
    }
    const ssize_t got = read(from_child, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    answer.text.append(block.data(), static_cast<std::size_t>(got));
  }
  close(from_child);
  while (waitpid(child, &answer.status, 0) < 0 && errno == EINTR) {
  }
  return answer;
}

std::optional<training::ReplicaResult> train_isolated(const training::TrainingJob& job,
                                                      const training::TrainerOptions& options) {
  training::TrainerOptions one = options;  // there is nothing to share with other trainings
  one.reuse_epochs = false;
  one.memory = 0;
  const Json request{{"program", job.program->document},
                     {"job", to_json(job)},
                     {"options", to_json(one)},
                     {"parent", static_cast<std::int64_t>(getpid())}};
  const std::string text = request.dump();

  int to_child[2], from_child[2];
  if (pipe2(to_child, O_CLOEXEC) != 0)
    throw failure(std::string("cannot make a pipe: ") + std::strerror(errno));
  if (pipe2(from_child, O_CLOEXEC) != 0) {
    close(to_child[0]);
    close(to_child[1]);
    throw failure(std::string("cannot make a pipe: ") + std::strerror(errno));
  }
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, to_child[0], STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, from_child[1], STDOUT_FILENO);
  std::string name = "neutra", verb = "train-isolated";
  char* words[] = {name.data(), verb.data(), nullptr};
  pid_t child = 0;
  // In a process group of its own: Ctrl-C is for the search, which then kills it.
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
  const int error = posix_spawn(&child, "/proc/self/exe", &actions, &attributes, words, environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(to_child[0]);
  close(from_child[1]);
  if (error != 0) {
    close(to_child[1]);
    close(from_child[0]);
    throw failure(std::string("cannot start a process to train in: ") + std::strerror(error));
  }
  for (std::size_t sent = 0; sent < text.size();) {
    const ssize_t n = write(to_child[1], text.data() + sent, text.size() - sent);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) break;
    sent += static_cast<std::size_t>(n);
  }
  close(to_child[1]);
  bool stopped = false;
  const auto [answer, status] = answer_of_child(child, from_child[0], [&] {
    if (stopped || !job.stop || !job.stop->load()) return;
    stopped = true;
    kill(child, SIGKILL);
  });
  if (stopped) throw Error(Exit::kInterrupted, "interrupted");
  if (WIFSIGNALED(status)) return std::nullopt;
  const int code = WEXITSTATUS(status);
  if (code == static_cast<int>(Exit::kUsage) || code == static_cast<int>(Exit::kBadInput))
    throw failure("the process that trains one program alone ended with exit code " +
                  std::to_string(code));  // its message is on standard error
  if (code != 0) return std::nullopt;     // as dead as one that crashed
  return training::replica_result_from_json(parse_json(answer, "answer of the isolated training"));
}

Json to_json(const training::TrainerOptions& options) {
  Json folders = Json::array();
  for (const auto& folder : options.data_path) folders.push_back(folder.string());
  return {{"data_path", std::move(folders)},       {"skip_dead_epochs", options.skip_dead_epochs},
          {"backend", to_string(options.backend)}, {"reuse_epochs", options.reuse_epochs},
          {"state_bytes", options.state_bytes},    {"memory", options.memory}};
}

training::TrainerOptions trainer_options_from_json(const Json& json) {
  training::TrainerOptions options;
  for (const Json& folder : json.at("data_path")) {
    options.data_path.emplace_back(folder.get<std::string>());
  }
  json.at("skip_dead_epochs").get_to(options.skip_dead_epochs);
  options.backend = training::parse_backend(json.at("backend").get<std::string>()).value();
  json.at("reuse_epochs").get_to(options.reuse_epochs);
  json.at("state_bytes").get_to(options.state_bytes);
  json.at("memory").get_to(options.memory);
  return options;
}

}  // namespace neutra::cli
