#include "report/analysis.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "evaluators/fanova.h"
#include "report/changes.h"
#include "training/trainer.h"

namespace neutra::report {
namespace {

/// Shares with four digits: a forest's have no more.
Json rounded(double value) { return std::round(value * 1e4) / 1e4; }

bool is_better(double a, double b, program::Goal goal) {
  return goal == program::Goal::kMaximize ? a > b : a < b;
}

/// Why Keras would refuse a program; "" where the fault is not known, or only its data tell.
std::string refusal(const experiments::Fault* fault, const search::Node& node) {
  if (fault == nullptr) return "";
  try {
    const auto problems = program::validate(fault->space.instantiate(node.parameters).document);
    return problems.empty() ? "" : to_string(problems.front());
  } catch (const Error& error) {
    return error.what();
  }
}

Json evaluated_json(const search::Network& network, bool finished,
                    const experiments::Fault* fault) {
  Json rejected = Json::array();
  std::map<std::string, int> reasons;
  std::int64_t evaluations = 0, waiting = 0, undecided = 0;
  // While a search goes on: parents of whose programs the best are not chosen yet.
  std::set<std::int64_t> open;
  for (const search::Node& node : network.nodes) {
    if (!finished && !is_evaluated(node)) open.insert(node.parent);
  }
  const program::Parameters start =
      network.nodes.empty() ? program::Parameters{} : network.nodes.front().parameters;
  for (const search::Node& node : network.nodes) {
    ++(is_evaluated(node) ? evaluations : waiting);
    if (!is_evaluated(node) || is_kept(node)) continue;
    const Rejection rejection = rejection_of(network, node);
    if (rejection == Rejection::kNotAmongBest && open.contains(node.parent)) {
      ++undecided;
      continue;
    }
    ++reasons[std::string(to_string(rejection))];
    Json metrics = Json::array();
    for (const double metric : node.metrics) metrics.push_back(json_number(metric));
    const std::string detail = rejection == Rejection::kInvalid ? refusal(fault, node) : "";
    rejected.push_back({{"id", node.id},
                        {"parent", node.parent},
                        {"depth", node.depth},
                        {"key", node.mutation.key},
                        {"before", node.mutation.before},
                        {"after", node.mutation.after},
                        {"status", node.status},
                        {"mean", json_number(node.mean)},
                        {"metrics", std::move(metrics)},
                        {"reason", to_string(rejection)},
                        {"detail", detail.empty() ? Json(nullptr) : Json(detail)},
                        {"changes", changes(start, node.parameters)}});
  }
  return {{"evaluations", evaluations},
          {"waiting", waiting},
          {"undecided", undecided},
          {"reasons", reasons},
          {"rejected", std::move(rejected)}};
}

/// Programs with a metric from the worst to the best, as parts of 1: 0 for the worst. Equals share
/// the middle of their places; those that diverged are worse than all others and equal.
std::map<std::int64_t, double> ranks(const search::Network& network) {
  std::vector<std::pair<double, std::int64_t>> order;  // larger is better
  for (const search::Node& node : network.nodes) {
    const auto value = is_evaluated(node) ? outcome(node) : std::nullopt;
    if (!value) continue;
    const double worst = -std::numeric_limits<double>::infinity();
    order.emplace_back(!std::isfinite(*value)                     ? worst
                       : network.goal == program::Goal::kMaximize ? *value
                                                                  : -*value,
                       node.id);
  }
  std::sort(order.begin(), order.end());
  std::map<std::int64_t, double> ranks;
  const double most = std::max(1.0, static_cast<double>(order.size()) - 1);
  for (std::size_t first = 0, end = 0; first < order.size(); first = end) {
    while (end < order.size() && order[end].first == order[first].first) ++end;
    const double middle = static_cast<double>(first + end - 1) / 2;
    for (std::size_t i = first; i < end; ++i) ranks[order[i].second] = middle / most;
  }
  return ranks;
}

/// Of every hyperparameter that was changed: what single changes of it did to a program.
Json effects_json(const search::Network& network, const std::map<std::int64_t, double>& ranks) {
  struct Effect {
    int tried = 0, better = 0, equal = 0, worse = 0, without = 0, kept = 0, repairs = 0;
    double shift = 0;
  };
  std::map<std::string, Effect> effects;
  for (const search::Node& node : network.nodes) {
    const search::Node* parent = network.find(node.parent);
    if (!is_evaluated(node) || parent == nullptr || node.mutation.key.empty()) continue;
    Effect& effect = effects[node.mutation.key];
    ++effect.tried;
    effect.kept += is_kept(node);
    effect.repairs += node.alternative && !parent->alternative;
    const auto own = ranks.find(node.id), from = ranks.find(parent->id);
    if (own == ranks.end() || from == ranks.end()) {
      ++effect.without;
      continue;
    }
    // A curtailed program is worse, whatever its first trainings have.
    const bool worse = node.status == "curtailed" || own->second < from->second;
    ++(worse ? effect.worse : own->second > from->second ? effect.better : effect.equal);
    effect.shift += own->second - from->second;
  }
  Json keys = Json::array();
  for (const auto& [key, effect] : effects) {
    const int counted = effect.tried - effect.without;
    keys.push_back({{"key", key},
                    {"tried", effect.tried},
                    {"better", effect.better},
                    {"equal", effect.equal},
                    {"worse", effect.worse},
                    {"without_metric", effect.without},
                    {"kept", effect.kept},
                    {"repairs", effect.repairs},
                    {"shift", counted > 0 ? rounded(effect.shift / counted) : Json(nullptr)}});
  }
  std::stable_sort(keys.begin(), keys.end(), [](const Json& a, const Json& b) {
    return a["repairs"] != b["repairs"] ? a["repairs"] > b["repairs"] : a["better"] > b["better"];
  });
  return keys;
}

/// Levels of a hyperparameter: numbers in their order, else names in theirs.
struct Levels {
  std::vector<std::string> values;
  bool ordered = false;
  int of(const std::string& value) const {
    return static_cast<int>(std::find(values.begin(), values.end(), value) - values.begin());
  }
};

std::optional<double> number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0' || !std::isfinite(value)) return std::nullopt;
  return value;
}

Levels levels_of(const std::set<std::string>& values) {
  Levels levels{{values.begin(), values.end()}, true};
  for (const std::string& value : levels.values) levels.ordered = levels.ordered && number(value);
  if (levels.ordered) {
    std::stable_sort(
        levels.values.begin(), levels.values.end(),
        [](const std::string& a, const std::string& b) { return *number(a) < *number(b); });
  }
  return levels;
}

Json importance_json(const search::Network& network, const std::map<std::int64_t, double>& ranks) {
  std::map<std::string, std::set<std::string>> seen;
  for (const auto& [id, rank] : ranks) {
    for (const auto& [key, value] : network.find(id)->parameters) seen[key].insert(value);
  }
  evaluators::FanovaTable table;
  std::vector<std::string> keys;
  std::vector<Levels> levels;
  for (const auto& [key, values] : seen) {
    if (values.size() < 2) continue;
    keys.push_back(key);
    levels.push_back(levels_of(values));
    table.factors.push_back({static_cast<int>(values.size()), levels.back().ordered});
  }
  for (const auto& [id, rank] : ranks) {
    const program::Parameters& parameters = network.find(id)->parameters;
    std::vector<int> row;
    for (std::size_t f = 0; f < keys.size(); ++f) {
      const auto at = parameters.find(keys[f]);
      // Each row needs a value of each key. Programs of two subjects in one file have other keys:
      // one that lacks this key counts as if it had the key's first value.
      row.push_back(at == parameters.end() ? 0 : levels[f].of(at->second));
    }
    table.rows.push_back(std::move(row));
    table.values.push_back(rank);
  }
  const std::vector<evaluators::FanovaShare> shares = evaluators::fanova(table);
  std::vector<evaluators::FanovaShare> of_repair;
  const auto is_repair = [&](const auto& one) { return network.find(one.first)->alternative; };
  if (std::any_of(ranks.begin(), ranks.end(), is_repair)) {
    std::transform(ranks.begin(), ranks.end(), table.values.begin(),
                   [&](const auto& one) { return is_repair(one) ? 1.0 : 0.0; });
    of_repair = evaluators::fanova(table);
  }
  Json list = Json::array();
  double sum = 0;
  for (std::size_t f = 0; f < keys.size(); ++f) {
    sum += shares[f].share;
    list.push_back(
        {{"key", keys[f]},
         {"share", rounded(shares[f].share)},
         {"spread", rounded(shares[f].spread)},
         {"repair_share", of_repair.empty() ? Json(nullptr) : rounded(of_repair[f].share)},
         {"repair_spread", of_repair.empty() ? Json(nullptr) : rounded(of_repair[f].spread)},
         {"values", levels[f].values},
         {"ordered", levels[f].ordered}});
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const Json& a, const Json& b) { return a["share"] > b["share"]; });
  return {{"method", "fanova_of_ranks"},
          {"programs", ranks.size()},
          {"together", keys.empty() ? Json(nullptr) : rounded(std::max(0.0, 1 - sum))},
          {"keys", std::move(list)}};
}

}  // namespace

