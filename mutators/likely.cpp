#include "mutators/likely.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/json.h"
#include "base/parse_number.h"
#include "mutators/embedded.h"

namespace neutra::mutators {
namespace {

const Json& table() {
  static const Json json = parse_json(embedded::likely_changes, "presets/likely.json");
  return json;
}

/// Where a value stands in a list; nullopt: it is not usual.
std::optional<std::size_t> place_in(const Json& list, const std::string& value) {
  const auto at = std::find(list.begin(), list.end(), value);
  if (at == list.end()) return std::nullopt;
  return static_cast<std::size_t>(at - list.begin());
}

std::optional<double> number(const std::string& text) {
  const std::optional<double> value = parse_number<double>(text);
  return value && *value > 0 ? value : std::nullopt;
}

/// The numbers that a program gives for a row; where its shapes are unknown, the units of its last
/// layer that has some.
std::int64_t outputs_of(const program::ResolvedProgram& program) {
  if (!program.layers.empty() && !program.layers.back().output_shape.empty()) {
    return program.layers.back().output_shape.back();
  }
  for (auto layer = program.layers.rbegin(); layer != program.layers.rend(); ++layer) {
    if (const Json* units = member(layer->config, "units")) return units->get<std::int64_t>();
  }
  return 1;
}

}  // namespace

LikelyChanges::LikelyChanges(const program::ProgramSpace& space) : space_(space) {
  const program::ResolvedProgram program = program::resolve(space.base());
  task_ = program.task == "regression" ? "regression"
          : outputs_of(program) == 1   ? "binary"
                                       : "classes";
  // The last key of an activation is the output's.
  const program::Key* last = nullptr;
  for (const program::Key& key : space.keys()) {
    if (key.kind != program::KeyKind::kActivation) continue;
    roles_[key.name] = "hidden";
    last = &key;
  }
  if (last != nullptr) roles_[last->name] = task_;
}

Likelihood LikelyChanges::of(const Mutation& mutation) const {
  Likelihood result;
  const program::Key* key = space_.find(mutation.key);
  if (key == nullptr) return result;
  const std::string kind(to_string(key->kind));
  result.kind = place_in(table().at("kinds"), kind).value_or(table().at("kinds").size());

  if (const Json* range = member(table().at("ranges"), kind)) {
    const auto before = number(mutation.before), after = number(mutation.after);
    if (!before || !after) return result;
    const double low = std::log(range->at(0).get<double>()),
                 high = std::log(range->at(1).get<double>());
    const auto outside = [&](double value) {
      return std::max({low - std::log(value), std::log(value) - high, 0.0});
    };
    result.makes_usual = outside(*after) < outside(*before);
    // The nearer to the middle, the likelier.
    const double middle = (low + high) / 2;
    result.value = static_cast<std::size_t>(std::lround(100 * std::abs(std::log(*after) - middle)));
    return result;
  }
  const Json* usual = member(table().at("values"), kind);
  if (usual != nullptr && usual->is_object()) {
    usual = &usual->at(key->kind == program::KeyKind::kActivation ? roles_.at(key->name) : task_);
  }
  if (usual == nullptr) return result;
  const auto after = place_in(*usual, mutation.after);
  result.makes_usual = after && !place_in(*usual, mutation.before);
  result.value = after.value_or(usual->size());
  return result;
}

}  // namespace neutra::mutators
