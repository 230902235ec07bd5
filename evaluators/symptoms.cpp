#include "evaluators/symptoms.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/words.h"
#include "evaluators/symptom_measures.h"

namespace neutra::evaluators {
namespace {

using Condition = SymptomCondition;
using Relation = SymptomCondition::Relation;
using Over = SymptomCondition::Over;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

double over_epochs(const std::vector<double>& values, Over over) {
  switch (over) {
    case Over::kLast:
      return values.empty() ? kNan : values.back();
    case Over::kMedian:
      return median(values);
    case Over::kHighest:
      break;
  }
  double highest = kNan;
  for (const double value : values) highest = std::fmax(highest, value);
  return highest;
}

bool holds(const Condition& condition, double value, double clean) {
  // A clean training that isn't finite is no measure.
  if (is_relative(condition.relation) && !std::isfinite(clean)) return false;
  switch (condition.relation) {
    case Relation::kAtLeast:
      return value >= condition.bound;
    case Relation::kBelow:
      return value < condition.bound;
    case Relation::kRatioAtLeast:
      return clean >= 0 && value > 0 && value >= condition.bound * clean;
    case Relation::kRatioBelow:
      return clean >= 0 && value < condition.bound * clean;
    case Relation::kDifferenceAtLeast:
      return value - clean >= condition.bound;
  }
  return false;
}

/// Position of each layer's partner in the clean training.
std::vector<std::optional<std::size_t>> partners(const std::vector<MonitoredLayer>& layers,
                                                 const std::vector<MonitoredLayer>& clean) {
  std::vector<std::optional<std::size_t>> result(layers.size());
  const std::size_t most = std::min(layers.size(), clean.size());
  std::size_t first = 0;
  for (; first < most && layers[first].class_name == clean[first].class_name; ++first) {
    result[first] = first;
  }
  for (std::size_t last = 1; last <= most - first; ++last) {
    const std::size_t i = layers.size() - last, j = clean.size() - last;
    if (layers[i].class_name != clean[j].class_name) break;
    result[i] = j;
  }
  return result;
}

class Detector {
 public:
  Detector(const MonitoredRun& run, const std::vector<const MonitoredRun*>& clean,
           const SymptomRules& rules)
      : run_(run), clean_(clean), rules_(rules) {
    for (const MonitoredRun* other : clean) {
      partners_.push_back(partners(run.layers, other->layers));
    }
  }

  std::optional<Symptom> find(const SymptomRule& rule) const {
    const SymptomMode mode = clean_.empty() ? SymptomMode::kAbsolute : SymptomMode::kRelative;
    for (const SymptomCase& shown : rule.cases.at(mode)) {
      Symptom symptom;
      symptom.rule = &rule;
      symptom.shown = &shown;
      if (of_run(symptom) && (shown.each.empty() || of_layers(symptom))) return symptom;
    }
    return std::nullopt;
  }

 private:
  bool of_run(Symptom& symptom) const {
    for (const Condition& condition : symptom.shown->run) {
      const RunMeasure& measure = *run_measure(condition.of);
      std::vector<double> clean;
      for (const MonitoredRun* other : clean_) {
        clean.push_back(measure.same_loss && run_.loss != other->loss ? kNan : measure.of(*other));
      }
      const std::optional<SymptomValue> met = judged(condition, measure.of(run_), clean);
      if (!met) return false;
      symptom.values.push_back(*met);
    }
    return true;
  }

  bool of_layers(Symptom& symptom) const {
    const SymptomCase& shown = *symptom.shown;
    const std::vector<std::size_t> looked_at = layers_for(*symptom.rule, shown);
    symptom.looked_at = looked_at.size();
    std::vector<SymptomLayer> beside;
    for (const std::size_t layer : looked_at) {
      if (auto values = met(shown.each, layer)) {
        symptom.layers.push_back(described(layer, std::move(*values)));
      } else if (auto others = met(shown.beside, layer)) {
        beside.push_back(described(layer, std::move(*others)));
      }
    }
    if (symptom.layers.empty() || (!shown.beside.empty() && beside.empty())) return false;
    if (shown.beside_counts) {
      symptom.layers.insert(symptom.layers.end(), beside.begin(), beside.end());
      std::sort(symptom.layers.begin(), symptom.layers.end(),
                [](const auto& a, const auto& b) { return a.index < b.index; });
    }
    const double share =
        static_cast<double>(symptom.layers.size()) / static_cast<double>(looked_at.size());
    return share >= rules_.share_factor() * symptom.rule->share;
  }

