#include <algorithm>
#include <cmath>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/last_act.h"
#include "base/numbers.h"
#include "base/printable.h"
#include "base/words.h"
#include "cli/isolated.h"
#include "cli/network_text.h"
#include "cli/outputs.h"
#include "cli/progress_line.h"
#include "cli/provenance.h"
#include "cli/ranks.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "experiments/batch/scripts.h"
#include "experiments/catalog.h"
#include "experiments/network_file.h"
#include "experiments/network_warnings.h"
#include "experiments/scoring_metric.h"
#include "experiments/search_task.h"
#include "mutators/reach.h"
#include "search/search.h"
#include "search/store_file.h"
#include "search/store_reader.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;
constexpr std::size_t kListed = 20;        ///< repairs that the result lists
constexpr double kUsualSeconds = 10 * 60;  ///< --budget-time of a new search without one

std::string counters_text(const search::SearchCounters& c) {
  std::string text = std::to_string(c.evaluations) + " evaluations, " +
                     std::to_string(c.trainings) + " trainings in " + duration_text(c.seconds);
  if (c.seconds > 0.01)
    text += " (" + rounded(static_cast<double>(c.samples) / c.seconds) + " samples/s)";
  std::vector<std::string> taken;
  if (c.trainings_from_store > 0)
    taken.push_back(std::to_string(c.trainings_from_store) + " from earlier runs");
  if (c.trainings_reused > 0)
    taken.push_back(std::to_string(c.trainings_reused) + " from other stores");
  if (!taken.empty()) text += ", besides " + join(taken, " and ");
  if (c.trainings > 0)
    text += "\nback ends: fused " + std::to_string(c.trainings_fused) + ", eager " +
            std::to_string(c.trainings - c.trainings_fused);
  text += "\nsaved: " + std::to_string(c.trainings_saved_curtailed) +
          " trainings by curtailment, " + std::to_string(c.trainings_saved_identical) +
          " by identity, " + std::to_string(c.epochs_reused) + " epochs of other trainings, " +
          std::to_string(c.epochs_saved_dead) + " dead epochs; " +
          std::to_string(c.speculative_trainings) + " trainings ahead were not needed\n";
  if (c.diverged > 0) text += "trainings that diverged: " + std::to_string(c.diverged) + "\n";
  return text;
}

/// FAULT.h5, or FAULT.store.h5 beside a Keras model of that name, which the program may be of.
/// HDF5 of a store begins behind its checksum header, that of any other file at once.
fs::path default_store(const experiments::Fault& fault) {
  const fs::path store = fault.id + ".h5";
  std::string start(4, '\0');
  std::error_code ignored;
  if (fs::is_regular_file(store, ignored))
    std::ifstream(store, std::ios::binary).read(start.data(), 4);
  return start == "\x89HDF" ? fs::path(fault.id + ".store.h5") : store;
}

/// "minimised: 12 sub-patches evaluated, 87 trainings in 3.2 s; of every repair
/// it is known whether it is 1-minimal"
std::string minimising_text(const search::Minimising& minimising) {
  const search::SearchCounters& c = minimising.counters;
  std::string text = "minimised: " + std::to_string(c.evaluations) + " sub-patches evaluated, " +
                     std::to_string(c.trainings) + " trainings in " + duration_text(c.seconds);
  if (c.trainings_from_store > 0)
    text += ", besides " + std::to_string(c.trainings_from_store) + " from earlier runs";
  text += "; " + std::to_string(c.trainings_saved_curtailed) + " saved by curtailment; ";
  switch (minimising.end) {
    case search::SearchEnd::kQueueEmpty:
      return text + (minimising.counters.evaluations > 0
                         ? "of every repair it is known whether it is 1-minimal\n"
                         : "no sub-patch was left to evaluate\n");
    case search::SearchEnd::kEvaluationBudget:
      return text + "budget used up (--budget-minimise)\n";
    default:
      return text + "interrupted\n";
  }
}

ProgressState minimising_progress(const search::Progress& progress,
                                  std::optional<std::int64_t> budget) {
  ProgressState state = progress_of(progress, budget);
  state.unit = "sub-patches";
  state.text = std::to_string(progress.queue) + " repairs undecided";
  return state;
}

bool is_interrupted(const search::SearchOutcome& outcome, const search::RunOptions& options) {
  return outcome.end == search::SearchEnd::kInterrupted ||
         (options.minimise && outcome.minimising &&
          outcome.minimising->end == search::SearchEnd::kInterrupted);
}