bool is_evaluated(const search::Node& node) { return node.status != "pending"; }

std::optional<double> outcome(const search::Node& node) {
  if (std::isfinite(node.mean)) return node.mean;
  if (node.status != "curtailed" && node.status != "diverged" && node.status != "ok") {
    return std::nullopt;
  }
  if (node.metrics.empty()) return std::nullopt;
  double sum = 0;
  for (const double metric : node.metrics) sum += metric;
  const double mean = sum / static_cast<double>(node.metrics.size());
  return std::isfinite(mean) ? mean : std::numeric_limits<double>::quiet_NaN();
}

bool is_kept(const search::Node& node) { return node.id == 0 || node.queued || node.alternative; }

std::string_view to_string(Rejection rejection) {
  static constexpr std::array<std::string_view, 7> kWords = {
      "invalid", "failed", "diverged", "curtailed", "worse", "no_better", "not_among_best"};
  return kWords[static_cast<std::size_t>(rejection)];
}

Rejection rejection_of(const search::Network& network, const search::Node& node) {
  const auto status = training::parse_run_status(node.status);
  if (status == training::RunStatus::kInvalid) return Rejection::kInvalid;
  if (status && !training::has_metric(*status)) return Rejection::kFailed;
  const auto value = outcome(node);
  if (!value || !std::isfinite(*value)) return Rejection::kDiverged;
  if (node.status == "curtailed") return Rejection::kCurtailed;
  if (node.neutral) return Rejection::kNotAmongBest;
  const search::Node* parent = network.find(node.parent);
  // Of a parent without a mean nothing is worse.
  const bool worse = parent != nullptr && std::isfinite(parent->mean) &&
                     is_better(parent->mean, *value, network.goal);
  return worse ? Rejection::kWorse : Rejection::kNoBetter;
}

