#include "report/comparison.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "report/analysis.h"
#include "report/changes.h"

namespace neutra::report {
namespace {

/// What a program is told by in all searches: its hash, or else its parameters. The searches may
/// spell values in several ways.
std::string identity(const experiments::NetworkFile& loaded, const experiments::Fault* fault,
                     const search::Node& node) {
  if (!loaded.header.empty() && node.hash != Hash{}) return to_string(node.hash);
  if (fault != nullptr) {
    try {
      return to_string(program::program_hash(fault->space.instantiate(node.parameters)));
    } catch (const Error&) {
      // No program of this fault: by its parameters.
    }
  }
  return program::to_string(node.parameters);
}

/// "buggy", "significantly_better", "on_par" or "neutral", as in the network; "waiting" for one
/// that was not evaluated; else why it was rejected: "worse", "diverged", ...
std::string outcome_word(const search::Network& network, const search::Node& node) {
  if (node.id == 0) return "buggy";
  if (node.alternative) return node.significant ? "significantly_better" : "on_par";
  if (is_kept(node)) return "neutral";
  return is_evaluated(node) ? std::string(to_string(rejection_of(network, node))) : "waiting";
}

Json search_json(const ComparedSearch& one) {
  const experiments::NetworkFile& loaded = *one.search;
  const search::Network& network = loaded.network;
  const bool is_store = !loaded.header.empty();
  std::int64_t evaluations = 0;
  for (const search::Node& node : network.nodes) evaluations += is_evaluated(node);
  const std::vector<CourseStep> steps = course(network);
  const search::RepairCounts sizes =
      search::count(experiments::repairs_by_size(network, loaded.fault ? &*loaded.fault : nullptr));
  return {
      {"file", std::filesystem::path(one.file).filename().string()},
      {"finished", loaded.finished},
      {"end", is_store && loaded.finished ? Json(to_string(loaded.end)) : Json(nullptr)},
      {"complete", is_store},
      {"evaluations", evaluations},
      {"seconds", is_store ? Json(loaded.counters.total_seconds) : Json(nullptr)},
      {"ground_truth", network.ground_truth ? json_number(*network.ground_truth) : Json(nullptr)},
      {"best", steps.empty() || !steps.back().best ? Json(nullptr) : Json(*steps.back().best)},
      {"repairs", network.alternatives().size()},
      {"minimal", sizes.minimal},
      {"only_here", 0},
      {"course", course_json(network)}};
}

/// Settings of which the searches differ, with the value of each; null: its file has none.
Json differing_settings(const std::vector<ComparedSearch>& searches) {
  std::set<std::string> names;
  const auto config_of = [](const ComparedSearch& one) {
    const Json* config = member(one.search->header, "config");
    return config != nullptr && config->is_object() ? *config : Json::object();
  };
  for (const ComparedSearch& one : searches) {
    const Json config = config_of(one);
    for (const auto& [name, value] : config.items()) names.insert(name);
  }
  Json settings = Json::array();
  for (const std::string& name : names) {
    Json values = Json::array();
    for (const ComparedSearch& one : searches) {
      const Json config = config_of(one);
      values.push_back(config.contains(name) ? config[name] : Json(nullptr));
    }
    if (std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>()) != values.end()) {
      settings.push_back({{"name", name}, {"values", std::move(values)}});
    }
  }
  return settings;
}

/// The first parameters of one program that another lacks or has with another value.
std::string differing(const program::Parameters& of, const program::Parameters& from) {
  constexpr std::size_t kShown = 3;
  std::string text;
  std::size_t count = 0;
  for (const auto& [name, value] : of) {
    const auto its = from.find(name);
    if (its != from.end() && its->second == value) continue;
    if (++count <= kShown) text += (text.empty() ? "" : ", ") + name + "=" + value;
  }
  return count > kShown ? text + ", ..." : text;
}

/// A buggy program by its fault and what is its own: "D7 (lr=0.1)".
std::string program_text(const search::Network& network, const std::string& own) {
  return network.fault_id + (own.empty() ? "" : " (" + own + ")");
}

void require_alike(const ComparedSearch& first, const ComparedSearch& other) {
  const search::Network &a = first.search->network, &b = other.search->network;
  const auto refuse = [&](const char* what, const std::string& found, const std::string& allowed) {
    throw input_error(describe(
        other.file, what, found,
        allowed + ", as in " + first.file + ": searches of one buggy program are compared"));
  };
  if (a.nodes.empty() || b.nodes.empty()) {
    throw input_error(describe(a.nodes.empty() ? first.file : other.file, "", "no program yet",
                               "a search that has evaluated its buggy program"));
  }
  const experiments::Fault* fault = first.search->fault ? &*first.search->fault : nullptr;
  const search::Node &root = a.nodes.front(), &its = b.nodes.front();
  if (identity(*first.search, fault, root) != identity(*other.search, fault, its)) {
    refuse("root", program_text(b, differing(its.parameters, root.parameters)),
           program_text(a, differing(root.parameters, its.parameters)));
  }
  if (a.metric != b.metric) refuse("metric", b.metric, a.metric);
  if (a.goal != b.goal) {
    refuse("goal", std::string(program::to_string(b.goal)),
           std::string(program::to_string(a.goal)));
  }
}

}  // namespace

Json comparison_json(const std::vector<ComparedSearch>& searches) {
  for (std::size_t i = 1; i < searches.size(); ++i) require_alike(searches.front(), searches[i]);
  const experiments::Fault* fault =
      searches.front().search->fault ? &*searches.front().search->fault : nullptr;
  const program::Parameters& start = searches.front().search->network.nodes.front().parameters;

  std::vector<std::map<std::string, const search::Node*>> known(searches.size());
  std::map<std::string, const search::Node*> repairs;  // by what they are: their first node
  for (std::size_t i = 0; i < searches.size(); ++i) {
    for (const search::Node& node : searches[i].search->network.nodes) {
      const std::string own = identity(*searches[i].search, fault, node);
      const search::Node*& place = known[i][own];
      // Two nodes of a search can be one program: a repair stands for it.
      if (place == nullptr || (node.alternative && !place->alternative)) place = &node;
      if (node.alternative) repairs.emplace(own, &node);
    }
  }
  Json list = Json::array();
  for (const ComparedSearch& one : searches) list.push_back(search_json(one));
  Json rows = Json::array();
  std::int64_t common = 0;
  for (const auto& [own, first] : repairs) {
    Json in = Json::array();
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < searches.size(); ++i) {
      const auto at = known[i].find(own);
      if (at == known[i].end()) {
        in.push_back(nullptr);
        continue;
      }
      const search::Node& node = *at->second;
      in.push_back({{"id", node.id},
                    {"mean", json_number(node.mean)},
                    {"outcome", outcome_word(searches[i].search->network, node)}});
      if (node.alternative) found.push_back(i);
    }
    common += found.size() == searches.size();
    if (found.size() == 1) {
      Json& only = list[found.front()]["only_here"];
      only = only.get<std::int64_t>() + 1;
    }
    rows.push_back({{"changes", changes(start, first->parameters)},
                    {"found_in", found.size()},
                    {"in", std::move(in)}});
  }
  // Those of most searches first, then the smallest.
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    if (a["found_in"] != b["found_in"]) return a["found_in"] > b["found_in"];
    if (a["changes"].size() != b["changes"].size()) {
      return a["changes"].size() < b["changes"].size();
    }
    return a["changes"].dump() < b["changes"].dump();
  });
  return {{"searches", std::move(list)},
          {"settings", differing_settings(searches)},
          {"common", common},
          {"repairs", std::move(rows)}};
}

}  // namespace neutra::report