/// "10 minutes", "90 seconds"
std::string time_words(double seconds) {
  for (const auto& [unit, word] : {std::pair{3600.0, "hour"}, {60.0, "minute"}, {1.0, "second"}}) {
    const double count = seconds / unit;
    if ((count == std::floor(count) && count > 0) || unit == 1)
      return shortest(count) + " " + word + (count == 1 ? "" : "s");
  }
  return "";
}

/// What a search says first.
std::string budget_line(const search::SearchConfig& config) {
  std::vector<std::string> budgets;
  if (config.budget_evaluations)
    budgets.push_back(std::to_string(*config.budget_evaluations) +
                      " evaluations (--budget-evaluations)");
  if (config.budget_seconds)
    budgets.push_back(time_words(*config.budget_seconds) + " (--budget-time)");
  if (budgets.empty()) return "budget: none; stops when every program within reach is searched\n";
  return "budget: " + join(budgets, " or ") + (config.budget_seconds ? "" : ", no limit of time") +
         "; stops before the next evaluation\n";
}

/// What decides which network comes out. What the options leave open a store keeps; `stored`:
/// what made it, nullopt for a new one.
search::SearchConfig search_config(const Arguments& arguments, const experiments::Fault& fault,
                                   const std::optional<search::SearchConfig>& stored) {
  search::SearchConfig config;
  config.rule = *search::parse_rule(arguments.text("rule"));
  const bool bundled = experiments::is_bundled(fault);
  if (arguments.has("preset"))
    config.preset = *mutators::parse_preset(arguments.text("preset"));
  else
    config.preset = stored    ? stored->preset
                    : bundled ? mutators::Preset::kPaper
                              : mutators::Preset::kKeras;
  const bool as_study = config.rule == search::Rule::kRecorded ||
                        (bundled && config.preset == mutators::Preset::kPaper);
  if (arguments.has("ties"))
    config.ties = *search::parse_tie_order(arguments.text("ties"));
  else
    config.ties = stored     ? stored->ties
                  : as_study ? search::TieOrder::kParameters
                             : search::TieOrder::kSpread;
  if (config.rule == search::Rule::kRecorded && config.ties != search::TieOrder::kParameters)
    throw usage_error(
        "--ties: found spread with --rule recorded, which takes equals as they were "
        "generated; allowed: --rule algorithm1");
  config.ground_truth_metric = arguments.optional_number("ground-truth-metric");
  const bool no_level = !fault.fixed && !config.ground_truth_metric;
  config.improve = arguments.flag("improve") || (stored ? stored->improve : no_level);
  config.budget_evaluations = arguments.optional_integer("budget-evaluations");
  if (arguments.has("budget-time")) config.budget_seconds = arguments.seconds("budget-time");
  if (stored) {
    if (!config.budget_evaluations) config.budget_evaluations = stored->budget_evaluations;
    if (!config.budget_seconds) config.budget_seconds = stored->budget_seconds;
  } else if (!config.budget_evaluations && !config.budget_seconds) {
    config.budget_seconds = kUsualSeconds;
  }
  config.top_k = static_cast<int>(arguments.integer("top-k"));
  config.replicas = static_cast<int>(arguments.integer("replicas"));
  if (arguments.has("max-depth"))
    config.max_depth = static_cast<int>(arguments.integer("max-depth"));
  config.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  config.time_limit = arguments.seconds("time-limit");
  config.memory_limit = arguments.bytes("memory-limit");
  return config;
}

/// What became of a search.
struct Searched {
  std::shared_ptr<const experiments::Fault> fault;
  search::SearchConfig config;
  fs::path store;
  std::vector<std::string> out_of_reach;
  bool interrupted = false;
  search::SearchOutcome outcome;
};

Json json_of(const Searched& searched) {
  const auto& [fault, config, store, out_of_reach, interrupted, outcome] = searched;
  const search::Network& network = outcome.network;
  const auto alternatives = network.alternatives();
  const auto significant =
      std::count_if(alternatives.begin(), alternatives.end(),
                    [](const search::Node* node) { return node->significant; });
  return {
      {"format", "neutra-search"},
      {"version", 1},
      {"fault", fault->id},
      {"store", store.string()},
      {"finished", !interrupted},
      {"end", to_string(outcome.end)},
      {"was_finished", outcome.was_finished},
      {"metric", network.metric},
      {"goal", program::to_string(network.goal)},
      {"improve", network.improve},
      {"preset", to_string(config.preset)},
      {"ties", to_string(config.ties)},
      {"budget_evaluations", json_or_null(config.budget_evaluations)},
      {"budget_seconds", json_or_null(config.budget_seconds)},
      {"out_of_reach", fault->fixed
                           ? to_json(mutators::reach_of(fault->space, *fault->fixed,
                                                        fault->fixed_parameters, config.preset)
                                         .missing)
                           : Json::array()},
      {"ground_truth", network.ground_truth ? json_number(*network.ground_truth) : Json(nullptr)},
      {"nodes", network.nodes.size()},
      {"edges", network.edges.size()},
      {"alternatives", alternatives.size()},
      {"significantly_better", significant},
      {"minimal", to_json(search::count(experiments::repairs_by_size(network, fault.get())))},
      {"minimising", outcome.minimising ? to_json(*outcome.minimising) : Json(nullptr)},
      {"counters", to_json(outcome.counters)}};
}

