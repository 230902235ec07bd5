#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <iostream>
#include <iterator>

#include "base/error.h"
#include "cli/isolated.h"
#include "cli/verbs.h"
#include "training/local_trainer.h"

namespace neutra::cli {
namespace {

Result run(const Arguments&) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // never outlive the search that waits for the answer
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  const Json request = parse_json(text, "standard input");
  // A parent that was gone before the call above sends no signal.
  if (const pid_t parent = request.at("parent").get<pid_t>(); getppid() != parent)
    throw failure("the search that asked for this training has ended");
  const program::Program program{request.at("program")};
  training::TrainingJob job = training::training_job_from_json(request.at("job"));
  job.program = &program;
  const auto trainer =
      training::make_local_trainer(trainer_options_from_json(request.at("options")));
  return {
      [answer = to_json(trainer->train(job)).dump() + "\n"](const std::string&) { return answer; }};
}

}  // namespace

Verb train_isolated_verb() {
  return {.name = "train-isolated",
          .summary =
              "train one job read from standard input (used by search for programs that two "
              "processes died in)",
          .synopsis = "train-isolated < JOB.json",
          .description = "Internal.",
          .example = "  (internal)",
          .run = run,
          .hidden = true};
}

}  // namespace neutra::cli
