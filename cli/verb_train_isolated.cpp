#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <iterator>

#include "cli/context.h"
#include "cli/verbs.h"
#include "program/error.h"
#include "training/local_trainer.h"

namespace neutra::cli {
namespace {

int run(const Arguments&) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlive the search that waits for the answer
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json request = parse_json(text, "standard input");
  // A parent that was gone before the call above sends no signal.
  if (const pid_t parent = request.at("parent").get<pid_t>(); getppid() != parent)
    throw failure("the search that asked for this training has ended");
  const Program program{request.at("program")};
  TrainerOptions options;
  for (const auto& folder : request.at("data_path"))
    options.data_path.emplace_back(folder.get<std::string>());
  options.skip_dead_epochs = request.at("skip_dead").get<bool>();
  options.backend = *parse_backend(request.at("backend").get<std::string>());
  TrainingJob job;
  job.program = &program;
  job.seed = request.at("seed").get<std::uint64_t>();
  job.replica = request.at("replica").get<int>();
  job.stream = request.at("independent").get<bool>() ? StreamKey::kIndependent : StreamKey::kPrefix;
  job.time_limit = request.at("time_limit").get<double>();
  job.memory_limit = request.at("memory_limit").get<std::uint64_t>();
  std::cout << to_json(make_local_trainer(std::move(options))->train(job)).dump() << '\n';
  return 0;
}

}  // namespace

Verb train_isolated_verb() {
  return {"train-isolated",
          "train one job read from standard input (used by search for programs that two processes "
          "died in)",
          "train-isolated < JOB.json",
          {{}, 0, 0, ""},
          "Internal.",
          "  (internal)",
          run,
          true};
}

}  // namespace neutra::cli