/// Savings and sub-patches.
std::string effort_text(const search::SearchOutcome& outcome) {
  return counters_text(outcome.counters) +
         (outcome.minimising ? minimising_text(*outcome.minimising) : "");
}

/// "" of an interrupted search: its network is not told.
std::string text_of(const Searched& searched) {
  if (searched.interrupted) return "";
  const std::string store = searched.store.string();
  const ListLimit limit{kListed, "neutra network " + experiments::shell_quoted(printable(store)) +
                                     " --format text --all-repairs lists all"};
  return (searched.outcome.was_finished
              ? store + " holds the finished search; nothing was trained (--fresh starts anew)\n\n"
              : "") +
         network_text(searched.outcome.network, searched.fault.get(), limit,
                      searched.out_of_reach) +
         "\nend: " + std::string(search::end_text(searched.outcome.end)) + "; " +
         effort_text(searched.outcome) + "store: " + store + "\n";
}

Result result_of_search(Searched searched, const Arguments& arguments) {
  const Exit exit = searched.interrupted ? Exit::kInterrupted : Exit::kDone;
  const std::string notes =
      searched.interrupted && !arguments.flag("json")
          ? "interrupted; the same command continues. " + effort_text(searched.outcome)
          : "";
  Result result = result_of(std::move(searched), exit);
  result.notes = notes;
  return result;
}

/// How the search of a fault is run. Throws usage_error for options that don't go together.
search::RunOptions run_options(const Arguments& arguments, const experiments::Fault& fault,
                               const search::SearchConfig& config,
                               training::LocalTrainer& trainer) {
  search::RunOptions options;
  options.workers = worker_count(arguments);
  options.curtail = arguments.is_on("curtail");
  options.reuse_identical = arguments.is_on("share-identical");
  options.speculate = arguments.is_on("speculate");
  for (const auto& store : arguments.list("reuse")) options.reuse.emplace_back(store);
  options.fresh = arguments.flag("fresh");
  options.command = "neutra search " + join(arguments.words, " ");
  options.provenance = provenance();
  options.stop = &stop_requested();
  const training::TrainerOptions own = trainer_options(arguments, fault.file);
  options.isolated = [own](const training::TrainingJob& job) { return train_isolated(job, own); };
  options.remote = other_ranks();
  if (options.remote) options.remote_setup = ranks_setup(fault, own, trainer, options.workers);
  options.minimise = arguments.flag("minimise");
  options.budget_minimise = arguments.optional_integer("budget-minimise");
  if (config.improve && config.replicas < 2)
    throw usage_error("--replicas: found " + std::to_string(config.replicas) +
                      "; allowed: at least 2 where a repair is what is significantly better");
  if (options.budget_minimise && !options.minimise)
    throw usage_error("--budget-minimise: found it alone; allowed: with --minimise");
  return options;
}

/// What is said before the first training. `as_begun`: a warning of the store; "": none.
void announce(const Arguments& arguments, const experiments::Fault& fault,
              const search::SearchConfig& config, const std::string& as_begun,
              const std::vector<std::string>& out_of_reach) {
  if (!arguments.flag("quiet")) std::cerr << budget_line(config);
  if (!as_begun.empty()) std::cerr << "warning: " << as_begun << '\n';
  experiments::tell_scoring(fault, arguments.flag("quiet") || !as_begun.empty());
  for (const std::string& line : out_of_reach) std::cerr << "warning: " << line << "\n";
  warn_of(fault.id, fault.buggy);
  if (fault.fixed) warn_of(fault.id, *fault.fixed);
}

