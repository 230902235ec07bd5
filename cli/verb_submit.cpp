#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <sstream>
#include <string_view>

#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/printable.h"
#include "base/process.h"
#include "base/utf8.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "experiments/batch/scripts.h"
#include "experiments/study/study.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// The study's command for one fault, with every setting that decides its result.
std::vector<std::string> study_command(const Arguments& arguments, const fs::path& file,
                                       const fs::path& folder, int workers) {
  std::vector<std::string> command{
      own_program().string(), "study",  fs::absolute(file).string(), "--folder", folder.string(),
      "--searches-only",      "--quiet"};
  if (arguments.flag("quick")) command.emplace_back("--quick");
  for (const char* name : {"backend", "memory", "reuse-epochs", "seed", "skip-dead"}) {
    if (!arguments.has(name)) continue;
    command.insert(command.end(), {"--" + std::string(name), arguments.text(name)});
  }
  if (arguments.has("data-dir")) {
    command.insert(command.end(),
                   {"--data-dir", fs::absolute(arguments.text("data-dir")).string()});
  }
  command.insert(command.end(), {"--workers", std::to_string(workers)});
  return command;
}

/// What decides a search and is told by the environment: a cluster may be set up so that sbatch
/// hands on nothing of it.
std::map<std::string, std::string> job_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t end = text.find('=');
    if (end == text.npos) continue;
    const std::string_view name = text.substr(0, end);
    const bool plain = std::all_of(name.begin(), name.end(),
                                   [](unsigned char c) { return std::isalnum(c) || c == '_'; });
    if (plain && (name.starts_with("NEUTRA_") || name == "KERAS_HOME"))
      variables.emplace(name, text.substr(end + 1));
  }
  return variables;
}

/// Leaves out the faults that a job searches already: two can't search one fault in one folder.
void leave_out_queued(experiments::SearchBatch& batch,
                      const std::vector<experiments::BatchJob>& earlier, bool local) {
  const auto queued = experiments::queued_elements(earlier);
  if (!queued) {
    const std::string text = "squeue doesn't say whether earlier jobs of " + batch.folder.string() +
                             " are still in the queue";
    if (!local) throw failure(text);
    std::cerr << "warning: " << text << '\n';
    return;
  }
  std::string left_out, last_job;
  for (const experiments::QueuedElement& element : *queued) {
    const auto fault = std::find(batch.faults.begin(), batch.faults.end(), element.fault);
    if (fault == batch.faults.end()) continue;
    batch.faults.erase(fault);
    last_job = element.id;
    left_out += (left_out.empty() ? "" : ", ") + element.fault + " (job " + element.id + ", " +
                element.state + ")";
  }
  if (left_out.empty()) return;
  if (batch.faults.empty()) {
    throw input_error(describe("--folder", "", "each fault in the queue: " + left_out,
                               "faults without a job there; scancel " + last_job + " ends one"));
  }
  std::cerr << "left out, for they are in the queue: " << left_out << '\n';
}

/// The number of the job that sbatch --parsable tells in its last line: "13", or "13;cluster".
std::string job_number(const ProcessResult& sbatch) {
  std::istringstream lines(sbatch.out);
  std::string number;
  for (std::string line; std::getline(lines, line);) number = line.substr(0, line.find(';'));
  if (number.empty() || number.find_first_not_of("0123456789") != std::string::npos) {
    throw failure("sbatch said no job's number but \"" + sbatch.out + sbatch.err +
                  "\": squeue tells whether it made one");
  }
  return number;
}

/// The settings that don't go together. Throws usage_error.
void require_consistent(const Arguments& arguments, bool local) {
  for (const std::string& word : arguments.list("sbatch-arg")) {
    if (word.starts_with("--array") || word.starts_with("-a"))
      throw usage_error("found --sbatch-arg=" + word +
                        "; allowed: other options, the array is that of the faults");
  }
  if (local && arguments.has("sbatch-arg"))
    throw usage_error("found --sbatch-arg with --executor local; allowed: with --executor slurm");
}

/// Can the name of a folder stand in the scripts? Throws input_error.
void require_plain_name(const std::string& folder, bool local) {
  if (std::any_of(folder.begin(), folder.end(), [](unsigned char c) { return c < ' '; }))
    throw input_error(describe("--folder", "", "a name with control characters", "one without"));
  if (find_no_utf8(folder) != std::string::npos)  // the current folder's, perhaps
    throw input_error(describe("--folder", "", printable(folder), "a name in UTF-8"));
  if (!local && folder.find('\\') != std::string::npos)  // sbatch reads it as an escape
    throw input_error(describe("--folder", "", "a name with a backslash", "one without"));
}

