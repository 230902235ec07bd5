#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/mutate/actions.h"
#include "cli/mutate/analysis_forms.h"
#include "cli/outputs.h"
#include "cli/progress_line.h"
#include "cli/stopping.h"
#include "cli/trainers.h"
#include "cli/warnings.h"
#include "experiments/mutation_analysis/analysis.h"
#include "experiments/mutation_analysis/report.h"
#include "experiments/mutation_analysis/task.h"
#include "experiments/scoring_metric.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

std::vector<experiments::TestSet> chosen_sets(const Arguments& arguments) {
  if (!arguments.has("test-set"))
    return {experiments::TestSet::kTrain, experiments::TestSet::kTest};
  std::vector<experiments::TestSet> sets;
  for (const std::string& word : arguments.list("test-set")) {
    const auto set = experiments::parse_test_set(word);
    if (!set)
      throw usage_error("--test-set: found '" + word +
                        "'; allowed: " + allowed_words(word, {"train", "test", "weak"}));
    if (std::find(sets.begin(), sets.end(), *set) == sets.end()) sets.push_back(*set);
  }
  std::sort(sets.begin(), sets.end());
  return sets;
}

experiments::MutationOptions mutation_options(const Arguments& arguments) {
  experiments::MutationOptions options;
  options.runs = static_cast<int>(arguments.integer("runs"));
  if (options.runs < 2)
    throw usage_error("--runs: found " + std::to_string(options.runs) +
                      "; allowed: at least 2, without which nothing is significant");
  options.variant = arguments.text("variant") == "as-published"
                        ? evaluators::KillVariant::kAsPublished
                        : evaluators::KillVariant::kCorrected;
  options.sets = chosen_sets(arguments);
  options.early = arguments.text("early") == "on";
  options.workers = worker_count(arguments);
  options.stop = &stop_requested();
  return options;
}

/// Trains the mutants, or takes their runs from --store.
experiments::MutationAnalysis analysed(const MutantAnalysis& analysis,
                                       const std::filesystem::path& file,
                                       const Arguments& arguments) {
  const auto seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  const auto trainer = make_trainer(arguments, file);
  training::TrainingJob limits;
  limits.time_limit = arguments.seconds("time-limit");
  limits.memory_limit = arguments.bytes("memory-limit");
  limits.stop = analysis.options.stop;
  const auto mutant_trainer =
      experiments::make_mutant_trainer(analysis.original, *trainer, seed, limits);
  std::optional<experiments::MutantRuns> runs;
  if (arguments.has("store")) {
    const Json header = experiments::mutant_runs_header(analysis.original, *trainer, seed, limits);
    runs.emplace(link_target(arguments.text("store")), header, arguments.flag("fresh"),
                 "neutra mutate " + analysis.id);
  } else {
    runs.emplace();
  }
  ProgressLine progress(arguments.flag("quiet"), "mutate " + analysis.id);
  return experiments::analyse_mutants(
      analysis.original, analysis.task.sites, analysis.options, *mutant_trainer, *runs,
      [&](const Tally& tally) { progress.update(progress_of(tally, "trainings", true)); });
}

}  // namespace

Result kill_mutants(const Arguments& arguments) {
  Original original = load_original(arguments);
  // Mutants with another loss are compared by the original's.
  original.program = experiments::scored_by_name(std::move(original.program));
  const mutators::Target target = target_of(original, arguments);
  const std::vector<const mutators::MutationOperator*> operators = chosen_operators(arguments);
  catch_signals();
  MutantAnalysis analysis;
  analysis.id = original.id;
  analysis.original = target.program;
  analysis.options = mutation_options(arguments);
  analysis.task = experiments::mutation_task(operators, target, chosen_layers(arguments),
                                             static_cast<std::uint64_t>(arguments.integer("seed")));
  if (analysis.task.sites.empty()) {
    std::string reasons;
    for (const experiments::LeftOutOperator& o : analysis.task.left_out)
      reasons += "\n  " + std::string(o.op->id) + ": " + o.reason;
    throw input_error(analysis.id + ": no operator applies" + reasons);
  }
  warn_of(analysis.id, analysis.original);
  analysis.result = analysed(analysis, original.file, arguments);
  if (arguments.has("report"))
    write_file_atomically(arguments.text("report"), to_text(report_of(analysis)));
  std::string notes;
  if (chosen_format(arguments) == "text")
    for (const experiments::LeftOutOperator& o : analysis.task.left_out)
      notes += "no mutant: " + std::string(o.op->id) + ": " + o.reason + "\n";
  Result result = output_of(std::move(analysis), arguments);
  result.notes = std::move(notes);
  return result;
}

}  // namespace neutra::cli