Result run(const Arguments& arguments) {
  catch_signals(other_ranks() == nullptr);
  const experiments::Fault given = experiments::load_fault(arguments.positional.front());
  const fs::path store = link_target(arguments.has("store") ? fs::path(arguments.text("store"))
                                                            : default_store(given));
  if (store.has_parent_path() && !fs::is_directory(store.parent_path()))
    throw input_error(describe("--store", "", store.string(), "a file in a folder that exists"));
  const bool fresh = arguments.flag("fresh");
  std::string as_begun;
  const auto kept = std::make_shared<const experiments::Fault>(
      fresh ? experiments::scored_alike(given)
            : experiments::scored_as_begun(given, store, as_begun));
  const experiments::Fault& fault = *kept;
  const search::SearchTask task = experiments::search_task(fault);
  search::SearchConfig config =
      search_config(arguments, fault, fresh ? std::nullopt : search::stored_config(store));
  const auto trainer = make_trainer(arguments, fault.file);
  if (const auto reason = trainer->refusal(fault.buggy))
    throw input_error(fault.file.string() + ": " + *reason);
  config.fingerprint = experiments::search_fingerprint(fault, *trainer);
  search::RunOptions options = run_options(arguments, fault, config, *trainer);
  search::require_store_or_free(store);
  // Nothing is told before all that can be refused at once has been looked at.
  const std::vector<std::string> out_of_reach =
      experiments::reach_lines(fault, config.preset, search::depth_limit(config));
  announce(arguments, fault, config, as_begun, out_of_reach);

  const bool quiet = arguments.flag("quiet");
  std::optional<ProgressLine> line(std::in_place, quiet, "search " + fault.id);
  options.progress = [&](const search::Progress& progress) {
    line->update(progress_of(progress, config.budget_evaluations));
  };
  options.minimising = [&] {
    line.reset();
    line.emplace(quiet, "minimise " + fault.id);
    options.progress = [&](const search::Progress& progress) {
      line->update(minimising_progress(progress, options.budget_minimise));
    };
  };
  // Where a step of a training does not end: what is told is what was saved.
  std::optional<LastAct> last([&] {
    line.reset();
    if (!fs::exists(store)) return;
    const search::StoredRun run = search::read_store(store);
    search::SearchOutcome outcome{run.network, run.counters, search::SearchEnd::kInterrupted, false,
                                  run.minimising};
    if (outcome.minimising) outcome.minimising->end = search::SearchEnd::kInterrupted;
    write_result(result_of_search({kept, config, store, out_of_reach, true, outcome}, arguments),
                 arguments);
  });
  search::SearchOutcome outcome = search::run_search(task, config, options, *trainer, store);
  line.reset();
  const bool interrupted = is_interrupted(outcome, options);
  if (interrupted) begin_ending();
  last.reset();  // the outcome is told once
  return result_of_search({kept, config, store, out_of_reach, interrupted, std::move(outcome)},
                          arguments);
}

}  // namespace

Verb search_verb() {
  return {
      .name = "search",
      .summary = "search all small patches that repair a faulty program (its neutrality network)",
      .synopsis = "search FAULT [--store FILE] [options]",
      .options = {.names = {"backend",
                            "budget-evaluations",
                            "budget-minimise",
                            "budget-time",
                            "curtail",
                            "data-dir",
                            "fresh",
                            "ground-truth-metric",
                            "improve",
                            "max-depth",
                            "memory",
                            "memory-limit",
                            "minimise",
                            "preset",
                            "replicas",
                            "reuse",
                            "reuse-epochs",
                            "rule",
                            "seed",
                            "share-identical",
                            "skip-dead",
                            "speculate",
                            "store",
                            "ties",
                            "time-limit",
                            "top-k",
                            "workers"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "FAULT"},
      .description =
          "Breadth-first search from the buggy program: every program that differs in one "
          "hyperparameter is trained --replicas\n"
          "times; those at least as good as their parent are followed, those as good as the known "
          "fix are repairs (without a\n"
          "known fix: see --improve). The same command continues an interrupted search; a finished "
          "one is printed without\n"
          "training, or goes on where a budget is larger now. A store keeps its budgets, its "
          "preset and --ties where these are\n"
          "left out. Any other difference from the options that it was made with, such as a "
          "smaller budget, is named and refused\n"
          "with exit code 3: neutra network prints a store without them. The network depends on "
          "program, seed, preset, rule,\n"
          "ties, top-k, replicas, level, --improve, budgets and limits, never on workers, "
          "interruptions or options marked\n"
          "(exact). --minimise then trains the smaller patches that tell which repairs are "
          "1-minimal (no single change can be\n"
          "taken back); on a finished store it does only that. Started with mpirun or srun "
          "--mpi=pmix it spreads over the ranks\n"
          "of the job.",
      .example =
          "  neutra search D7 --store D7.h5 --budget-evaluations 150\n"
          "  neutra network D7.h5 --format text\n"
          "  mpirun -n 8 neutra search D7 --store D7.h5",
      .run = run};
}

}  // namespace neutra::cli
