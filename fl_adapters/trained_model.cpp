#include "fl_adapters/trained_model.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <tuple>

#include "base/error.h"

namespace neutra::fl_adapters {

void check_stop(const LocaliseContext& context) {
  if (context.stop != nullptr && context.stop->load(std::memory_order_relaxed)) {
    throw Error(Exit::kInterrupted, "interrupted");
  }
}

Trouble program_trouble(const FaultyProgram& faulty, const LocaliseContext& context) {
  if (const auto problems = program::validate(faulty.program.document); !problems.empty()) {
    return {LocalisationStatus::kNotApplicable, to_string(problems.front())};
  }
  if (const auto refusal = context.trainer->refusal(faulty.program)) {
    return {LocalisationStatus::kNotApplicable, *refusal};
  }
  for (const Json& step : program::resolve(faulty.program).trained_mutations) {
    if (step.at("op") == "layer_copy" || step.at("op") == "layer_deactivation") {
      return {LocalisationStatus::kNotApplicable,
              "trained.mutations leave a model of other layers than the program's"};
    }
  }
  return {};
}

Localisation with_trouble(Localisation result, const Trouble& trouble) {
  result.status = trouble.status;
  result.reason = trouble.reason;
  result.faults.applicable = trouble.status == LocalisationStatus::kTimeout;
  return result;
}

std::int64_t class_of(std::span<const float> values) {
  if (values.size() == 1) {
    const float value = values.front();
    // NaN and what is beyond any class are one of their own.
    return std::abs(value) < 1e9f ? static_cast<std::int64_t>(std::nearbyint(value)) : -1;
  }
  std::size_t best = values.size();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!std::isnan(values[i]) && (best == values.size() || values[i] > values[best])) best = i;
  }
  return best == values.size() ? 0 : static_cast<std::int64_t>(best);
}

bool same_class(const RowValue& expected, const RowValue& actual) {
  return class_of(expected.values) == class_of(actual.values);
}

bool same_values(const RowValue& expected, const RowValue& actual, double delta) {
  return expected.values.size() == actual.values.size() &&
         std::equal(expected.values.begin(), expected.values.end(), actual.values.begin(),
                    [&](double a, double b) { return std::abs(a - b) <= delta; });
}

void sort_ranking(std::vector<evaluators::Suspect>& ranking) {
  std::sort(ranking.begin(), ranking.end(),
            [](const evaluators::Suspect& a, const evaluators::Suspect& b) {
              return std::tuple(a.neuron >= 0, -a.suspiciousness, a.layer, a.neuron) <
                     std::tuple(b.neuron >= 0, -b.suspiciousness, b.layer, b.neuron);
            });
}

std::set<int> first_layers(const std::vector<evaluators::Suspect>& ranking) {
  std::set<int> first;
  int ranked = 0;
  for (const evaluators::Suspect& suspect : ranking) {
    if (suspect.neuron >= 0) break;
    ++ranked;
    if (suspect.suspiciousness == ranking.front().suspiciousness) first.insert(suspect.layer);
  }
  const bool says_nothing = ranked == 0 || !(ranking.front().suspiciousness > 0) ||
                            (ranked > 1 && static_cast<int>(first.size()) == ranked);
  return says_nothing ? std::set<int>{} : first;
}

void answer_with(Localisation& result, ToolMessage message, std::int64_t last_epoch) {
  message.epochs = {last_epoch};
  if (message.layers.empty()) {
    message.faults.clear();
    message.ignored = "no layer stands out";
  }
  result.messages.push_back(std::move(message));
  result.faults = answer_of(result.messages);
}

std::string work_key(const FaultyProgram& faulty, const LocaliseContext& context) {
  return faulty.program.document.dump() + " " + context.trainer->fingerprint(faulty.program) + " " +
         std::to_string(context.seed) + " " + std::to_string(context.run) + " " +
         std::to_string(context.time_limit) + " " + std::to_string(context.memory_limit) + " " +
         (context.variant == ToolVariant::kRepaired ? "repaired" : "as-published");
}

}  // namespace neutra::fl_adapters
