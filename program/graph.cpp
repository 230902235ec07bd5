#include "program/graph.h"

#include <algorithm>

#include "base/error.h"
#include "program/document.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

/// Gives a layer a name that no other has, if it has none, and returns it.
std::string named(Json& layers, std::size_t position) {
  Json& layer = layers[position];
  const auto taken = [&](const std::string& name, std::size_t own) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string* other = name_of(layers[i]);
      if (i != own && other != nullptr && *other == name) return true;
    }
    return false;
  };
  const std::string* own = name_of(layer);
  if (own != nullptr && !taken(*own, position)) return *own;
  const std::string stem = own != nullptr ? *own : "layer_" + std::to_string(position);
  std::string fresh = stem;
  for (int n = 1; taken(fresh, layers.size()); ++n) fresh = stem + "_" + std::to_string(n);
  if (!layer["config"].is_object()) layer["config"] = Json::object();
  layer["config"]["name"] = fresh;
  return fresh;
}

std::vector<std::size_t> usual_inputs(std::size_t index) {
  return index == 0 ? std::vector<std::size_t>() : std::vector<std::size_t>{index - 1};
}

}  // namespace

const std::string* name_of(const Json& layer) {
  const Json* config = member(layer, "config");
  const Json* name = config != nullptr ? member(*config, "name") : nullptr;
  return name != nullptr && name->is_string() ? &name->get_ref<const std::string&>() : nullptr;
}

std::optional<std::size_t> layer_referred(const Json& layers, const Json& reference,
                                          std::size_t index) {
  if (reference.is_number_unsigned() || reference.is_number_integer()) {
    const auto position = reference.get<std::int64_t>();
    if (position < 0 || position >= static_cast<std::int64_t>(index)) return std::nullopt;
    return static_cast<std::size_t>(position);
  }
  for (std::size_t i = 0; reference.is_string() && i < index; ++i) {
    const std::string* name = name_of(layers[i]);
    if (name != nullptr && *name == reference.get_ref<const std::string&>()) return i;
  }
  return std::nullopt;
}

Wiring wiring_of(const Json& layers) {
  Wiring wiring;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    std::vector<std::size_t> inputs;
    if (const Json* given = member(layers[i], "inputs"); given != nullptr && given->is_array()) {
      for (const Json& reference : *given) {
        if (const auto position = layer_referred(layers, reference, i)) inputs.push_back(*position);
      }
    }
    wiring.inputs.push_back(inputs.empty() ? usual_inputs(i) : std::move(inputs));
    const Json* owner = member(layers[i], "weights_of");
    wiring.weights_of.push_back(owner != nullptr ? layer_referred(layers, *owner, i)
                                                 : std::nullopt);
  }
  return wiring;
}

Wiring wiring_of(const std::vector<ResolvedLayer>& layers) {
  Wiring wiring;
  for (const ResolvedLayer& layer : layers) {
    wiring.inputs.push_back(layer.inputs);
    wiring.weights_of.push_back(layer.weights_of);
  }
  return wiring;
}

std::vector<std::size_t> calls_of(const Wiring& wiring, std::size_t position) {
  std::vector<std::size_t> calls{position};
  for (std::size_t i = position + 1; i < wiring.weights_of.size(); ++i) {
    if (wiring.weights_of[i] == position) calls.push_back(i);
  }
  return calls;
}

bool names_wiring(const Json& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const Json& layer) {
    return member(layer, "inputs") != nullptr || member(layer, "weights_of") != nullptr;
  });
}

void set_wiring(Json& layers, const Wiring& wanted) {
  // Names of layers may have come and gone: a reference counts only where its layer alone has it.
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const Json* given = member(layers[i], "inputs");
    Json names = Json::array();
    const bool usual = wanted.inputs[i] == usual_inputs(i);
    if (usual && given == nullptr) continue;
    for (const std::size_t input : wanted.inputs[i]) names.push_back(named(layers, input));
    if (usual && (i == 0 || *given != names)) {
      layers[i].erase("inputs");
    } else {
      layers[i]["inputs"] = std::move(names);
    }
  }
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (const auto owner = wanted.weights_of[i]) {
      layers[i]["weights_of"] = named(layers, *owner);
    } else if (layers[i].contains("weights_of")) {
      layers[i].erase("weights_of");
    }
  }
}