std::vector<CourseStep> course(const search::Network& network) {
  std::vector<CourseStep> steps;
  CourseStep now;
  bool shown = false;
  for (const search::Node& node : network.nodes) {
    if (!is_evaluated(node)) continue;
    const CourseStep before = now;
    // Candidates are committed by id, each as one evaluation.
    now.evaluation = node.id + 1;
    now.id = node.id;
    now.repairs += node.alternative;
    if (std::isfinite(node.mean) && (!now.best || is_better(node.mean, *now.best, network.goal))) {
      now.best = node.mean;
    }
    shown = steps.empty() || now.best != before.best || now.repairs != before.repairs;
    if (shown) steps.push_back(now);
  }
  if (!steps.empty() && !shown) steps.push_back(now);
  return steps;
}

Json course_json(const search::Network& network) {
  Json steps = Json::array();
  for (const CourseStep& step : course(network)) {
    steps.push_back({{"evaluation", step.evaluation},
                     {"id", step.id},
                     {"best", json_or_null(step.best)},
                     {"repairs", step.repairs}});
  }
  return steps;
}

void add_analysis(const experiments::NetworkFile& loaded, Json& document) {
  const search::Network& network = loaded.network;
  document["course"] = course_json(network);
  document["evaluated"] = document["effects"] = document["importance"] = nullptr;
  // A file of rows alone says nothing about what was rejected.
  if (loaded.header.empty() || network.nodes.empty()) return;
  const std::map<std::int64_t, double> order = ranks(network);
  document["evaluated"] =
      evaluated_json(network, loaded.finished, loaded.fault ? &*loaded.fault : nullptr);
  document["effects"] = effects_json(network, order);
  document["importance"] = importance_json(network, order);
}

}  // namespace neutra::report
