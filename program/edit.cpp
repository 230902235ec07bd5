#include "program/edit.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "program/document.h"
#include "program/graph.h"
#include "program/layer.h"
#include "program/optimizer_rules.h"

namespace neutra::program {
namespace {

constexpr std::array<const char*, 2> kInputFields = {"batch_input_shape", "batch_shape"};

/// Sets a field of an object under its canonical name; older names of it go.
void set_field(Json& object, const std::vector<Field>& fields, std::string_view name, Json value) {
  if (!object.is_object()) object = Json::object();
  const Field* field = find_field(fields, name);
  if (field != nullptr) {
    for (const std::string& alias : field->aliases) object.erase(alias);
  }
  object[std::string(name)] = std::move(value);
}

/// Gives a copied layer a name of its own.
void rename_copy(Json& copy, const Json& layers) {
  const std::string* name = name_of(copy);
  if (name == nullptr) return;
  std::string fresh = *name;
  const auto taken = [&](const Json& layer) {
    const std::string* other = name_of(layer);
    return other != nullptr && *other == fresh;
  };
  do {
    fresh += "_copy";
  } while (std::any_of(layers.begin(), layers.end(), taken));
  copy["config"]["name"] = fresh;
}

/// Gives new positions to the layers that fit.loop names: those at `from` and behind it are now
/// `by` further on. by = -1: the one at `from` is gone.
void renumber_loop(Json& document, std::int64_t from, std::int64_t by) {
  if (!document.contains("fit") || !document["fit"].contains("loop")) return;
  Json& loop = document["fit"]["loop"];
  if (loop.contains("left_out")) {
    Json& left_out = loop["left_out"];
    Json kept = Json::array();
    for (const Json& layer : left_out.is_array() ? Json(left_out) : Json::array({left_out})) {
      const std::int64_t position = layer;
      if (by < 0 && position == from) continue;
      kept.push_back(position < from ? position : position + by);
    }
    left_out = std::move(kept);
  }
  if (loop.contains("detached") && loop["detached"].is_number()) {
    // Without that layer, the gradient ends behind the one before it.
    const std::int64_t position = loop["detached"];
    if (position < from) return;
    loop["detached"] = position + by < 0 ? Json() : Json(position + by);
  }
}

/// Steps on the trained model go on naming the layers that they name when one is put before `index`
/// (by = 1) or the one there is removed (by = -1), with which its own steps go.
void renumber_steps(Json& document, std::int64_t index, std::int64_t by) {
  const Json* trained = member(document, "trained");
  const Json* steps = trained != nullptr ? member(*trained, "mutations") : nullptr;
  if (steps == nullptr || !steps->is_array()) return;
  Json kept = Json::array();
  for (Json step : *steps) {
    if (const Json* layer = member(step, "layer"); layer != nullptr && layer->is_number()) {
      const auto named = layer->get<double>();
      if (by < 0 && named == static_cast<double>(index)) continue;
      if (named >= static_cast<double>(index)) {
        step["layer"] = static_cast<std::int64_t>(named) + by;
      }
    }
    kept.push_back(std::move(step));
  }
  document["trained"]["mutations"] = std::move(kept);
}

void renumber_layers(Json& document, std::size_t from, std::int64_t by) {
  renumber_loop(document, static_cast<std::int64_t>(from), by);
  renumber_undecayed(document, static_cast<std::int64_t>(from), by);
  renumber_steps(document, static_cast<std::int64_t>(from), by);
}

/// Positions at `from` and behind it are now `by` further on.
void move_positions(Wiring& wiring, std::size_t from, std::ptrdiff_t by) {
  const auto move = [=](std::size_t& position) {
    if (position >= from)
      position = static_cast<std::size_t>(static_cast<std::ptrdiff_t>(position) + by);
  };
  for (std::vector<std::size_t>& inputs : wiring.inputs) {
    std::for_each(inputs.begin(), inputs.end(), move);
  }
  for (std::optional<std::size_t>& owner : wiring.weights_of) {
    if (owner) move(*owner);
  }
}

/// One position, whatever other calls its layer has.
void erase_at(Json& document, std::size_t index) {
  Json& layers = layers_of(document);
  const bool graph = names_wiring(layers);
  Wiring wiring = wiring_of(layers);
  layers.erase(index);
  renumber_layers(document, index, -1);
  if (!graph) return;
  const auto at = static_cast<std::ptrdiff_t>(index);
  const std::vector<std::size_t> before = wiring.inputs[index];
  wiring.inputs.erase(wiring.inputs.begin() + at);
  wiring.weights_of.erase(wiring.weights_of.begin() + at);
  for (std::vector<std::size_t>& inputs : wiring.inputs) {
    if (before.empty()) {
      inputs.erase(std::remove(inputs.begin(), inputs.end(), index), inputs.end());
    } else {
      std::replace(inputs.begin(), inputs.end(), index, before.front());
    }
  }
  move_positions(wiring, index, -1);
  set_wiring(layers, wiring);
}

}  // namespace

Json& layers_of(Json& document) { return document[Json::json_pointer(layers_path(document))]; }

void insert_layer(Json& document, std::size_t index, Json layer) {
  Json& layers = layers_of(document);
  const bool graph = names_wiring(layers);
  Wiring wiring = wiring_of(layers);
  const auto at = static_cast<std::ptrdiff_t>(index);
  layers.insert(layers.begin() + at, std::move(layer));
  renumber_layers(document, index, 1);
  if (!graph) return;
  move_positions(wiring, index, 1);
  for (std::vector<std::size_t>& inputs : wiring.inputs) {
    std::replace(inputs.begin(), inputs.end(), index - 1, index);
  }
  wiring.inputs.insert(wiring.inputs.begin() + at, {index - 1});
  wiring.weights_of.insert(wiring.weights_of.begin() + at, std::nullopt);
  set_wiring(layers, wiring);
}

namespace {

/// Puts a copy behind the layer at `index`, and behind each of its other calls a call of the copy.
void double_layer(Json& document, std::size_t index, std::vector<std::size_t>& origin) {
  Json& layers = layers_of(document);
  const std::vector<std::size_t> calls = calls_of(wiring_of(layers), index);
  for (std::size_t k = calls.size(); k-- > 0;) {
    const std::size_t call = calls[k];
    Json copy = layers[call];
    rename_copy(copy, layers);
    for (const char* field : {"inputs", "weights_of"}) copy.erase(field);
    if (copy.contains("config") && copy["config"].is_object()) {
      for (const char* field : kInputFields) copy["config"].erase(field);
    }
    insert_layer(document, call + 1, std::move(copy));
    origin.insert(origin.begin() + static_cast<std::ptrdiff_t>(call) + 1, origin[call]);
  }
  if (calls.size() == 1) return;
  Wiring wiring = wiring_of(layers);
  for (std::size_t k = 1; k < calls.size(); ++k) wiring.weights_of[calls[k] + k + 1] = index + 1;
  set_wiring(layers, wiring);
}

}  // namespace

std::vector<std::size_t> repeat_layer(Json& document, std::size_t index, std::int64_t count) {
  Json& layers = layers_of(document);
  std::vector<std::size_t> origin(layers.size());
  std::iota(origin.begin(), origin.end(), std::size_t{0});
  const Wiring wiring = wiring_of(layers);
  if (wiring.weights_of[index]) index = *wiring.weights_of[index];
  if (count == 0) {
    const Json removed = layers[index];
    const std::vector<std::size_t> calls = calls_of(wiring, index);
    for (auto call = calls.rbegin(); call != calls.rend(); ++call) {
      erase_at(document, *call);
      origin.erase(origin.begin() + static_cast<std::ptrdiff_t>(*call));
    }
    const Json* config = member(removed, "config");
    if (index > 0 || layers.empty() || config == nullptr) return origin;
    for (const char* field : kInputFields) {
      if (const Json* shape = member(*config, field)) layers[0]["config"][field] = *shape;
    }
  }
  for (std::int64_t copies = 1; copies < count; ++copies) double_layer(document, index, origin);
  return origin;
}

void set_layer_field(Json& document, std::size_t index, std::string_view field, Json value) {
  Json& layers = layers_of(document);
  Json& layer = layers[wiring_of(layers).weights_of[index].value_or(index)];
  const Layer* type = find_layer(layer.at("class_name").get<std::string>());
  set_field(layer["config"], type->fields, field, std::move(value));
}

void set_section_field(Json& document, std::string_view section, std::string_view field,
                       Json value) {
  set_field(document[std::string(section)], section_fields(section), field, std::move(value));
}

void set_loop_field(Json& document, std::string_view field, Json value) {
  set_section_field(document["fit"], "loop", field, std::move(value));
}

Json& optimizer_of(Json& document) {
  Json& compile = document["compile"];
  Json& optimizer =
      compile[compile.contains("optimizer_config") ? "optimizer_config" : "optimizer"];
  if (!optimizer.is_object()) {
    // A word, or left out: the default's own name.
    optimizer = {{"class_name", optimizer.is_string() ? optimizer : Json("RMSprop")}};
  }
  return optimizer;
}

void set_optimizer_field(Json& document, std::string_view field, Json value) {
  Json& optimizer = optimizer_of(document);
  const Entry* entry = find(Vocabulary::kOptimizer, optimizer.at("class_name").get<std::string>());
  set_field(optimizer["config"], entry->fields, field, std::move(value));
}

}  // namespace neutra::program