void check_wiring(const Json& normal, const std::string& path, std::vector<Problem>& problems) {
  if (!names_wiring(normal)) return;
  const Layer* first = layer_of(normal.front());
  if (first != nullptr && first->kind != LayerKind::kInput) {
    problems.push_back({path + "/0", first->class_name,
                        "InputLayer, the first layer of a model whose layers name their inputs"});
  }
  std::vector<bool> taken(normal.size(), false);
  for (const std::vector<std::size_t>& inputs : wiring_of(normal).inputs) {
    for (const std::size_t input : inputs) taken[input] = true;
  }
  for (std::size_t i = 0; i + 1 < normal.size(); ++i) {
    if (taken[i]) continue;
    const Layer* type = layer_of(normal[i]);
    problems.push_back(
        {path + "/" + std::to_string(i),
         (type != nullptr ? type->class_name : "a layer") + " whose output no layer takes",
         "layers that lead to the model's one output, the last layer"});
  }
}

bool is_chain(const std::vector<ResolvedLayer>& layers) {
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (layers[i].weights_of || layers[i].inputs != usual_inputs(i)) return false;
  }
  return true;
}

void require_chain(const ResolvedProgram& program, const std::string& reason) {
  const std::vector<ResolvedLayer>& layers = program.layers;
  for (std::size_t i = 0; i < layers.size(); ++i) {
    if (!layers[i].weights_of && layers[i].inputs == usual_inputs(i)) continue;
    throw input_error(
        describe("", "/model/config/layers/" + std::to_string(i),
                 layers[i].class_name + (layers[i].weights_of ? ", a layer that is called once more"
                                                              : ", which names its inputs"),
                 "chains of layers: " + reason));
  }
}

std::vector<std::vector<std::size_t>> consumers_of(const std::vector<ResolvedLayer>& layers) {
  std::vector<std::vector<std::size_t>> consumers(layers.size());
  for (std::size_t i = 0; i < layers.size(); ++i) {
    for (const std::size_t input : layers[i].inputs) consumers[input].push_back(i);
  }
  return consumers;
}

namespace {

constexpr std::size_t kModelInput = static_cast<std::size_t>(-1);

/// What a layer takes, past layers without a partner: of `names`, by position, or kModelInput.
/// nullopt: a layer of several inputs is among these.
std::optional<std::vector<std::size_t>> partners_taken(
    const Wiring& wiring, std::size_t position,
    const std::vector<std::optional<std::size_t>>& names) {
  std::vector<std::size_t> taken;
  for (std::size_t input : wiring.inputs[position]) {
    while (input != kModelInput && !names[input]) {
      const std::vector<std::size_t>& further = wiring.inputs[input];
      if (further.size() > 1) return std::nullopt;
      input = further.empty() ? kModelInput : further.front();
    }
    taken.push_back(input == kModelInput ? kModelInput : *names[input]);
  }
  if (taken.empty()) taken.push_back(kModelInput);
  return taken;
}

}  // namespace

std::vector<std::size_t> rewired_layers(const Wiring& before, const Wiring& after,
                                        const std::vector<std::optional<std::size_t>>& partner) {
  std::vector<std::optional<std::size_t>> itself(after.inputs.size());
  for (const auto& other : partner) {
    if (other) itself[*other] = *other;
  }
  std::vector<std::size_t> rewired;
  for (std::size_t i = 0; i < partner.size(); ++i) {
    if (!partner[i]) continue;
    const auto a = partners_taken(before, i, partner);
    const auto b = partners_taken(after, *partner[i], itself);
    if (a && b && *a != *b) rewired.push_back(i);
  }
  return rewired;
}

std::optional<std::size_t> only_consumer(const std::vector<ResolvedLayer>& layers,
                                         std::size_t position) {
  const std::vector<std::size_t> takers = consumers_of(layers)[position];
  if (takers.size() != 1 || layers[takers.front()].inputs.size() != 1) return std::nullopt;
  return takers.front();
}

}  // namespace neutra::program
