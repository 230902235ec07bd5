#include "mutators/mutation_operator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "mutators/embedded.h"
#include "program/edit.h"
#include "program/layer.h"
#include "program/trained_mutations.h"
#include "program/vocabulary.h"

namespace neutra::mutators {
namespace {

constexpr std::string_view kGroupWords[] = {"training_data",  "hyperparameters", "activation",
                                            "regularisation", "weights",         "loss",
                                            "optimisation",   "validation",      "layers",
                                            "preprocessing",  "training_loop",   "trained_model"};
constexpr std::string_view kSearchWords[] = {"none", "binary", "exhaustive"};
constexpr std::string_view kTypeWords[] = {"none", "integer", "number", "word"};

const Json& tables() {
  static const Json json = parse_json(embedded::operator_values, "values/operators.json");
  return json;
}

/// What the subject of a target says of an operator under `table` ("ranges", "values"); nullptr:
/// nothing.
const Json* of_subject(const Target& target, const char* table, std::string_view op) {
  if (target.subject.empty()) return nullptr;
  const Json* entries = member(tables().at("subjects").at(target.subject), table);
  return entries != nullptr ? member(*entries, op) : nullptr;
}

std::string json_text(const Json& value) {
  return value.is_number() ? shortest(value.get<double>()) : value.dump();
}

/// Why a value is none of this operator's; nullopt if it may be one.
std::optional<Inapplicable> check_value(const MutationOperator& op, const Json& value) {
  const OperatorParameter& parameter = op.parameter;
  const auto refuse = [&](const std::string& allowed) {
    const std::string name = parameter.name.empty() ? "value" : std::string(parameter.name);
    return Inapplicable{"the " + name + " " + json_text(value), allowed};
  };
  constexpr double kMostWhole = 9007199254740992.0;  // beyond it doubles have gaps
  const bool whole = value.is_number() && std::abs(value.get<double>()) <= kMostWhole &&
                     value.get<double>() == std::floor(value.get<double>());
  switch (parameter.type) {
    case ValueType::kNone:
      if (!value.is_null()) return refuse("none: " + std::string(op.id) + " takes no value");
      return std::nullopt;
    case ValueType::kWord:
      if (!value.is_string()) return refuse("a word");
      return std::nullopt;
    case ValueType::kInteger:
      if (!whole) return refuse("a whole number");
      break;
    case ValueType::kNumber:
      if (!value.is_number() || !std::isfinite(value.get<double>())) return refuse("a number");
      break;
  }
  const double number = value.get<double>();
  const bool bounded = parameter.least != 0 || parameter.most != 0;
  if (bounded && (number < parameter.least || number > parameter.most)) {
    return refuse("a number from " + shortest(parameter.least) + " to " + shortest(parameter.most));
  }
  return std::nullopt;
}

/// Is the site one that the operator has to look at?
bool is_site(const MutationOperator& op, const Target& target, Site site) {
  const auto layers = static_cast<Site>(target.resolved.layers.size());
  return op.by_layer ? site >= 0 && site < layers : site == kWholeProgram;
}

/// Why the bounds of the target's subject are none for its program; "" where they are.
std::string refuse_bounds(const MutationOperator& op, const Target& target) {
  const std::string bounds = "the bounds " + target.subject;
  if (const Json* own = of_subject(target, "values", op.id); own != nullptr && own->empty()) {
    return bounds + ", which have no values for it";
  }
  if (of_subject(target, "ranges", op.id) == nullptr) return "";
  const double from = search_range(op, target).from, own = op.range(target).from;
  if (from == own) return "";
  return "the " + std::string(op.parameter.name) + " " + shortest(own) + ", where " + bounds +
         " begin at " + shortest(from);
}

/// Why the operator does not apply at a site that there is; "" where it does.
std::string refusal_at(const MutationOperator& op, const Target& target, Site site) {
  if (op.by_layer && layer_at(target, site).weights_of) {
    return layer_text(
        target, site,
        "is layer " + std::to_string(*layer_at(target, site).weights_of) + " once more");
  }
  const std::string own = op.refusal != nullptr ? op.refusal(target, site) : "";
  return own.empty() ? refuse_bounds(op, target) : own;
}

/// The values to try at a site where the operator applies.
std::vector<Json> values_at(const MutationOperator& op, const Target& target, Site site) {
  if (op.parameter.search == ValueSearch::kBinary) return {search_range(op, target).to};
  if (const Json* own = of_subject(target, "values", op.id)) return {own->begin(), own->end()};
  if (op.values != nullptr) return op.values(target, site);
  return {Json()};
}

/// Whole numbers as integers: 12.0 epochs are 12.
Json typed(const MutationOperator& op, const Json& value) {
  if (op.parameter.type != ValueType::kInteger) return value;
  return static_cast<std::int64_t>(value.get<double>());
}

/// Appends a step to trained.mutations; `fields`: all but its op.
void add_trained_mutation(Json& document, std::string_view op, const Json& fields) {
  Json step = {{"op", op}};
  step.update(fields);
  Json& steps = document["trained"]["mutations"];
  if (!steps.is_array()) steps = Json::array();
  steps.push_back(std::move(step));
}

}  // namespace

std::string_view to_string(OperatorGroup group) { return kGroupWords[static_cast<int>(group)]; }
std::string_view to_string(ValueSearch search) { return kSearchWords[static_cast<int>(search)]; }
std::string_view to_string(ValueType type) { return kTypeWords[static_cast<int>(type)]; }

Target make_target(program::Program program, const program::DataInfo* data,
                   const std::string& subject) {
  if (!subject.empty() && !tables().at("subjects").contains(subject)) {
    throw input_error(
        describe("", "bounds", "\"" + subject + "\"", allowed_words(subject, operator_subjects())));
  }
  program::ResolvedProgram resolved = program::resolve(program, data);
  nlohmann::json identity = program::canonical(program);
  return {std::move(program), std::move(resolved), std::move(identity),
          data != nullptr ? std::optional(*data) : std::nullopt, subject};
}

std::vector<std::string> operator_subjects() {
  std::vector<std::string> names;
  for (const auto& [name, entry] : tables().at("subjects").items()) names.push_back(name);
  return names;
}

Sites find_sites(const MutationOperator& op, const Target& target) {
  Sites result;
  std::string first;
  const Site end = op.by_layer ? static_cast<Site>(target.resolved.layers.size()) : 0;
  for (Site site = op.by_layer ? 0 : kWholeProgram; site < end; ++site) {
    const std::string refusal = refusal_at(op, target, site);
    if (refusal.empty()) {
      result.sites.push_back(site);
    } else if (first.empty()) {
      first = refusal;
    }
  }
  if (result.sites.empty()) {
    result.reason = op.by_layer ? "applies to no layer: " + first : "does not apply: " + first;
  }
  return result;
}

std::string to_string(const Inapplicable& reason) {
  return describe("", "", reason.found, reason.allowed);
}

std::optional<Inapplicable> site_refusal(const MutationOperator& op, const Target& target,
                                         Site site) {
  const auto layers = static_cast<Site>(target.resolved.layers.size());
  if (!is_site(op, target, site)) {
    if (!op.by_layer) {
      return Inapplicable{"layer " + std::to_string(site),
                          "none: " + std::string(op.id) + " changes the whole program"};
    }
    return Inapplicable{site == kWholeProgram ? "no layer" : "layer " + std::to_string(site),
                        "layers 0 to " + std::to_string(layers - 1)};
  }
  const std::string found = refusal_at(op, target, site);
  if (found.empty()) return std::nullopt;
  std::string others;
  for (const Site other : op.by_layer ? find_sites(op, target).sites : std::vector<Site>()) {
    others += (others.empty() ? "layer " : ", ") + std::to_string(other);
  }
  if (others.empty()) others = "a program that " + std::string(op.id) + " applies to";
  return Inapplicable{found, others};
}

std::variant<program::Program, Inapplicable> apply(const MutationOperator& op, const Target& target,
                                                   Site site, const Json& value,
                                                   std::uint64_t seed) {
  if (const auto refusal = site_refusal(op, target, site)) return *refusal;
  if (const auto refusal = check_value(op, value)) return *refusal;
  if (op.parameter.closed) {
    const std::vector<Json> values = op.values(target, site);
    if (std::find(values.begin(), values.end(), value) == values.end()) {
      std::vector<std::string> words;
      for (const Json& allowed : values) {
        words.push_back(allowed.is_string() ? allowed.get<std::string>() : json_text(allowed));
      }
      return Inapplicable{"the " + std::string(op.parameter.name) + " " + json_text(value),
                          join(words)};
    }
  }
  // A step on the data that changes no row would still be another document.
  const bool harmless = op.group == OperatorGroup::kTrainingData && op.range != nullptr &&
                        value == op.range(target).from;
  if (harmless || (op.random && value == 0)) {
    return Inapplicable{"the " + std::string(op.parameter.name) + " " + json_text(value) +
                            ", which changes nothing",
                        "what changes the program", true};
  }
  program::Program mutant = target.program;
  op.edit(op, mutant.document, target, site, typed(op, value), seed);
  // Another preparation of the data has other targets than those that are known.
  const bool same_data = target.data && op.group != OperatorGroup::kPreprocessing;
  if (const auto problems = program::validate(mutant.document, same_data ? &*target.data : nullptr);
      !problems.empty()) {
    const program::Problem& problem = problems.front();
    return Inapplicable{problem.found + " at " + (problem.path.empty() ? "/" : problem.path),
                        problem.allowed};
  }
  if (program::canonical(mutant) == target.identity) {
    const std::string what = value.is_null()
                                 ? std::string(op.id)
                                 : "the " + std::string(op.parameter.name) + " " + json_text(value);
    return Inapplicable{what + ", which changes nothing", "what changes the program", true};
  }
  return mutant;
}

std::vector<Candidate> candidates(const MutationOperator& op, const Target& target, Site site) {
  if (!is_site(op, target, site) || !refusal_at(op, target, site).empty()) return {};
  std::vector<Candidate> result;
  for (Json& value : values_at(op, target, site)) {
    const auto mutant = apply(op, target, site, value);
    const auto* refusal = std::get_if<Inapplicable>(&mutant);
    if (refusal != nullptr && refusal->unchanged) continue;
    result.push_back(
        {std::move(value), refusal != nullptr ? std::optional(*refusal) : std::nullopt});
  }
  return result;
}

ValueRange search_range(const MutationOperator& op, const Target& target) {
  if (const Json* own = of_subject(target, "ranges", op.id)) {
    return {own->at("from"), own->at("to"), own->at("precision"), own->at("decimals")};
  }
  return op.range(target);
}

ValueRange with_ends(const MutationOperator& op, ValueRange range, double from, double to) {
  for (const double end : {from, to}) {
    if (const auto refusal = check_value(op, end)) {
      throw input_error(describe("", std::string(op.id), refusal->found, refusal->allowed));
    }
  }
  if (from == to || (to > from) != (range.to > range.from)) {
    throw input_error(describe("", std::string(op.id),
                               "the range " + shortest(from) + " to " + shortest(to),
                               "a range from the less to the more severe value, such as " +
                                   shortest(range.from) + " to " + shortest(range.to)));
  }
  range.from = from;
  range.to = to;
  return range;
}

const std::vector<Json>& operator_values(std::string_view set) {
  static const auto sets = [] {
    std::map<std::string, std::vector<Json>, std::less<>> all;
    for (const auto& [name, list] : tables().at("sets").items()) {
      all[name].assign(list.begin(), list.end());
    }
    return all;
  }();
  return sets.find(set)->second;
}

ValueRange percentages(const Target&) { return {0, 100, 5, 2}; }
ValueRange percentages_of_removed(const Target&) { return {0, 99, 5, 2}; }

void add_data_step(Json& document, Json step) {
  Json& steps = document["data"]["mutations"];
  if (!steps.is_array()) steps = Json::array();
  steps.push_back(std::move(step));
}

void add_percentage_step(const MutationOperator& op, Json& document, const Target&, Site,
                         const Json& value, std::uint64_t seed) {
  Json step = {{"op", op.id}, {"percentage", value}};
  if (op.random) step["seed"] = seed;
  add_data_step(document, std::move(step));
}

void add_percentage_step_on_targets(const MutationOperator& op, Json& document,
                                    const Target& target, Site site, const Json& value,
                                    std::uint64_t seed) {
  add_percentage_step(op, document, target, site, value, seed);
  document["data"]["mutations"].back().update(targets_of(target));
}

void add_trained_percentage_step(const MutationOperator& op, Json& document, const Target&, Site,
                                 const Json& value, std::uint64_t seed) {
  add_trained_mutation(document, op.id, {{"percentage", value}, {"seed", seed}});
}

void add_trained_layer_step(const MutationOperator& op, Json& document, const Target&, Site site,
                            const Json&, std::uint64_t) {
  add_trained_mutation(document, op.id, {{"layer", site}});
}

void set_field(const MutationOperator& op, Json& document, const Target&, Site site,
               const Json& value, std::uint64_t) {
  program::set_layer_field(document, static_cast<std::size_t>(site), op.field, value);
}
void set_field_true(const MutationOperator& op, Json& document, const Target& target, Site site,
                    const Json&, std::uint64_t seed) {
  set_field(op, document, target, site, true, seed);
}
void set_field_false(const MutationOperator& op, Json& document, const Target& target, Site site,
                     const Json&, std::uint64_t seed) {
  set_field(op, document, target, site, false, seed);
}
void make_linear(const MutationOperator& op, Json& document, const Target& target, Site site,
                 const Json&, std::uint64_t seed) {
  set_field(op, document, target, site, "linear", seed);
}

std::string refuse_no_kernel(const Target& target, Site) {
  return refuse_without_kernel(target, nullptr);
}

std::string refuse_without_kernel(const Target& target,
                                  bool (*fits)(const program::Shape& kernel)) {
  bool any = false;
  for (const program::ResolvedLayer& layer : target.resolved.layers) {
    if (!program::has_kernel(layer)) continue;
    any = true;
    if (fits == nullptr || layer.weights.empty() || fits(layer.weights.front().shape)) return "";
  }
  return any ? "no layer with two inputs" : "no Dense or Conv2D layer";
}

std::string refuse_trained_step(const Target& target, Site site, std::string_view op) {
  const bool shapes = op != "activation_removal";
  if (shapes && program::has_kernel(layer_at(target, site)) &&
      layer_at(target, site).output_shape.empty()) {
    return layer_text(target, site, "has an unknown shape");
  }
  return program::trained_step_refusal(op, target.resolved.layers, static_cast<std::size_t>(site),
                                       program::LayerTitles(target.program.document));
}

std::string refuse_one_class(const Target& target, Site) {
  const bool one = target.resolved.task != "regression" && target.data &&
                   program::element_count(target.data->y) == 1 &&
                   target.data->y_min == target.data->y_max;
  return one ? "training rows of one class" : "";
}

std::string refuse_no_classes(const Target& target, Site site) {
  if (target.resolved.task == "regression") return "a regression, whose targets are no labels";
  return refuse_one_class(target, site);
}

std::string refuse_no_activation(const Target& target, Site site) {
  if (has_setting(target, site, "activation")) return "";
  return layer_text(target, site, "has no activation");
}

std::string refuse_linear(const Target& target, Site site) {
  const bool linear = setting_at(target, site, "activation") == "linear";
  return linear ? layer_text(target, site, "is linear") : refuse_no_activation(target, site);
}

std::string refuse_not_linear(const Target& target, Site site) {
  const Json activation = setting_at(target, site, "activation");
  if (activation.is_null()) return refuse_no_activation(target, site);
  if (activation == "linear") return "";
  return layer_text(target, site, "has the activation " + activation.get<std::string>());
}

std::string refuse_no_regularizer(const Target& target, Site site) {
  if (!setting_at(target, site, "kernel_regularizer").is_null()) return "";
  return layer_text(target, site, "has no regulariser");
}

bool is_trained(const Target& target, Site site) {
  const program::ResolvedLayer& layer = layer_at(target, site);
  if (layer.weights_of) return false;  // that layer's variables
  const std::vector<std::size_t>& left_out = target.resolved.loop.left_out;
  if (setting_at(target, site, "trainable") == false ||
      std::find(left_out.begin(), left_out.end(), static_cast<std::size_t>(site)) !=
          left_out.end()) {
    return false;
  }
  // Before the data are known, layers may have no shape.
  if (layer.output_shape.empty()) return program::find_layer(layer.class_name)->weights != nullptr;
  return std::any_of(layer.weights.begin(), layer.weights.end(),
                     [](const program::Weight& weight) { return weight.trainable; });
}

std::string refuse_untrained(const Target& target, Site) {
  if (!target.resolved.loop.step) return "a loop without an update";
  for (Site site = 0; site < static_cast<Site>(target.resolved.layers.size()); ++site) {
    if (is_trained(target, site)) return "";
  }
  return "no layer that is trained";
}

std::string refuse_untrained_layer(const Target& target, Site site) {
  if (const std::string refusal = refuse_untrained(target, site); !refusal.empty()) return refusal;
  if (!is_trained(target, site)) return layer_text(target, site, "is not trained");
  for (Site other = 0; other < static_cast<Site>(target.resolved.layers.size()); ++other) {
    if (other != site && is_trained(target, other)) return "";
  }
  return layer_text(target, site, "is the only one that is trained");
}

std::optional<std::int64_t> steps_per_epoch(const Target& target) {
  // Mutations of the data may have been added since these were looked at.
  if (!target.data || !target.resolved.data.value("mutations", Json::array()).empty()) {
    return std::nullopt;
  }
  const auto rows = static_cast<std::int64_t>(static_cast<double>(target.data->training_rows) *
                                              (1 - target.resolved.validation_split));
  if (rows < 1) return std::nullopt;
  return (rows + target.resolved.batch_size - 1) / target.resolved.batch_size;
}

Json targets_of(const Target& target) {
  if (target.resolved.task == "regression") return {{"targets", "values"}};
  return Json::object();
}

std::vector<Json> scaling_steps(const Target& target) {
  constexpr std::string_view kScaling[] = {"scale", "add", "standardize", "normalize"};
  const Json* steps = member(target.resolved.data, "preprocess");
  std::vector<Json> found;
  if (steps == nullptr || !steps->is_array()) return {};
  for (std::size_t i = 0; i < steps->size(); ++i) {
    const Json* op = member((*steps)[i], "op");
    if (op != nullptr && op->is_string() &&
        std::find(std::begin(kScaling), std::end(kScaling), op->get<std::string>()) !=
            std::end(kScaling)) {
      found.push_back(i);
    }
  }
  return found;
}

const program::ResolvedLayer& layer_at(const Target& target, Site site) {
  return target.resolved.layers[static_cast<std::size_t>(site)];
}

bool has_setting(const Target& target, Site site, std::string_view field) {
  return member(layer_at(target, site).config, field) != nullptr;
}

Json setting_at(const Target& target, Site site, std::string_view field) {
  const Json* value = member(layer_at(target, site).config, field);
  return value != nullptr ? *value : Json();
}

std::string layer_text(const Target& target, Site site, std::string_view what) {
  const program::LayerTitles titles(target.program.document);
  return "layer " + titles(site) + " (" + layer_at(target, site).class_name + "), which " +
         std::string(what);
}

}  // namespace neutra::mutators
