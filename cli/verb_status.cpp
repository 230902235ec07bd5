#include <filesystem>
#include <iostream>
#include <set>

#include "base/error.h"
#include "cli/search_states.h"
#include "cli/texts.h"
#include "cli/verbs.h"
#include "experiments/batch/batch.h"
#include "experiments/batch/states.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// What Slurm has in its queue for the folders, or for those of the stores; empty where there is no
/// Slurm.
evaluators::ResultTable job_table(const Arguments& arguments) {
  evaluators::ResultTable table{"jobs",
                                "Jobs of Slurm",
                                {{"job", "job"},
                                 {"fault", "fault"},
                                 {"state", "state"},
                                 {"time", "time"},
                                 {"time_limit", "limit"},
                                 {"where", "where"}},
                                {}};
  std::set<fs::path> folders;
  for (const std::string& path : arguments.positional) {
    const fs::path whole = fs::weakly_canonical(path);
    folders.insert(fs::is_directory(whole) ? whole : whole.parent_path());
  }
  std::vector<experiments::BatchJob> jobs;
  for (const fs::path& folder : folders) {
    try {
      const std::optional<experiments::SearchBatch> batch = experiments::read_batch(folder);
      if (batch) jobs.insert(jobs.end(), batch->jobs.begin(), batch->jobs.end());
    } catch (const Error&) {
      // Beside a store there may be any file of that name; that of a folder was read before.
    }
  }
  const auto queued = experiments::queued_elements(jobs);
  if (!queued) std::cerr << "neutra: squeue doesn't say which jobs are in the queue\n";
  for (const experiments::QueuedElement& element :
       queued.value_or(std::vector<experiments::QueuedElement>())) {
    table.rows.push_back({{element.id, element.fault, element.state, element.time,
                           element.time_limit, element.where}});
  }
  return table;
}

/// Searches, and the jobs that are in Slurm's queue for them.
struct Status {
  std::vector<experiments::BatchState> states;
  evaluators::ResultTable jobs;
};

std::string form_of(const Status& status, const std::string& form) {
  evaluators::Report report;
  report.tables.push_back(search_table(status.states, form));
  if (!status.jobs.rows.empty()) report.tables.push_back(status.jobs);
  return written(report, form);
}

Result run(const Arguments& arguments) {
  return result_of(Status{search_states(arguments), job_table(arguments)});
}

}  // namespace

Verb status_verb() {
  return {.name = "status",
          .summary = "say how far searches are",
          .synopsis = "status FOLDER|STORE... [--format text|csv|json|latex]",
          .options = {.least_positional = 1,
                      .most_positional = 10000,
                      .positional_name = "FOLDER|STORE...",
                      .formats = {"text", "csv", "json", "latex"}},
          .description =
              "Of every store in the folders its state: waiting, running (and where), stopped (the "
              "same command goes on; with how its\n"
              "job failed), finished or damaged; then programs generated, repairs among them, the "
              "mean metric of the best one and of\n"
              "the buggy program, evaluations, their rate, the time left in the budget and the "
              "part of it that is used, all as of the\n"
              "store's last save (of a running search: how long ago). With Slurm here: the "
              "elements of neutra submit's jobs that are\n"
              "in its queue. Exit 0 also where a store is damaged: of one store neutra store check "
              "says so with exit 1.",
          .example = "  neutra status results\n  neutra status D7.h5 D8.h5 --format json",
          .run = run};
}

}  // namespace neutra::cli
