#include "evaluators/symptom_rules.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include "base/json_section.h"
#include "base/numbers.h"
#include "base/words.h"
#include "evaluators/embedded.h"
#include "evaluators/symptom_measures.h"

namespace neutra::evaluators {
namespace {

using Condition = SymptomCondition;
using Relation = SymptomCondition::Relation;
using Over = SymptomCondition::Over;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr std::array<std::pair<const char*, Relation>, 5> kRelations{
    {{"at_least", Relation::kAtLeast},
     {"below", Relation::kBelow},
     {"ratio_at_least", Relation::kRatioAtLeast},
     {"ratio_below", Relation::kRatioBelow},
     {"difference_at_least", Relation::kDifferenceAtLeast}}};
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
      item.fail("of", items[i].at("of"),
                of_run ? join(run_measure_names()) : "PROPERTY.AGGREGATE, or dead, of a layer");
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
    for (const auto& [word, relation] : kRelations) {
      if (!item.has(word)) continue;
      ++comparisons;
      condition.relation = relation;
      condition.bound = item.number(word, -kInfinity, kInfinity);
      if (is_relative(relation) && mode == SymptomMode::kAbsolute) {
        item.fail(word, items[i].at(word), "at_least or below: there is no clean training");
      }
    }
    if (comparisons != 1) {
      item.fail_text("", std::to_string(comparisons) + " comparisons",
                     "one of " + words_of(kRelations));
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

}  // namespace

bool is_relative(SymptomCondition::Relation relation) {
  return relation >= SymptomCondition::Relation::kRatioAtLeast;
}

std::string SymptomCondition::bound_text() const {
  const std::string number = shortest(bound);
  switch (relation) {
    case Relation::kAtLeast:
      return "at least " + number;
    case Relation::kBelow:
      return "below " + number;
    case Relation::kRatioAtLeast:
      return "at least " + number + " times the largest clean one";
    case Relation::kRatioBelow:
      return "below " + number + " times the smallest clean one";
    case Relation::kDifferenceAtLeast:
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
  static const SymptomRules rules(embedded::bundled_symptom_rules, "evaluators/symptoms.json");
  return rules;
}

}  // namespace neutra::evaluators
