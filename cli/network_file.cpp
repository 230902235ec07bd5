#include "cli/network_file.h"

#include <iostream>

#include "cli/context.h"
#include "cli/network_text.h"
#include "program/error.h"
#include "search/search.h"

namespace neutra::cli {

NetworkFile read_network_file(const std::filesystem::path& file,
                              const std::optional<std::string>& fault) {
  NetworkFile loaded;
  if (fault) loaded.fault = load_fault(*fault);
  if (file.extension() != ".tsv") {
    StoredRun run = read_store(file);
    if (!run.finished)
      std::cerr << "neutra: " << file.string()
                << ": the search isn't finished; this is its network so far\n";
    loaded.network = std::move(run.network);
    if (!loaded.fault) {
      try {
        loaded.fault = load_fault(loaded.network.fault_id);
        // A user's fault may have a bundled fault's id, or may have been edited since.
        if (to_string(program_hash(loaded.fault->buggy)) != run.header.value("program", ""))
          loaded.fault.reset();
      } catch (const Error&) {
        // A user's own fault file that is elsewhere now: the network stands without it.
      }
    }
    return loaded;
  }
  loaded.network = read_network_tsv(file);
  if (!loaded.fault && !loaded.network.nodes.empty())
    loaded.fault = fault_of_root(loaded.network.nodes.front().parameters);
  if (loaded.fault) {
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

}  // namespace neutra::cli
