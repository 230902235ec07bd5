#include "cli/isolated.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "base/child_process.h"
#include "base/error.h"

namespace neutra::cli {

std::optional<training::ReplicaResult> train_isolated(const training::TrainingJob& job,
                                                      const training::TrainerOptions& options) {
  training::TrainerOptions one = options;  // there is nothing to share with other trainings
  one.reuse_epochs = false;
  one.memory = 0;
  const Json request{{"program", job.program->document},
                     {"job", to_json(job)},
                     {"options", to_json(one)},
                     {"parent", static_cast<std::int64_t>(getpid())}};
  bool stopped = false;
  const auto [answer, status, late] =
      run_program("/proc/self/exe", {"neutra", "train-isolated"}, request.dump(), [&](pid_t child) {
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
