#include "program/normal_wiring.h"

#include <algorithm>

#include "base/words.h"
#include "program/document.h"
#include "program/graph.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

/// What is wrong with a reference of layer `index` to a layer before it; nullopt: nothing.
std::optional<Problem> problem_of_name(const Json& layers, std::size_t index, const Json& reference,
                                       const std::string& path) {
  std::vector<std::string> names;
  std::vector<std::size_t> found;
  bool behind = false;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string* name = name_of(layers[i]);
    if (name == nullptr) continue;
    if (i < index) names.push_back(*name);
    if (reference != Json(*name)) continue;
    found.push_back(i);
    behind = behind || i >= index;
  }
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  const std::string word = reference.is_string() ? reference.get<std::string>() : "";
  const std::string allowed =
      names.empty() ? "a name (config.name) of a layer before it, of which none has one"
                    : "the name (config.name) of a layer before it: " + allowed_words(word, names);
  if (found.size() > 1) {
    std::string numbers;
    for (const std::size_t i : found) numbers += (numbers.empty() ? "" : ", ") + std::to_string(i);
    return Problem{path, shown(reference) + ", the name of the layers " + numbers,
                   "a name that one layer has"};
  }
  if (found.empty()) return Problem{path, shown(reference), allowed};
  if (!behind) return std::nullopt;
  return Problem{path,
                 shown(reference) + (found[0] == index ? ", the layer itself"
                                                       : ", which stands behind it in the list"),
                 allowed};
}

/// How many inputs a layer has: those that its kind may have.
std::optional<Problem> problem_of_count(const Layer& type, std::size_t count,
                                        const std::string& path) {
  const std::string found =
      std::to_string(count) + (count == 1 ? " input of a " : " inputs of a ") + type.class_name;
  if (type.kind != LayerKind::kMerge) {
    if (count == 1) return std::nullopt;
    return Problem{path, found, "one; layers such as Add and Concatenate take several"};
  }
  if (count < 2) return Problem{path, found, type.two_inputs ? "two" : "two or more"};
  if (type.two_inputs && count > 2) return Problem{path, found, "two"};
  return std::nullopt;
}

/// The positions that a layer's `inputs` name; nullopt where they have problems.
std::optional<Json> normal_inputs(const Json& layers, std::size_t index, const Json& given,
                                  const std::string& path, std::vector<Problem>& problems) {
  if (!given.is_array() || given.empty()) {
    problems.push_back({path, shown(given), "an array of names of layers before it"});
    return std::nullopt;
  }
  Json positions = Json::array();
  for (std::size_t k = 0; k < given.size(); ++k) {
    if (auto problem =
            given[k].is_string()
                ? problem_of_name(layers, index, given[k], path + "/" + std::to_string(k))
                : Problem{path + "/" + std::to_string(k), shown(given[k]),
                          "the name (config.name) of a layer before it"}) {
      problems.push_back(*std::move(problem));
      return std::nullopt;
    }
    positions.push_back(*layer_referred(layers, given[k], index));
  }
  return positions;
}

}  // namespace

std::optional<Problem> problem_of_call(const Json& written, std::size_t index,
                                       const std::string& path) {
  const Json& layer = written[index];
  const Json& owner = layer.at("weights_of");
  if (!owner.is_string()) {
    return Problem{path + "/weights_of", shown(owner),
                   "the name (config.name) of a layer before it"};
  }
  if (auto problem = problem_of_name(written, index, owner, path + "/weights_of")) return problem;
  const Json& first = written[*layer_referred(written, owner, index)];
  if (const Json* other = member(first, "weights_of")) {
    return Problem{path + "/weights_of", shown(owner) + ", which is " + shown(*other) + " again",
                   shown(*other)};
  }
  const Layer *type = layer_of(layer), *wanted = layer_of(first);
  if (wanted != nullptr && wanted->kind == LayerKind::kInput) {
    return Problem{path + "/weights_of", shown(owner) + ", an InputLayer", "a layer that computes"};
  }
  if (wanted != nullptr && type != wanted) {
    return Problem{path + "/class_name", shown(layer.at("class_name")),
                   wanted->class_name + ", the class of " + shown(owner)};
  }
  const Json* config = member(layer, "config");
  if (config == nullptr || config->is_null()) return std::nullopt;
  if (!config->is_object()) return Problem{path + "/config", shown(*config), "an object"};
  for (const auto& [field, value] : config->items()) {
    if (field == "name") continue;
    return Problem{path + "/config/" + pointer_token(field), shown(value),
                   "no other field than name: all settings are those of " + shown(owner)};
  }
  return std::nullopt;
}

void add_normal_wiring(const Json& written, Json& normal, const std::string& path,
                       std::vector<Problem>& problems) {
  for (std::size_t i = 0; i < written.size(); ++i) {
    const std::string place = path + "/" + std::to_string(i);
    const Json* given = member(written[i], "inputs");
    const Layer* type = layer_of(written[i]);
    std::size_t count = 1;
    if (given != nullptr && i == 0) {
      problems.push_back(
          {place + "/inputs", shown(*given), "nothing: the first layer takes the model's input"});
      normal[i]["inputs"] = *given;
      continue;
    }
    if (given != nullptr) {
      const auto positions = normal_inputs(written, i, *given, place + "/inputs", problems);
      if (!positions) {
        normal[i]["inputs"] = *given;
        continue;
      }
      count = positions->size();
      if (*positions != Json::array({i - 1})) normal[i]["inputs"] = *positions;
    }
    if (type == nullptr || (given == nullptr && type->kind != LayerKind::kMerge)) continue;
    if (auto problem = problem_of_count(*type, count, place + "/inputs")) {
      problems.push_back(*std::move(problem));
    }
  }
}

}  // namespace neutra::program
