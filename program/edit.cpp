#include "program/edit.h"

#include <algorithm>
#include <array>

#include "program/document.h"
#include "program/layer.h"

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
  const auto name_of = [](const Json& layer) -> const Json* {
    const Json* config = member(layer, "config");
    return config != nullptr ? member(*config, "name") : nullptr;
  };
  const Json* name = name_of(copy);
  if (name == nullptr || !name->is_string()) return;
  std::string fresh = name->get<std::string>();
  const auto taken = [&](const Json& layer) {
    const Json* other = name_of(layer);
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
  renumber_steps(document, static_cast<std::int64_t>(from), by);
}

}  // namespace

Json& layers_of(Json& document) { return document[Json::json_pointer(layers_path(document))]; }

void erase_layer(Json& document, std::size_t index) {
  layers_of(document).erase(index);
  renumber_layers(document, index, -1);
}

void repeat_layer(Json& document, std::size_t index, std::int64_t count) {
  Json& layers = layers_of(document);
  if (count == 0) {
    const Json removed = layers[index];
    erase_layer(document, index);
    const Json* config = member(removed, "config");
    if (index > 0 || layers.empty() || config == nullptr) return;
    for (const char* field : kInputFields) {
      if (const Json* shape = member(*config, field)) layers[0]["config"][field] = *shape;
    }
  }
  for (std::int64_t copies = 1; copies < count; ++copies) {
    Json copy = layers[index];
    rename_copy(copy, layers);
    if (copy.contains("config") && copy["config"].is_object()) {
      for (const char* field : kInputFields) copy["config"].erase(field);
    }
    insert_layer(document, index + 1, std::move(copy));
  }
}

void insert_layer(Json& document, std::size_t index, Json layer) {
  Json& layers = layers_of(document);
  layers.insert(layers.begin() + static_cast<std::ptrdiff_t>(index), std::move(layer));
  renumber_layers(document, index, 1);
}

void set_layer_field(Json& document, std::size_t index, std::string_view field, Json value) {
  Json& layer = layers_of(document)[index];
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
