#include "mutators/reach.h"

#include <algorithm>
#include <deque>
#include <map>

#include "base/numbers.h"
#include "mutators/registry.h"
#include "program/document.h"
#include "program/key_values.h"

namespace neutra::mutators {
namespace {

/// Steps that lead a key from one value to another; nullopt: none do.
std::optional<int> steps_between(const program::ProgramSpace& space, const program::Key& key,
                                 const NeutralityOperator& op, const std::string& from,
                                 const std::string& to, Preset preset) {
  if (!has_steps(preset, key.kind)) {
    const nlohmann::json wanted = meaning(space, key.name, to);
    for (const std::string& value : op.values(from, preset)) {
      if (value == to || meaning(space, key.name, value) == wanted) return 1;
    }
    return std::nullopt;
  }
  // Breadth first. Chains end at the largest and smallest value that a key may have, so there are
  // at most some hundred values.
  const double wanted = decimal_clean(parse_number(to, key.kind));
  std::map<std::string, int> steps = {{from, 0}};
  for (std::deque<std::string> queue = {from}; !queue.empty(); queue.pop_front()) {
    const std::string value = queue.front();
    if (decimal_clean(parse_number(value, key.kind)) == wanted) return steps.at(value);
    for (const std::string& next : op.values(value, preset)) {
      if (steps.emplace(next, steps.at(value) + 1).second) queue.push_back(next);
    }
  }
  return std::nullopt;
}

std::string step_words(program::KeyKind kind, Preset preset) {
  std::string text;
  for (const Step& step : preset_steps(preset, kind)) {
    text += (text.empty() ? "" : " and ") + std::string(step.divide ? "/" : "*") +
            shortest(step.factor);
  }
  return text;
}

std::string excerpt(const Json& value) {
  constexpr std::size_t kMost = 60;
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  return text.size() > kMost ? text.substr(0, kMost) + "..." : text;
}

/// "Dense, Dropout, Dense"
std::string layer_words(const program::Program& program) {
  std::string text;
  const Json* layers = program::find_layers(program.document);
  for (const Json& layer : layers != nullptr ? *layers : Json::array()) {
    text += (text.empty() ? "" : ", ") + layer.value("class_name", "");
  }
  return text;
}

/// Places where the target differs from what the keys can make of the base.
std::vector<OutOfReach> parts_without_key(const program::Program& nearest,
                                          const program::Program& target) {
  std::vector<OutOfReach> parts;
  const std::string layers = layer_words(target);
  const bool other_layers = layers != layer_words(nearest);
  if (other_layers) {
    parts.push_back({"", program::layers_path(target.document),
                     "no key makes its layers (" + layers + ") of those of the buggy program (" +
                         layer_words(nearest) + ")"});
  }
  const nlohmann::json from = program::canonical(nearest), to = program::canonical(target);
  for (const nlohmann::json& patch : nlohmann::json::diff(from, to)) {
    const auto place = patch.at("path").get<std::string>();
    if (other_layers && place.find("/layers") != std::string::npos) continue;
    const auto what = patch.at("op").get<std::string>();
    std::string change =
        what == "remove" ? "is not there" : "is " + excerpt(Json(patch.at("value")));
    parts.push_back({"", place, place + " " + change + ", and no key changes it"});
  }
  return parts;
}

}  // namespace

Reach reach_of(const program::ProgramSpace& space, const program::Program& target,
               const std::optional<program::Parameters>& parameters, Preset preset) {
  Reach reach;
  const program::Parameters wanted = parameters ? *parameters : program::values_in(space, target);
  program::Parameters nearest = space.base_parameters();
  for (const program::Key& key : space.keys()) {
    const auto value = wanted.find(key.name);
    const std::string& from = space.base_parameters().at(key.name);
    if (value == wanted.end() || value->second == from) continue;
    const std::string& to = value->second;
    nearest[key.name] = to;
    if (meaning(space, key.name, to) == program::canonical(space.base())) continue;
    const std::string change = key.name + "=" + to;
    const NeutralityOperator* op = find_operator(key.kind);
    if (op == nullptr) {
      reach.missing.push_back(
          {key.name, to,
           change + ": no operator changes a " + std::string(to_string(key.kind)) + " key"});
    } else if (const auto steps = steps_between(space, key, *op, from, to, preset)) {
      reach.changes += *steps;
    } else if (has_steps(preset, key.kind)) {
      reach.missing.push_back(
          {key.name, to,
           change + " is not reached from " + from + " by " + step_words(key.kind, preset)});
    } else {
      reach.missing.push_back(
          {key.name, to,
           change + " is not among the values of preset " + std::string(to_string(preset))});
    }
  }
  if (parameters) return reach;
  std::vector<OutOfReach> others = parts_without_key(space.instantiate(nearest), target);
  std::move(others.begin(), others.end(), std::back_inserter(reach.missing));
  return reach;
}

Json to_json(const std::vector<OutOfReach>& missing) {
  Json json = Json::array();
  for (const OutOfReach& part : missing) {
    json.push_back({{"key", part.key.empty() ? Json(nullptr) : Json(part.key)},
                    {"value", part.value},
                    {"reason", part.reason}});
  }
  return json;
}

}  // namespace neutra::mutators
