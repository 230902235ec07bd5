#include "cli/repair_list.h"

#include <algorithm>
#include <map>
#include <vector>

#include "cli/texts.h"
#include "evaluators/statistics.h"
#include "experiments/network_file.h"

namespace neutra::cli {
namespace {

/// "30, of which 12 are 1-minimal and 15 are not; of 3 it is not known (...)"
std::string minimal_text(const search::RepairCounts& counts) {
  const auto are = [](std::int64_t number) {
    return std::to_string(number) + (number == 1 ? " is" : " are");
  };
  std::string text = std::to_string(counts.minimal + counts.not_minimal + counts.unknown) +
                     ", of which " + are(counts.minimal) + " 1-minimal and " +
                     are(counts.not_minimal) + " not";
  if (counts.unknown > 0)
    text += "; of " + std::to_string(counts.unknown) +
            " it is not known (neutra search --minimise finds out)";
  return text;
}

/// Where a repair stands among the others.
std::string place_text(const search::RepairSize& size) {
  if (size.is_folded()) return "adds to " + search::node_name(*size.within);
  if (size.folded == 0) return "";
  return "+ " + std::to_string(size.folded) + (size.folded == 1 ? " that adds" : " that add") +
         " changes";
}

}  // namespace

std::string changes_text(const program::Parameters& from, const program::Parameters& to) {
  std::string text;
  for (const std::string& key : search::changed_keys(from, to))
    text += (text.empty() ? "" : ", ") + key + " " + from.at(key) + "->" + to.at(key);
  return text.empty() ? "(none)" : text;
}

std::string repair_list(const search::Network& network, const experiments::Fault* fault,
                        const ListLimit& limit) {
  const std::vector<search::RepairSize> sizes = experiments::repairs_by_size(network, fault);
  const program::Parameters& buggy = network.nodes.front().parameters;
  std::string text =
      "Repairs: " + minimal_text(search::count(sizes)) +
      ".\n1-minimal: no single change can be taken back. Those come first, the fewest changes and "
      "the best first" +
      (network.improve                 ? " (p and d: against the buggy program)"
       : network.fixed_metrics.empty() ? ""
                                       : " (* significantly better than the known fix)") +
      ".\n";
  std::vector<std::string> columns = {"", network.metric, "node"};
  if (network.improve) columns.insert(columns.end(), {"p", "d"});
  columns.insert(columns.end(), {"1-minimal", "change from the buggy program",
                                 fault ? "faults repaired" : "", "with more changes"});
  TextTable table(columns);
  const auto shown = std::count_if(sizes.begin(), sizes.end(), [&](const search::RepairSize& size) {
    return limit.folded || !size.is_folded();
  });
  std::map<std::string, int> changed;
  std::size_t listed = 0;
  for (const search::RepairSize& size : sizes) {
    const search::Node& node = *size.node;
    for (const std::string& key : search::changed_keys(buggy, node.parameters)) ++changed[key];
    if (size.is_folded() && !limit.folded) continue;
    if (++listed > limit.most && limit.most > 0) continue;  // its changes count below
    std::string types;
    if (fault)
      types = to_string(program::diff(fault->buggy, fault->space.instantiate(node.parameters)));
    std::vector<std::string> row = {node.significant && !network.improve ? "*" : "",
                                    rounded(node.mean), search::node_name(node)};
    if (network.improve) row.insert(row.end(), {evaluators::p_text(node.p), rounded(node.d)});
    row.insert(row.end(), {!size.minimal   ? "?"
                           : *size.minimal ? "yes"
                                           : "no",
                           changes_text(buggy, node.parameters), types, place_text(size)});
    table.add(row);
  }
  text += table.text();
  const bool more = limit.most > 0 && listed > limit.most;
  if (more) text += "and " + std::to_string(listed - limit.most) + " more";
  if (const auto folded = static_cast<std::int64_t>(sizes.size()) - shown; folded > 0)
    text += (more ? ", besides the " : "Not listed: ") + std::to_string(folded) +
            (folded == 1 ? " that only adds" : " that only add") + " changes to one of these";
  if (text.back() != '\n') text += limit.command.empty() ? "\n" : ": " + limit.command + "\n";
  std::vector<std::pair<int, std::string>> counts;
  for (const auto& [key, count] : changed) counts.emplace_back(-count, key);
  std::sort(counts.begin(), counts.end());
  text += "\nChanged in the repairs: ";
  for (std::size_t i = 0; i < counts.size(); ++i)
    text += (i ? ", " : "") + counts[i].second + " in " + std::to_string(-counts[i].first);
  return text + "\n";
}

}  // namespace neutra::cli
