#include "search/store_check.h"

#include <cmath>

#include "base/error.h"
#include "search/minimal.h"
#include "search/store_reader.h"
#include "search/store_replay.h"

namespace neutra::search {

std::vector<std::string> check_store(const std::filesystem::path& store) {
  std::vector<std::string> problems;
  StoreContent content;
  try {
    content = load_existing_store(store);
  } catch (const Error& error) {
    return {error.what()};
  }
  if (const auto problem = journal_problem(content, store)) problems.push_back(*problem);
  for (const auto* nodes : {&content.network.nodes, &content.network.subpatches}) {
    for (const Node& node : *nodes) {
      for (std::size_t replica = 0; replica < node.metrics.size(); ++replica) {
        const auto found = content.evaluations.find({node.hash, static_cast<int>(replica)});
        const double metric = node.metrics[replica];
        const bool same = found != content.evaluations.end() &&
                          (found->second.metric == metric ||
                           (std::isnan(found->second.metric) && std::isnan(metric)));
        // Results that came from another store are in the node only.
        if (found != content.evaluations.end() && !same) {
          problems.push_back(store.string() + ": node " + node_name(node) + ", replica " +
                             std::to_string(replica) +
                             ": its metric is not that of its evaluation");
        }
      }
    }
  }
  return problems;
}

}  // namespace neutra::search
