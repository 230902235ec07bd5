#include "search/search.h"

#include <iostream>

#include "base/error.h"
#include "base/last_act.h"
#include "base/warn_once.h"
#include "search/executor.h"
#include "search/machine.h"
#include "search/minimiser.h"
#include "search/store.h"
#include "search/store_file.h"
#include "search/store_header.h"
#include "search/store_reader.h"
#include "search/store_replay.h"

namespace neutra::search {
namespace {

Json make_header(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
                 const RunOptions& options) {
  Json header = {{"format", kStoreFormat}, {"version", kStoreVersion}};
  if (options.provenance.is_object()) header.update(options.provenance);
  header.update({{"command", options.command},
                 {"seed", config.seed},
                 {"fault", task.fault_id},
                 {"fault_file", task.fault_file},
                 {"metric", task.metric},
                 {"goal", to_string(task.goal)},
                 {"start", program::to_string(task.start)},
                 {"program", to_string(space.hash(space.program(task.start)))},
                 {"fixed", task.fixed ? Json(to_string(space.hash(*task.fixed))) : Json(nullptr)},
                 {"config", to_json(config)}});
  if (!task.script.is_null()) header[kStoredScript] = task.script;
  return header;
}

/// Evaluations of other stores that this search would make again.
EvaluationMap reused_evaluations(const RunOptions& options, const SearchConfig& config) {
  EvaluationMap reused;
  for (const auto& file : options.reuse) {
    const StoreContent content = load_existing_store(file);
    const SearchConfig other =
        search_config_from_json(content.header.value("config", Json::object()), file.string());
    if (other.fingerprint != config.fingerprint || other.seed != config.seed) {
      std::cerr << "warning: " << file.string() << " is not reused: it was made with "
                << (other.seed != config.seed ? "another seed" : "another back end or other data")
                << "\n";
      continue;
    }
    for (const auto& [key, result] : content.evaluations) {
      // The others depend on limits and on luck.
      if (training::has_metric(result.status)) {
        reused.emplace(key, result);
      }
    }
  }
  return reused;
}

SearchOutcome stored_outcome(const StoreContent& content) {
  SearchOutcome outcome{content.network, content.counters, content.end, true, content.minimising};
  outcome.counters.seconds = 0;
  return outcome;
}

/// Has a finished store got what these options ask for?
bool is_complete(const StoreContent& content, const RunOptions& options) {
  if (!options.minimise) return true;
  if (!content.minimising || content.minimising->end == SearchEnd::kInterrupted) return false;
  const Minimising& done = *content.minimising;
  return done.end == SearchEnd::kQueueEmpty ||
         (options.budget_minimise && done.budget && *options.budget_minimise <= *done.budget);
}

/// Executes the work and saves in the end, also what was done before an error.
void run(Work& work, Store& store, const std::function<void(bool over)>& save,
         const SearchConfig& config, const RunOptions& options, training::Trainer& trainer) {
  const auto finish = [&] {
    if (!store.content().evaluations.empty() || work.finished()) save(true);
  };
  try {
    execute(
        work, store, [&save] { save(false); }, finish, config, options, trainer);
  } catch (...) {
    // What was evaluated is in the journal; readers like it better in the file.
    try {
      if (!store.content().evaluations.empty()) save(true);
    } catch (const Error&) {
    }
    throw;
  }
  finish();
}

/// Of a store whose search is finished.
Minimising minimise(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
                    const RunOptions& options, EvaluationMap reused, training::Trainer& trainer,
                    Store& store) {
  if (options.minimising) options.minimising();
  store.begin_minimising();
  EarlierResults earlier{store.content().evaluations, std::move(reused), store.content().deaths};
  Minimiser minimiser(task, space, config, {options.curtail, static_cast<bool>(options.isolated)},
                      std::move(earlier), trainer, store.content().network,
                      options.budget_minimise);
  const double begin = store.seconds();
  const auto& before = store.content().minimising;
  const double seconds_before = before ? before->counters.total_seconds : 0;
  const auto state = [&] {
    Minimising state = minimiser.state();
    state.counters.seconds = store.seconds() - begin;
    state.counters.total_seconds = seconds_before + state.counters.seconds;
    return state;
  };
  run(
      minimiser, store,
      [&](bool over) { store.save_minimised(minimiser.network().subpatches, state(), over); },
      config, options, trainer);
  return state();
}

}  // namespace

SearchOutcome run_search(const SearchTask& task, const SearchConfig& config,
                         const RunOptions& options, training::Trainer& trainer,
                         const std::filesystem::path& store) {
  return run_search(task, ProgramSearchSpace(*task.space, config.preset), config, options, trainer,
                    store);
}

SearchOutcome run_search(const SearchTask& task, const SearchSpace& space,
                         const SearchConfig& config, const RunOptions& options,
                         training::Trainer& trainer, const std::filesystem::path& file) {
  // A store that is there says itself what it was made with.
  const bool begins = options.fresh || !std::filesystem::exists(file);
  if (begins && !task.fixed && !config.ground_truth_metric && !config.improve) {
    throw usage_error(task.fault_id +
                      ": no known fix; give --improve, for repairs that are significantly better, "
                      "or --ground-truth-metric");
  }
  const Json header = make_header(task, space, config, options);
  require_store_or_free(file);
  if (!options.fresh && std::filesystem::exists(file)) {
    // A finished store needs no lock and no writable folder.
    const StoreContent content = load_store(file);
    if (content.finished && header_differences(content.header, header).empty() &&
        is_complete(content, options)) {
      if (const auto problem = journal_problem(content, file)) warn_once(*problem);
      return stored_outcome(content);
    }
  }
  EvaluationMap reused = reused_evaluations(options, config);
  Store store(file, header, options.fresh);
  const LastAct last([&store] { store.give_up(); });
  SearchOutcome outcome;
  if (store.content().finished) {
    outcome = stored_outcome(store.content());
    if (is_complete(store.content(), options)) return outcome;
  } else {
    EarlierResults earlier{store.content().evaluations, reused, store.content().deaths};
    const SearchMachine::Switches switches{options.curtail, options.reuse_identical,
                                           options.speculate, static_cast<bool>(options.isolated)};
    SearchMachine machine(task, space, config, switches, std::move(earlier), trainer,
                          [&store] { return store.elapsed(); });
    run(
        machine, store,
        [&](bool over) {
          store.save(machine.network(), store.timed(machine.counters()),
                     over ? std::optional(machine.end()) : std::nullopt);
        },
        config, options, trainer);
    outcome = {machine.network(), store.timed(machine.counters()), machine.end(), false,
               store.content().minimising};
    outcome.network.subpatches = store.content().network.subpatches;
  }
  if (options.minimise && outcome.end != SearchEnd::kInterrupted) {
    outcome.minimising = minimise(task, space, config, options, std::move(reused), trainer, store);
    outcome.was_finished = false;
    outcome.network.subpatches = store.content().network.subpatches;
  }
  return outcome;
}

}  // namespace neutra::search