/// The searches of a study, with the command of each.
experiments::SearchBatch batch_of(const Arguments& arguments, const fs::path& file,
                                  const experiments::Study& study, bool local) {
  experiments::require_faults(study, arguments.list("only"));
  experiments::SearchBatch batch;
  batch.name = study.name;
  const std::vector<std::string>& only = arguments.list("only");
  for (const experiments::StudyFault& entry : study.faults) {
    const bool named =
        only.empty() || std::find(only.begin(), only.end(), entry.fault.id) != only.end();
    if (named && !entry.network) batch.faults.push_back(entry.fault.id);
  }
  if (batch.faults.empty())
    throw input_error(describe(file.string(), "faults", "no fault that is searched",
                               "a study with faults that have no recorded network"));
  batch.folder =
      fs::absolute(arguments.has("folder") ? arguments.text("folder") : study.name + "-results");
  require_plain_name(batch.folder.string(), local);
  batch.ranks = static_cast<int>(arguments.integer("ranks"));
  // A job is alone on the cores that Slurm gives it; here its ranks share those of the machine.
  batch.workers = arguments.has("workers") ? worker_count(arguments)
                  : local                  ? std::max(worker_count(arguments) / batch.ranks, 1)
                                           : 1;
  batch.attempts = static_cast<int>(arguments.integer("attempts"));
  batch.command = study_command(arguments, file, batch.folder, batch.workers);
  batch.environment = job_environment();
  return batch;
}

/// Starts the script in this process's place: signals and the exit code are the script's.
[[noreturn]] void become(const std::vector<std::string>& command) {
  std::string bash = command[0], name = command[1];
  char* words[] = {bash.data(), name.data(), nullptr};
  execvp(words[0], words);
  throw failure("cannot start bash");
}

/// Starts sbatch; returns the number of the job.
std::string start_job(const std::vector<std::string>& command) {
  const ProcessResult result = run_process({command, fs::current_path()});
  if (result.end == ProcessEnd::kNotStarted)
    throw failure("cannot start sbatch: is Slurm installed here? --executor local needs none");
  if (result.end != ProcessEnd::kExited || result.code != 0)
    throw failure("sbatch " + std::string(to_string(result.end)) + " " +
                  std::to_string(result.code) + ": " + result.err +
                  "(--executor local needs no Slurm)");
  std::cerr << result.err;
  return job_number(result);
}

/// A job that Slurm has taken.
struct Submitted {
  std::string job, folder;
  std::vector<std::string> faults;
};

Json json_of(const Submitted& submitted) {
  return {{"job", submitted.job}, {"faults", submitted.faults}, {"folder", submitted.folder}};
}

std::string text_of(const Submitted& submitted) {
  return "job " + submitted.job + ": " + std::to_string(submitted.faults.size()) +
         " searches into " + submitted.folder + "\nneutra status " +
         experiments::shell_quoted(submitted.folder) + " tells how they are doing\n";
}

Result run(const Arguments& arguments) {
  const fs::path file = experiments::study_file(arguments.positional.front());
  require_no_pipe(file, "a study file");  // each job reads it
  const experiments::Study study = experiments::load_study(file, arguments.flag("quick"));
  const bool local = arguments.text("executor") == "local";
  require_consistent(arguments, local);
  experiments::SearchBatch batch = batch_of(arguments, file, study, local);
  std::vector<std::string> command{"bash"};
  if (!local) {
    command = {"sbatch", "--parsable"};
    for (const std::string& word : arguments.list("sbatch-arg")) command.push_back(word);
  }
  command.push_back(experiments::batch_script(batch.folder).string());
  const auto script = [&] {
    return local ? experiments::local_script(batch) : experiments::slurm_script(batch);
  };
  if (arguments.flag("dry-run")) {
    Result dry{[text = script()](const std::string&) { return text; }};
    dry.notes = "would run:";
    for (const std::string& word : command) dry.notes += " " + experiments::shell_quoted(word);
    dry.notes += "\n";
    return dry;
  }

  experiments::Submission submission(batch.folder, batch.name);
  experiments::check_outputs(study, batch.folder);
  leave_out_queued(batch, submission.earlier_jobs(), local);
  submission.write(batch, script());
  if (local) {
    submission.keep_over_exec();
    become(command);
  }
  const std::string job = start_job(command);
  try {
    submission.took({job, batch.faults});
  } catch (const Error& error) {
    throw Error(error.exit(), "job " + job + " is submitted, but can't be noted: " + error.what());
  }
  return result_of(Submitted{job, batch.folder.string(), batch.faults});
}

}  // namespace

Verb submit_verb() {
  return {.name = "submit",
          .summary = "submit the searches of a study to a batch system",
          .synopsis =
              "submit FILE.json|STUDY [--executor slurm|local] [--ranks N] [--sbatch-arg "
              "ARGUMENT...] [--dry-run] [options]",
          .options = {.names = {"attempts", "backend", "data-dir", "dry-run", "executor", "folder",
                                "memory", "only", "quick", "ranks", "reuse-epochs", "sbatch-arg",
                                "seed", "skip-dead", "workers"},
                      .least_positional = 1,
                      .most_positional = 1,
                      .positional_name = "FILE.json|STUDY"},
          .description =
              "Writes a script, batch.sh in --folder, and starts it: one array job of Slurm with "
              "an element for each fault,\n"
              "each --ranks processes with --workers trainings at the same time. An element that "
              "reaches its time limit is\n"
              "saved, requeued and goes on; so is one that was killed, up to --attempts. neutra "
              "status FOLDER tells how far\n"
              "they are; neutra study with the same --folder scores what they found "
              "(docs/howto/submit_a_study.md).",
          .example =
              "  neutra submit fl_study --ranks 8 --sbatch-arg=--time=12:00:00 --folder results\n"
              "  neutra submit my_study.json --executor local --dry-run",
          .run = run};
}

}  // namespace neutra::cli