  /// Positions of the layers that a case is about.
  std::vector<std::size_t> layers_for(const SymptomRule& rule, const SymptomCase& shown) const {
    std::vector<std::size_t> layers;
    for (std::size_t i = 0; i < run_.layers.size(); ++i) {
      const bool fits = std::all_of(shown.each.begin(), shown.each.end(), [&](const auto& c) {
        const Property property = layer_measure(c.of)->property.value_or(Property::kGradients);
        return run_.layers[i].counts[static_cast<std::size_t>(property)] >= shown.least_values;
      });
      const bool paired = std::all_of(partners_.begin(), partners_.end(),
                                      [&](const auto& partner) { return partner[i]; });
      if (fits && paired) layers.push_back(i);
    }
    if (layers.empty()) return layers;
    if (rule.where == SymptomRule::Where::kEarly) layers.resize((layers.size() + 1) / 2);
    if (rule.where == SymptomRule::Where::kOutput) layers = {layers.back()};
    return layers;
  }

  double value(const Condition& condition, const MonitoredRun& run, std::size_t layer) const {
    const LayerMeasure measure = *layer_measure(condition.of);
    std::vector<double> values;
    for (const MonitoredEpoch& epoch : run.epochs) {
      values.push_back(value_of(measure, epoch, layer, rules_.normal_kurtosis()));
    }
    return over_epochs(values, condition.over);
  }

  /// The values of a layer that meets all conditions.
  std::optional<std::vector<SymptomValue>> met(const std::vector<Condition>& conditions,
                                               std::size_t layer) const {
    if (conditions.empty()) return std::nullopt;
    std::vector<SymptomValue> values;
    for (const Condition& condition : conditions) {
      std::vector<double> clean;
      for (std::size_t i = 0; i < clean_.size() && is_relative(condition.relation); ++i) {
        clean.push_back(value(condition, *clean_[i], *partners_[i][layer]));
      }
      const auto found = judged(condition, value(condition, run_, layer), clean);
      if (!found) return std::nullopt;
      values.push_back(*found);
    }
    return values;
  }

  /// Held against the nearest of the clean values, and so against each. NaNs are none.
  static std::optional<SymptomValue> judged(const Condition& condition, double value,
                                            const std::vector<double>& clean) {
    SymptomValue result{&condition, value, kNan};
    if (is_relative(condition.relation)) {
      const bool below = condition.relation == Relation::kRatioBelow;
      for (const double other : clean) {
        result.clean = below ? std::fmin(result.clean, other) : std::fmax(result.clean, other);
      }
    }
    if (!holds(condition, value, result.clean)) return std::nullopt;
    return result;
  }

  SymptomLayer described(std::size_t layer, std::vector<SymptomValue> values) const {
    const MonitoredLayer& known = run_.layers[layer];
    return {known.index, known.class_name, std::move(values), known.name};
  }

