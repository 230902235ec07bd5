#include "evaluators/symptoms.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/json_section.h"
#include "base/numbers.h"
#include "base/words.h"
#include "evaluators/embedded.h"

namespace neutra::evaluators {
namespace {

using Condition = SymptomCondition;
using Comparison = SymptomCondition::Comparison;
using Over = SymptomCondition::Over;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNormalKurtosis = 3;  // Pearson's, of a normal distribution

constexpr std::array<std::pair<const char*, Comparison>, 5> kComparisons{
    {{"at_least", Comparison::kAtLeast},
     {"below", Comparison::kBelow},
     {"ratio_at_least", Comparison::kRatioAtLeast},
     {"ratio_below", Comparison::kRatioBelow},
     {"difference_at_least", Comparison::kDifferenceAtLeast}}};
constexpr std::array<std::pair<std::string_view, Over>, 3> kOvers{
    {{"last", Over::kLast}, {"median", Over::kMedian}, {"highest", Over::kHighest}}};
constexpr std::array<std::pair<std::string_view, SymptomRule::Where>, 3> kWheres{
    {{"all", SymptomRule::Where::kAll},
     {"early", SymptomRule::Where::kEarly},
     {"output", SymptomRule::Where::kOutput}}};

template <typename Table>
auto find_word(const Table& table, std::string_view word) {
  return std::find_if(table.begin(), table.end(),
                      [&](const auto& entry) { return entry.first == word; });
}
template <typename Table>
std::string words_of(const Table& table) {
  std::vector<std::string> words;
  for (const auto& entry : table) words.emplace_back(entry.first);
  return join(words);
}

bool is_relative(Comparison comparison) { return comparison >= Comparison::kRatioAtLeast; }

// What conditions are about.

constexpr std::string_view kDead = "dead";

/// A number that each epoch has of each layer.
struct LayerMeasure {
  std::optional<Property> property;  ///< nullopt: the share of dead neurons
  enum class Of { kAggregate, kMaxAbs, kSpan } of{};
  Aggregate aggregate{};
  bool magnitude = false;
};

std::optional<LayerMeasure> layer_measure(std::string_view word) {
  LayerMeasure measure;
  if (word.size() > 2 && word.front() == '|' && word.back() == '|') {
    measure.magnitude = true;
    word = word.substr(1, word.size() - 2);
  }
  if (word == kDead) return measure;
  const std::size_t dot = word.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  for (const Property property : {Property::kGradients, Property::kWeights, Property::kBiases}) {
    if (word.substr(0, dot) == to_string(property)) measure.property = property;
  }
  if (!measure.property) return std::nullopt;
  const std::string_view name = word.substr(dot + 1);
  if (name == "max_abs") {
    measure.of = LayerMeasure::Of::kMaxAbs;
  } else if (name == "span") {
    measure.of = LayerMeasure::Of::kSpan;
  } else if (const auto aggregate = parse_aggregate(name)) {
    measure.aggregate = *aggregate;
  } else {
    return std::nullopt;
  }
  return measure;
}

double max_abs(const Aggregates& values) {
  if (values[Aggregate::kNonfinite] > 0) return kInfinity;
  return std::max(std::abs(values[Aggregate::kMax]), std::abs(values[Aggregate::kMin]));
}

double value_of(const LayerMeasure& measure, const MonitoredEpoch& epoch, std::size_t layer,
                double normal_kurtosis) {
  double value = epoch.dead[layer];
  if (measure.property) {
    const Aggregates& values = epoch.layers[layer][static_cast<std::size_t>(*measure.property)];
    switch (measure.of) {
      case LayerMeasure::Of::kMaxAbs:
        value = max_abs(values);
        break;
      case LayerMeasure::Of::kSpan:
        value = max_abs(values) / values[Aggregate::kMinAbs];
        break;
      case LayerMeasure::Of::kAggregate:
        value = values[measure.aggregate];
        if (measure.aggregate == Aggregate::kKurt) value -= kNormalKurtosis - normal_kurtosis;
        break;
    }
  }
  return measure.magnitude ? std::abs(value) : value;
}

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

std::vector<double> log_of(const MonitoredRun& run, const std::string& name) {
  std::vector<double> values;
  for (const MonitoredEpoch& epoch : run.epochs) {
    const auto it = epoch.logs.find(name);
    if (it != epoch.logs.end()) values.push_back(it->second);
  }
  return values;
}

/// Mean magnitude of the last layer's gradients over that of the first layer's: its median over the
/// epochs. NaN with fewer than two layers.
double gradient_drop(const MonitoredRun& run) {
  std::vector<std::size_t> layers;
  for (std::size_t i = 0; i < run.layers.size(); ++i) {
    if (run.layers[i].counts[static_cast<std::size_t>(Property::kGradients)] > 0) {
      layers.push_back(i);
    }
  }
  if (layers.size() < 2) return kNan;
  std::vector<double> drops;
  for (const MonitoredEpoch& epoch : run.epochs) {
    const auto mean_abs = [&](std::size_t layer) {
      return epoch
          .layers[layer][static_cast<std::size_t>(Property::kGradients)][Aggregate::kMeanAbs];
    };
    drops.push_back(mean_abs(layers.back()) / mean_abs(layers.front()));
  }
  return median(std::move(drops));
}

/// How far the loss falls below that of the first epoch, as a share of it. NaN with fewer than two
/// epochs; minus infinity where the loss is never finite again.
double improvement(const MonitoredRun& run) {
  const std::vector<double> losses = log_of(run, "loss");
  if (losses.size() < 2) return kNan;
  double lowest = kInfinity;
  for (std::size_t i = 1; i < losses.size(); ++i) {
    if (std::isfinite(losses[i])) lowest = std::min(lowest, losses[i]);
  }
  if (!std::isfinite(losses.front()) || !std::isfinite(lowest)) return -kInfinity;
  return (losses.front() - lowest) / std::abs(losses.front());
}

/// Over the epochs; infinite where one isn't finite.
double mean_log(const MonitoredRun& run, const std::string& name) {
  const std::vector<double> values = log_of(run, name);
  if (values.empty()) return kNan;
  double sum = 0;
  for (const double value : values) sum += std::isfinite(value) ? value : kInfinity;
  return sum / static_cast<double>(values.size());
}

/// Validation loss less training loss at the end, as a share of the first epoch's training loss.
double overfit_gap(const MonitoredRun& run) {
  const std::vector<double> losses = log_of(run, "loss"), validation = log_of(run, "val_loss");
  if (losses.empty() || validation.empty()) return kNan;
  return (validation.back() - losses.back()) / std::abs(losses.front());
}

struct RunMeasure {
  const char* name;
  double (*of)(const MonitoredRun&);
  bool same_loss;  ///< can be compared between trainings with the same loss alone
};
constexpr std::array<RunMeasure, 5> kRunMeasures{
    {{"gradient_drop", gradient_drop, false},
     {"improvement", improvement, false},
     {"mean_loss", [](const MonitoredRun& run) { return mean_log(run, "loss"); }, true},
     {"mean_val_loss", [](const MonitoredRun& run) { return mean_log(run, "val_loss"); }, true},
     {"overfit_gap", overfit_gap, false}}};

const RunMeasure* run_measure(std::string_view word) {
  const auto it = std::find_if(kRunMeasures.begin(), kRunMeasures.end(),
                               [&](const RunMeasure& measure) { return measure.name == word; });
  return it == kRunMeasures.end() ? nullptr : &*it;
}

bool holds(const Condition& condition, double value, double clean) {
  // A clean training that isn't finite is no measure.
  if (is_relative(condition.comparison) && !std::isfinite(clean)) return false;
  switch (condition.comparison) {
    case Comparison::kAtLeast:
      return value >= condition.bound;
    case Comparison::kBelow:
      return value < condition.bound;
    case Comparison::kRatioAtLeast:
      return clean >= 0 && value > 0 && value >= condition.bound * clean;
    case Comparison::kRatioBelow:
      return clean >= 0 && value < condition.bound * clean;
    case Comparison::kDifferenceAtLeast:
      return value - clean >= condition.bound;
  }
  return false;
}

// The rules' file.

std::vector<Condition> read_conditions(const JsonSection& in, const char* name, bool of_run,
                                       SymptomMode mode) {
  std::vector<Condition> conditions;
  const std::vector<Json> items = in.list(name);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const JsonSection item(items[i], in.file(), in.place_of(JsonSection::item_name(name, i)),
                           {"of", "over", "at_least", "below", "ratio_at_least", "ratio_below",
                            "difference_at_least"});
    Condition condition;
    condition.of = item.text("of");
    const std::optional<LayerMeasure> measure = layer_measure(condition.of);
    if (of_run ? run_measure(condition.of) == nullptr : !measure) {
      std::vector<std::string> words;
      for (const RunMeasure& known : kRunMeasures) words.emplace_back(known.name);
      item.fail("of", items[i].at("of"),
                of_run ? join(words) : "PROPERTY.AGGREGATE, or dead, of a layer");
    }
    condition.over = !of_run && measure->property && *measure->property != Property::kGradients
                         ? Over::kLast
                         : Over::kMedian;
    if (item.has("over")) {
      if (of_run) item.fail("over", items[i].at("over"), "nothing: it is about the training");
      const auto over = find_word(kOvers, item.text("over"));
      if (over == kOvers.end()) item.fail("over", items[i].at("over"), words_of(kOvers));
      condition.over = over->second;
    }
    int comparisons = 0;
    for (const auto& [word, comparison] : kComparisons) {
      if (!item.has(word)) continue;
      ++comparisons;
      condition.comparison = comparison;
      condition.bound = item.number(word, -kInfinity, kInfinity);
      if (is_relative(comparison) && mode == SymptomMode::kAbsolute) {
        item.fail(word, items[i].at(word), "at_least or below: there is no clean training");
      }
    }
    if (comparisons != 1) {
      item.fail_text("", std::to_string(comparisons) + " comparisons",
                     "one of " + words_of(kComparisons));
    }
    conditions.push_back(std::move(condition));
  }
  return conditions;
}

std::vector<SymptomCase> read_cases(const JsonSection& in, const char* name, SymptomMode mode) {
  std::vector<SymptomCase> cases;
  const std::vector<Json> items = in.list(name);
  for (std::size_t i = 0; i < items.size(); ++i) {
    const JsonSection item(items[i], in.file(), in.place_of(JsonSection::item_name(name, i)),
                           {"each", "beside", "beside_counts", "run", "least_values", "source"});
    SymptomCase shown;
    shown.each = read_conditions(item, "each", false, mode);
    shown.beside = read_conditions(item, "beside", false, mode);
    shown.run = read_conditions(item, "run", true, mode);
    if (item.has("beside_counts")) shown.beside_counts = item.flag("beside_counts");
    if (item.has("least_values")) {
      shown.least_values = item.whole("least_values", 1, std::int64_t{1} << 32);
    }
    shown.source = item.text("source");
    if (shown.each.empty() && (shown.run.empty() || !shown.beside.empty())) {
      item.fail_text("", "no condition on layers or the training", "each, run, or both");
    }
    cases.push_back(std::move(shown));
  }
  if (cases.empty()) in.fail_text(name, "nothing", "a list of cases");
  return cases;
}

SymptomRule read_rule(const JsonSection& in, const std::vector<DataFault>& faults, int models) {
  SymptomRule rule;
  rule.id = in.text("id");
  rule.number = static_cast<int>(in.whole("number", 1, 1000));
  rule.name = in.text("name");
  rule.meaning = in.text("meaning");
  rule.data = in.text("data");
  rule.layer_kinds = in.texts("layer_kinds");
  if (in.has("where")) {
    const auto where = find_word(kWheres, in.text("where"));
    if (where == kWheres.end()) in.fail("where", in.at("where"), words_of(kWheres));
    rule.where = where->second;
  }
  rule.share = in.number("share", 0, 1);
  const Json& prevalence = in.at("prevalence");
  if (!prevalence.is_object()) in.fail("prevalence", prevalence, "an object");
  for (const auto& [fault, count] : prevalence.items()) {
    const bool known = std::any_of(faults.begin(), faults.end(),
                                   [&id = fault](const DataFault& f) { return f.id == id; });
    if (!known) in.fail_text("prevalence/" + fault, fault, "an id of data_faults");
    if (!count.is_number_integer() || count.get<std::int64_t>() < 0 ||
        count.get<std::int64_t>() > models) {
      in.fail("prevalence/" + fault, count, "a whole number from 0 to " + std::to_string(models));
    }
    rule.prevalence[fault] = count;
  }
  rule.clean = static_cast<int>(in.whole("clean", 0, models));
  rule.cases[SymptomMode::kAbsolute] = read_cases(in, "absolute", SymptomMode::kAbsolute);
  rule.cases[SymptomMode::kRelative] = read_cases(in, "relative", SymptomMode::kRelative);
  return rule;
}

// The search for symptoms.

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
      for (std::size_t i = 0; i < clean_.size() && is_relative(condition.comparison); ++i) {
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
    if (is_relative(condition.comparison)) {
      const bool below = condition.comparison == Comparison::kRatioBelow;
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

std::string SymptomCondition::bound_text() const {
  const std::string number = shortest(bound);
  switch (comparison) {
    case Comparison::kAtLeast:
      return "at least " + number;
    case Comparison::kBelow:
      return "below " + number;
    case Comparison::kRatioAtLeast:
      return "at least " + number + " times the largest clean one";
    case Comparison::kRatioBelow:
      return "below " + number + " times the smallest clean one";
    case Comparison::kDifferenceAtLeast:
      return "at least " + number + " above the largest clean one";
  }
  return "";
}

SymptomRules::SymptomRules(std::string_view json, const std::string& file) {
  const Json document = parse_json(json, file);
  const JsonSection in(document, file, "",
                       {"format", "version", "source", "kurtosis", "share_factor", "models",
                        "data_faults", "rules"});
  in.require_format("neutra-symptoms", 1);
  in.text("source");
  const std::string kurtosis = in.text("kurtosis");
  if (kurtosis != "excess" && kurtosis != "pearson") {
    in.fail("kurtosis", in.at("kurtosis"), "excess, pearson");
  }
  normal_kurtosis_ = kurtosis == "pearson" ? kNormalKurtosis : 0;
  factor_ = in.number("share_factor", 0, 1);
  models_ = static_cast<int>(in.whole("models", 1, 1000000));
  std::set<std::string> ids;
  const auto once = [&](const JsonSection& item) {
    if (!ids.insert(item.text("id")).second) item.fail("id", item.at("id"), "each id once");
  };
  const std::vector<Json> faults = in.list("data_faults");
  for (std::size_t i = 0; i < faults.size(); ++i) {
    const JsonSection item(faults[i], file, in.place_of(JsonSection::item_name("data_faults", i)),
                           {"id", "name"});
    once(item);
    data_faults_.push_back({item.text("id"), item.text("name")});
  }
  const std::vector<Json> rules = in.list("rules");
  for (std::size_t i = 0; i < rules.size(); ++i) {
    const JsonSection item(rules[i], file, in.place_of(JsonSection::item_name("rules", i)),
                           {"number", "id", "name", "data", "meaning", "layer_kinds", "where",
                            "share", "prevalence", "clean", "absolute", "relative"});
    once(item);
    rules_.push_back(read_rule(item, data_faults_, models_));
  }
}

SymptomRules SymptomRules::read(const std::filesystem::path& file) {
  return {read_json(file).dump(), file.string()};
}

const SymptomRules& SymptomRules::bundled() {
  static const SymptomRules rules(embedded::symptom_rules, "evaluators/symptoms.json");
  return rules;
}

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
