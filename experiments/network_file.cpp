#include "experiments/network_file.h"

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "experiments/scoring_metric.h"
#include "experiments/search_task.h"
#include "search/network_reader.h"
#include "search/store_reader.h"

namespace neutra::experiments {
namespace {

/// The bundled fault whose buggy program has these parameters, if any.
std::optional<Fault> fault_of_root(const program::Parameters& root) {
  for (const auto& id : fault_ids()) {
    Fault fault = load_fault(id);
    if (same_program(fault.space, root, fault.space.base_parameters())) return fault;
  }
  return std::nullopt;
}

/// As a store's search compared its programs: one that was begun with `loss` keeps it.
Fault scored_as_stored(Fault fault, const search::StoredRun& run) {
  return run.header.value("metric", "") == "loss" ? fault : scored_alike(std::move(fault));
}

/// A store's fault: the bundled one of its name or the user's file, if that is still the same.
std::optional<Fault> fault_of_store(const search::StoredRun& run) {
  for (const std::string& name : {run.network.fault_id, run.header.value("fault_file", "")}) {
    if (is_pipe_or_device(name)) continue;  // which was read when the search began
    try {
      Fault fault = scored_as_stored(load_fault(name), run);
      // A user's fault may have a bundled fault's id, or may have been edited since.
      if (to_string(program::program_hash(fault.buggy)) == run.header.value("program", "")) {
        return fault;
      }
    } catch (const Error&) {
      // Not bundled, or a file that is elsewhere now: the network stands without it.
    }
  }
  return std::nullopt;
}

/// Calls `use` with the programs of a fault; nullptr where it is not known.
template <typename Use>
auto with_programs(const Fault* fault, const Use& use) {
  if (fault == nullptr) return use(nullptr);
  const search::ProgramSearchSpace space(fault->space,
                                         mutators::Preset::kPaper);  // the preset makes no programs
  return use(&space);
}

}  // namespace

std::vector<search::RepairSize> repairs_by_size(const search::Network& network,
                                                const Fault* fault) {
  return with_programs(fault, [&](const search::SearchSpace* space) {
    return search::repair_sizes(network, space);
  });
}

Json network_json(const search::Network& network, const Fault* fault) {
  return with_programs(fault,
                       [&](const search::SearchSpace* space) { return to_json(network, space); });
}

Json network_json(const NetworkFile& file) {
  Json json = network_json(file.network, file.fault ? &*file.fault : nullptr);
  if (file.script) json["script"] = stored_script(*file.script);
  return json;
}

NetworkFile read_network_file(const std::filesystem::path& file, std::optional<Fault> fault) {
  NetworkFile loaded;
  loaded.fault = std::move(fault);
  if (file.extension() != ".tsv" && !is_pipe_or_device(file)) {  // a store needs a disk
    search::StoredRun run = search::read_store(file);
    loaded.fault =
        loaded.fault ? scored_as_stored(*std::move(loaded.fault), run) : fault_of_store(run);
    loaded.finished = run.finished;
    loaded.header = std::move(run.header);
    loaded.counters = run.counters;
    loaded.end = run.end;
    loaded.network = std::move(run.network);
    // The fault's file may have been captured again since, with other lines.
    loaded.script = loaded.fault && loaded.fault->script
                        ? loaded.fault->script
                        : script_of_store(loaded.header, file.string());
    if (loaded.fault && !loaded.fault->script &&
        to_string(program::program_hash(loaded.fault->buggy)) ==
            loaded.header.value("program", "")) {
      loaded.fault->script = loaded.script;
    }
    return loaded;
  }
  if (is_pipe_or_device(file)) {
    const std::string text = read_file(file, "a network in TSV form");
    if (text.starts_with("neutra-store") || text.starts_with(kHdf5Start)) {
      require_no_pipe(file, "a store");
    }
    loaded.network = search::parse_network_tsv(text, file.string());
  } else {
    loaded.network = search::read_network_tsv(file);
  }
  if (!loaded.fault && !loaded.network.nodes.empty()) {
    loaded.fault = fault_of_root(loaded.network.nodes.front().parameters);
  }
  if (loaded.fault) {
    loaded.fault = scored_alike(*std::move(loaded.fault));
    loaded.script = loaded.fault->script;
    const MetricInfo metric = metric_of(loaded.fault->buggy, loaded.fault->file.string());
    loaded.network.fault_id = loaded.fault->id;
    loaded.network.metric = metric.name;
    loaded.network.goal = metric.goal;
    loaded.network.fixed_parameters = loaded.fault->fixed_parameters;
  } else {
    loaded.network.fault_id = file.stem().string();
  }
  return loaded;
}

bool same_program(const program::ProgramSpace& space, const program::Parameters& a,
                  const program::Parameters& b) {
  try {
    return program::program_hash(space.instantiate(a)) ==
           program::program_hash(space.instantiate(b));
  } catch (const Error&) {
    return false;  // other keys or values: another subject
  }
}

void require_root(const search::Network& network, const Fault& fault, const std::string& file) {
  if (network.nodes.empty()) throw input_error(describe(file, "", "no rows", "a network"));
  const program::Parameters& root = network.nodes.front().parameters;
  if (same_program(fault.space, root, fault.space.base_parameters())) return;
  throw input_error(describe(file, "root", program::to_string(root),
                             "the buggy program of " + fault.id + ": " +
                                 program::to_string(fault.space.base_parameters())));
}

}  // namespace neutra::experiments