  const MonitoredRun& run_;
  const std::vector<const MonitoredRun*>& clean_;
  const SymptomRules& rules_;
  /// Of each clean training.
  std::vector<std::vector<std::optional<std::size_t>>> partners_;
};

std::string four_digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::string text_of(const std::vector<SymptomValue>& values) {
  std::vector<std::string> texts;
  for (const SymptomValue& value : values) {
    std::string text = value.condition->of + " " + four_digits(value.value);
    if (!std::isnan(value.clean)) text += ", clean " + four_digits(value.clean);
    texts.push_back(text + " (" + value.condition->bound_text() + ")");
  }
  return join(texts, "; ");
}

}  // namespace

std::string Symptom::explanation() const {
  if (layers.empty()) return text_of(values);
  std::vector<std::string> texts;
  if (!values.empty()) texts.push_back(text_of(values));
  for (const SymptomLayer& layer : layers) {
    const std::string title =
        layer.name.empty() ? " (" + layer.class_name + ")" : ", " + layer.name;
    texts.push_back("layer " + std::to_string(layer.index) + title + ": " + text_of(layer.values));
  }
  return std::to_string(layers.size()) + " of " + std::to_string(looked_at) +
         " layers: " + join(texts, "; ");
}

std::vector<Symptom> find_symptoms(const MonitoredRun& run,
                                   const std::vector<const MonitoredRun*>& clean,
                                   const SymptomRules& rules) {
  const Detector detector(run, clean, rules);
  std::vector<Symptom> symptoms;
  for (const SymptomRule& rule : rules.rules()) {
    if (auto symptom = detector.find(rule)) symptoms.push_back(std::move(*symptom));
  }
  return symptoms;
}

std::vector<std::vector<Symptom>> find_all_symptoms(const std::vector<MonitoredRun>& runs,
                                                    const std::vector<MonitoredRun>& clean,
                                                    const SymptomRules& rules) {
  std::vector<std::vector<Symptom>> found;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    std::vector<const MonitoredRun*> others;
    for (std::size_t j = 0; j < clean.size(); ++j) {
      if (j != i || clean.size() == 1) others.push_back(&clean[j]);
    }
    found.push_back(find_symptoms(runs[i], others, rules));
  }
  return found;
}

std::vector<DataFaultScore> rank_data_faults(const std::vector<Symptom>& symptoms,
                                             const SymptomRules& rules) {
  const auto likelihood = [&](int models, bool present) {
    const double share = (models + 1.0) / (rules.models() + 2.0);
    return std::log(present ? share : 1 - share);
  };
  std::vector<DataFaultScore> scores;
  double total = 1;  // clean data
  for (const DataFault& fault : rules.data_faults()) {
    DataFaultScore score{&fault, 0, 0};
    for (const SymptomRule& rule : rules.rules()) {
      const auto reported = rule.prevalence.find(fault.id);
      if (reported == rule.prevalence.end()) continue;
      const bool present =
          std::any_of(symptoms.begin(), symptoms.end(),
                      [&](const Symptom& symptom) { return symptom.rule->id == rule.id; });
      score.log_odds += likelihood(reported->second, present) - likelihood(rule.clean, present);
    }
    score.probability = std::exp(score.log_odds);
    total += score.probability;
    scores.push_back(score);
  }
  for (DataFaultScore& score : scores) score.probability /= total;
  std::stable_sort(scores.begin(), scores.end(),
                   [](const auto& a, const auto& b) { return a.log_odds > b.log_odds; });
  return scores;
}

std::vector<SymptomCount> count_symptoms(const std::vector<std::vector<Symptom>>& faulty,
                                         const std::vector<std::vector<Symptom>>& clean,
                                         const SymptomRules& rules) {
  assert(clean.empty() || clean.size() == faulty.size());
  std::vector<SymptomCount> counts;
  for (const SymptomRule& rule : rules.rules()) {
    const auto shows = [&](const std::vector<Symptom>& symptoms) {
      return std::any_of(symptoms.begin(), symptoms.end(),
                         [&](const Symptom& symptom) { return symptom.rule->id == rule.id; });
    };
    SymptomCount count;
    count.rule = &rule;
    for (std::size_t i = 0; i < faulty.size(); ++i) {
      const bool first = shows(faulty[i]), second = !clean.empty() && shows(clean[i]);
      count.faulty += first ? 1 : 0;
      count.clean += second ? 1 : 0;
      if (!clean.empty()) count.pairs.add(first, second);
    }
    counts.push_back(count);
  }
  return counts;
}

}  // namespace neutra::evaluators
