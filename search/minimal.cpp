#include "search/minimal.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <set>
#include <utility>

#include "base/error.h"

namespace neutra::search {
namespace {

bool at_least_as_good(double a, double b, program::Goal goal) {
  return goal == program::Goal::kMaximize ? a >= b : a <= b;
}

/// Does the buggy program repair itself? Where no level is known, it does if it is as good as a
/// program that does.
bool buggy_repairs(const Network& network) {
  const Node& buggy = network.nodes.front();
  if (network.improve) return false;  // it is no better than itself
  if (network.ground_truth) {
    return at_least_as_good(buggy.mean, *network.ground_truth, network.goal);
  }
  return std::any_of(network.nodes.begin(), network.nodes.end(), [&](const Node& node) {
    return node.alternative && at_least_as_good(buggy.mean, node.mean, network.goal);
  });
}

using Changes = std::vector<std::pair<std::string, std::string>>;

Changes changes_of(const program::Parameters& buggy, const program::Parameters& parameters) {
  Changes changes;
  for (const std::string& key : changed_keys(buggy, parameters)) {
    changes.emplace_back(key, parameters.at(key));
  }
  return changes;
}

}  // namespace

bool reaches_unlisted(const Network& network, const Node& node) {
  if (node.alternative) return false;
  if (&node == &network.nodes.front()) return buggy_repairs(network);
  if (!node.neutral || node.queued) return false;
  if (network.improve) return node.significant;
  return network.ground_truth && at_least_as_good(node.mean, *network.ground_truth, network.goal);
}

std::vector<std::string> changed_keys(const program::Parameters& buggy,
                                      const program::Parameters& parameters) {
  std::vector<std::string> keys;
  for (const auto& [key, value] : parameters) {
    const auto before = buggy.find(key);
    if (before != buggy.end() && before->second != value) keys.push_back(key);
  }
  return keys;
}

program::Parameters taken_back(const program::Parameters& buggy, program::Parameters parameters,
                               const std::string& key) {
  parameters[key] = buggy.at(key);
  return parameters;
}

KnownPrograms::KnownPrograms(const Network& network, const SearchSpace* space)
    : network_(network), space_(space) {
  for (const Node& node : network.nodes) add(node);
  for (const Node& node : network.subpatches) add(node);
}

KnownPrograms::Verdict KnownPrograms::verdict_of(const Node& node) const {
  if (node.alternative || reaches_unlisted(network_, node)) return Verdict::kRepair;
  return node.status == "pending" ? Verdict::kUnknown : Verdict::kNoRepair;
}

void KnownPrograms::add(const Node& node) {
  const Verdict verdict = verdict_of(node);
  Entry& entry = by_string_[program::to_string(node.parameters)];
  entry.verdict = std::max(entry.verdict, verdict);
  // A network from a TSV has no hashes.
  if (node.hash != Hash{}) {
    entry.hash = node.hash;
    entry.hashed = true;
  }
  if (const auto program = hash(node.parameters)) {
    Verdict& known = by_hash_[*program];
    known = std::max(known, verdict);
  }
}

KnownPrograms::Entry& KnownPrograms::entry(const program::Parameters& parameters) {
  Entry& entry = by_string_[program::to_string(parameters)];
  if (!entry.hashed && space_ != nullptr) {
    entry.hashed = true;
    try {
      entry.hash = space_->hash(space_->program(parameters));
    } catch (const Error&) {
      entry.verdict = std::max(entry.verdict, Verdict::kNoRepair);
    }
  }
  return entry;
}

std::optional<Hash> KnownPrograms::hash(const program::Parameters& parameters) {
  return entry(parameters).hash;
}

KnownPrograms::Verdict KnownPrograms::verdict(const program::Parameters& parameters) {
  const Entry& found = entry(parameters);
  if (!found.hash) return found.verdict;
  const auto known = by_hash_.find(*found.hash);
  return known == by_hash_.end() ? found.verdict : std::max(found.verdict, known->second);
}

std::vector<RepairSize> repair_sizes(const Network& network, KnownPrograms& known) {
  using Verdict = KnownPrograms::Verdict;
  if (network.nodes.empty()) return {};
  const Node& buggy = network.nodes.front();
  std::vector<const Node*> repairs = network.alternatives();
  std::set<program::Parameters> listed;
  for (const Node* node : repairs) listed.insert(node->parameters);
  for (const Node& node : network.subpatches) {  // a search that went on may have found it, too
    if (node.alternative && !listed.contains(node.parameters)) repairs.push_back(&node);
  }
  const bool hopeless = known.verdict(buggy.parameters) == Verdict::kRepair;

  std::vector<RepairSize> sizes;
  std::map<const Node*, Changes> changes;
  for (const Node* node : repairs) {
    RepairSize size;
    size.node = node;
    Changes& own = changes[node] = changes_of(buggy.parameters, node->parameters);
    size.changes = static_cast<int>(own.size());
    bool repaired = hopeless, open = false;
    const auto program = known.hash(node->parameters);
    for (auto change = own.begin(); change != own.end() && !repaired; ++change) {
      const program::Parameters smaller =
          taken_back(buggy.parameters, node->parameters, change->first);
      const Verdict verdict = known.verdict(smaller);
      // The same program: the change does nothing.
      repaired = verdict == Verdict::kRepair || (program && program == known.hash(smaller));
      open = open || verdict == Verdict::kUnknown;
    }
    if (repaired) {
      size.minimal = false;
    } else if (!open) {
      size.minimal = true;
    }
    sizes.push_back(size);
  }

  const auto goodness = [&](const Node* node) {
    if (std::isnan(node->mean)) return -std::numeric_limits<double>::infinity();
    return network.goal == program::Goal::kMaximize ? node->mean : -node->mean;
  };
  // Sub-patches have negative ids: of equally good ones those that the search found come first.
  const auto name = [](const Node* node) { return std::pair(node->id < 0, std::abs(node->id)); };
  const auto rank = [](const RepairSize& size) {
    return size.minimal == true ? 0 : size.minimal ? 2 : 1;
  };
  const auto smaller = [&](const RepairSize& a, const RepairSize& b) {
    if (a.changes != b.changes) return a.changes < b.changes;
    const double first = goodness(a.node), second = goodness(b.node);
    if (first != second) return first > second;
    return name(a.node) < name(b.node);
  };
  std::sort(sizes.begin(), sizes.end(), [&](const RepairSize& a, const RepairSize& b) {
    return a.changes != b.changes || rank(a) == rank(b) ? smaller(a, b) : rank(a) < rank(b);
  });
  // The smallest repair within another one holds none itself, so those alone are looked at.
  std::vector<std::size_t> heads;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const Changes& own = changes[sizes[i].node];
    const auto head = std::find_if(heads.begin(), heads.end(), [&](std::size_t other) {
      const Changes& within = changes[sizes[other].node];
      return within.size() < own.size() &&
             std::includes(own.begin(), own.end(), within.begin(), within.end());
    });
    if (head == heads.end()) {
      heads.push_back(i);
      continue;
    }
    sizes[i].within = sizes[*head].node;
    if (sizes[i].is_folded()) ++sizes[*head].folded;
  }
  std::stable_sort(sizes.begin(), sizes.end(), [&](const RepairSize& a, const RepairSize& b) {
    const auto place = [&](const RepairSize& size) { return size.is_folded() ? 3 : rank(size); };
    return place(a) != place(b) ? place(a) < place(b) : smaller(a, b);
  });
  return sizes;
}

std::vector<RepairSize> repair_sizes(const Network& network, const SearchSpace* space) {
  if (network.nodes.empty()) return {};
  KnownPrograms known(network, space);
  return repair_sizes(network, known);
}

RepairCounts count(const std::vector<RepairSize>& sizes) {
  RepairCounts counts;
  for (const RepairSize& size : sizes) {
    ++(!size.minimal ? counts.unknown : *size.minimal ? counts.minimal : counts.not_minimal);
  }
  return counts;
}

Json to_json(const RepairCounts& counts) {
  return {{"minimal", counts.minimal},
          {"not_minimal", counts.not_minimal},
          {"unknown", counts.unknown}};
}

std::string node_name(const Node& node) {
  return node.id < 0 ? "m" + std::to_string(-node.id) : std::to_string(node.id);
}

Json node_id(const Node& node) { return node.id < 0 ? Json(node_name(node)) : Json(node.id); }

Json to_json(const RepairSize& size) {
  return {{"minimal", json_or_null(size.minimal)},
          {"changes", size.changes},
          {"within", size.within != nullptr ? node_id(*size.within) : Json(nullptr)}};
}

}  // namespace neutra::search
