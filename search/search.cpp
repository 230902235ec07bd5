#include "search/search.h"

#include <iostream>

#include "program/error.h"
#include "search/executor.h"
#include "search/machine.h"
#include "search/store.h"

namespace neutra {
namespace {

Json make_header(const SearchTask& task, const SearchSpace& space, const SearchConfig& config,
                 const RunOptions& options) {
  Json header = {{"format", "neutra-store"}, {"version", 1}};
  if (options.provenance.is_object()) header.update(options.provenance);
  header.update({{"command", options.command},
                 {"seed", config.seed},
                 {"fault", task.fault_id},
                 {"fault_file", task.fault_file},
                 {"metric", task.metric},
                 {"goal", to_string(task.goal)},
                 {"start", to_string(task.start)},
                 {"program", to_string(space.hash(space.program(task.start)))},
                 {"fixed", task.fixed ? Json(to_string(space.hash(*task.fixed))) : Json(nullptr)},
                 {"config", to_json(config)}});
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
      if (result.status == RunStatus::kOk || result.status == RunStatus::kDiverged) {
        reused.emplace(key, result);
      }
    }
  }
  return reused;
}

SearchOutcome stored_outcome(const StoreContent& content) {
  SearchOutcome outcome{content.network, content.counters, content.end, true};
  outcome.counters.seconds = 0;
  return outcome;
}

}  // namespace

SearchOutcome run_search(const SearchTask& task, const SearchConfig& config,
                         const RunOptions& options, Trainer& trainer,
                         const std::filesystem::path& store) {
  return run_search(task, ProgramSearchSpace(*task.space, config.preset), config, options, trainer,
                    store);
}

SearchOutcome run_search(const SearchTask& task, const SearchSpace& space,
                         const SearchConfig& config, const RunOptions& options, Trainer& trainer,
                         const std::filesystem::path& file) {
  if (!task.fixed && !config.ground_truth_metric && !config.improve) {
    throw usage_error(task.fault_id +
                      ": no known fix; give --improve, for repairs that are significantly better, "
                      "or --ground-truth-metric");
  }
  const Json header = make_header(task, space, config, options);
  require_store_or_free(file);
  if (!options.fresh && std::filesystem::exists(file)) {
    // A finished store needs no lock and no writable folder.
    const StoreContent content = load_store(file);
    if (content.finished && header_differences(content.header, header).empty()) {
      return stored_outcome(content);
    }
  }
  EvaluationMap reused = reused_evaluations(options, config);
  Store store(file, header, options.fresh);
  if (store.content().finished) return stored_outcome(store.content());

  Memory memory{store.content().evaluations, std::move(reused), store.content().deaths};
  const SearchMachine::Switches switches{options.curtail, options.reuse_identical,
                                         options.speculate, static_cast<bool>(options.isolated)};
  SearchMachine machine(task, space, config, switches, std::move(memory), trainer,
                        [&store] { return store.elapsed(); });
  const auto save = [&] {
    store.save(machine.network(), run_counters(machine, store), machine.end());
  };
  try {
    execute(machine, store, config, options, trainer);
  } catch (...) {
    // What was evaluated is in the journal; readers like it better in the file.
    try {
      if (!store.content().evaluations.empty()) save();
    } catch (const Error&) {
    }
    throw;
  }
  const SearchCounters counters = run_counters(machine, store);
  const bool nothing = store.content().evaluations.empty();
  if (!nothing || machine.end() != SearchEnd::kInterrupted) save();
  return {machine.network(), counters, machine.end(), false};
}

}  // namespace neutra
