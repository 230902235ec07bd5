#include "search/options.h"

#include <array>

#include "base/error.h"
#include "program/metric_name.h"
#include "program/vocabulary.h"

namespace neutra::search {
namespace {

template <typename Enum, std::size_t N>
std::optional<Enum> find_word(const std::array<std::string_view, N>& words, std::string_view word) {
  for (std::size_t i = 0; i < N; ++i) {
    if (words[i] == word) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

constexpr std::array<std::string_view, 2> kRules = {"algorithm1", "recorded"};
constexpr std::array<std::string_view, 2> kTieOrders = {"parameters", "spread"};
constexpr std::array<std::string_view, 4> kEnds = {"queue_empty", "evaluation_budget",
                                                   "time_budget", "interrupted"};

struct CounterField {
  const char* name;
  std::int64_t SearchCounters::*field;
};
constexpr CounterField kCounterFields[] = {
    {"evaluations", &SearchCounters::evaluations},
    {"trainings", &SearchCounters::trainings},
    {"trainings_from_store", &SearchCounters::trainings_from_store},
    {"trainings_reused", &SearchCounters::trainings_reused},
    {"trainings_saved_identical", &SearchCounters::trainings_saved_identical},
    {"trainings_saved_curtailed", &SearchCounters::trainings_saved_curtailed},
    {"trainings_fused", &SearchCounters::trainings_fused},
    {"epochs_reused", &SearchCounters::epochs_reused},
    {"epochs_saved_dead", &SearchCounters::epochs_saved_dead},
    {"speculative_trainings", &SearchCounters::speculative_trainings},
    {"invalid", &SearchCounters::invalid},
    {"failed", &SearchCounters::failed},
    {"diverged", &SearchCounters::diverged},
    {"timed_out", &SearchCounters::timed_out},
    {"samples", &SearchCounters::samples}};

template <typename T>
void read(const Json& json, const char* name, T& value) {
  json.at(name).get_to(value);
}

template <typename T>
void read(const Json& json, const char* name, std::optional<T>& value) {
  if (!json.at(name).is_null()) value = json.at(name).get<T>();
}

}  // namespace

std::string_view to_string(Rule rule) { return kRules[static_cast<std::size_t>(rule)]; }
std::optional<Rule> parse_rule(std::string_view word) { return find_word<Rule>(kRules, word); }
std::string_view to_string(TieOrder order) { return kTieOrders[static_cast<std::size_t>(order)]; }
std::optional<TieOrder> parse_tie_order(std::string_view word) {
  return find_word<TieOrder>(kTieOrders, word);
}
std::string_view to_string(SearchEnd end) { return kEnds[static_cast<std::size_t>(end)]; }
std::string_view end_text(SearchEnd end) {
  switch (end) {
    case SearchEnd::kQueueEmpty:
      return "all searched";
    case SearchEnd::kEvaluationBudget:
      return "evaluation budget used up";
    case SearchEnd::kTimeBudget:
      return "time budget used up";
    case SearchEnd::kInterrupted:
      return "interrupted";
  }
  return "";
}
std::optional<SearchEnd> parse_search_end(std::string_view word) {
  return find_word<SearchEnd>(kEnds, word);
}

std::optional<double> metric_bound(std::string_view metric, program::Goal goal) {
  const program::Entry* entry =
      program::find(program::Vocabulary::kMetric, program::parse_metric_name(metric).name);
  if (entry == nullptr || !entry->facts.contains("range")) return std::nullopt;
  const Json& bound = entry->facts["range"].at(goal == program::Goal::kMaximize ? 1 : 0);
  if (bound.is_null()) return std::nullopt;
  return bound.get<double>();
}

std::optional<int> depth_limit(const SearchConfig& config) {
  constexpr int kRecordedDepth = 4;  // no recorded network is deeper
  if (config.max_depth || config.rule != Rule::kRecorded) return config.max_depth;
  return kRecordedDepth;
}

Json to_json(const SearchConfig& config) {
  return {{"preset", to_string(config.preset)},
          {"rule", to_string(config.rule)},
          {"ties", to_string(config.ties)},
          {"improve", config.improve},
          {"top_k", config.top_k},
          {"replicas", config.replicas},
          {"max_depth", json_or_null(config.max_depth)},
          {"budget_evaluations", json_or_null(config.budget_evaluations)},
          {"budget_seconds", json_or_null(config.budget_seconds)},
          {"ground_truth_metric", json_or_null(config.ground_truth_metric)},
          {"seed", config.seed},
          {"time_limit", config.time_limit},
          {"memory_limit", config.memory_limit},
          {"fingerprint", config.fingerprint}};
}

const Json& fields_of_older_stores() {
  static const Json fields = {{"ties", to_string(TieOrder::kParameters)}, {"improve", false}};
  return fields;
}

SearchConfig search_config_from_json(const Json& stored, const std::string& file) {
  SearchConfig config;
  Json json = fields_of_older_stores();
  if (stored.is_object()) json.update(stored);
  const auto unknown = [&](const char* place, const std::string& found, const char* allowed) {
    return input_error(describe(file, place, "'" + found + "'", allowed));
  };
  try {
    const auto preset = json.at("preset").get<std::string>();
    const auto rule = json.at("rule").get<std::string>();
    const auto known_preset = mutators::parse_preset(preset);
    const auto known_rule = parse_rule(rule);
    if (!known_preset) throw unknown("preset", preset, "paper, keras");
    if (!known_rule) throw unknown("rule", rule, "algorithm1, recorded");
    const auto ties = json.at("ties").get<std::string>();
    const auto known_ties = parse_tie_order(ties);
    if (!known_ties) throw unknown("ties", ties, "parameters, spread");
    config.preset = *known_preset;
    config.rule = *known_rule;
    config.ties = *known_ties;
    read(json, "improve", config.improve);
    read(json, "top_k", config.top_k);
    read(json, "replicas", config.replicas);
    read(json, "max_depth", config.max_depth);
    read(json, "budget_evaluations", config.budget_evaluations);
    read(json, "budget_seconds", config.budget_seconds);
    read(json, "ground_truth_metric", config.ground_truth_metric);
    read(json, "seed", config.seed);
    read(json, "time_limit", config.time_limit);
    read(json, "memory_limit", config.memory_limit);
    read(json, "fingerprint", config.fingerprint);
  } catch (const Json::exception& error) {
    throw input_error(
        describe(file, "config", error.what(), "the fields of docs/formats/store.md"));
  }
  return config;
}

Json to_json(const SearchCounters& counters) {
  Json json = Json::object();
  for (const auto& [name, field] : kCounterFields) json[name] = counters.*field;
  json["seconds"] = counters.seconds;
  json["total_seconds"] = counters.total_seconds;
  return json;
}

SearchCounters search_counters_from_json(const Json& json) {
  SearchCounters counters;
  for (const auto& [name, field] : kCounterFields)
    counters.*field = json.value(name, std::int64_t{0});
  counters.seconds = json.value("seconds", 0.0);
  counters.total_seconds = json.value("total_seconds", 0.0);
  return counters;
}

Json to_json(const Minimising& minimising) {
  return {{"budget", json_or_null(minimising.budget)},
          {"end", to_string(minimising.end)},
          {"counters", to_json(minimising.counters)}};
}

Minimising minimising_from_json(const Json& json) {
  Minimising minimising;
  read(json, "budget", minimising.budget);
  minimising.end = parse_search_end(json.at("end").get<std::string>()).value_or(minimising.end);
  minimising.counters = search_counters_from_json(json.at("counters"));
  return minimising;
}

}  // namespace neutra::search
