#include "program/formats/keras_config.h"

#include "base/error.h"
#include "program/document.h"
#include "program/formats/keras_graph.h"
#include "program/formats/metric_script.h"
#include "program/graph.h"
#include "program/layer.h"
#include "program/layers/scaling.h"
#include "program/normal.h"
#include "program/optimizer_rules.h"
#include "program/shapes.h"
#include "program/vocabulary.h"

namespace neutra::program {
namespace {

/// {class_name, config} in one of the spellings.
Json object(const std::string& module, const Json& class_name, Json config,
            KerasSpelling spelling) {
  Json json = Json::object();
  if (spelling == KerasSpelling::kModern) json["module"] = module;
  json["class_name"] = class_name;
  json["config"] = std::move(config);
  if (spelling == KerasSpelling::kModern) json["registered_name"] = nullptr;
  return json;
}

/// The config of a layer, with initialisers, regularisers, constraints and wrapped
/// layers as Keras stores them.
void spell_layer(Json& config, const std::string& class_name, KerasSpelling spelling) {
  const std::vector<Field>& fields = find_layer(class_name)->fields;
  // Keras 3 has no default of all poolings' windows.
  const Field* window = find_field(fields, "pool_size");
  if (window != nullptr && !config.contains("pool_size")) config["pool_size"] = *window->fallback;
  for (const char* field : {"sample_variance", "two_biases"}) config.erase(field);
  // Files of old Keras versions, which knew no such choice, mean false where nothing is said.
  if (find_field(fields, "reset_after") != nullptr && !config.contains("reset_after")) {
    config["reset_after"] = true;
  }
  for (const Field& field : fields) {
    const auto value = config.find(field.name);
    if (value == config.end() || !value->is_object()) continue;
    if (field.type == FieldType::kLayer) {
      const std::string wrapped = value->at("class_name");
      Json own{{"name", keras_snake_case(wrapped)}};
      own.update(value->value("config", Json::object()));
      spell_layer(own, wrapped, spelling);
      *value = object("keras.layers", wrapped, std::move(own), spelling);
      continue;
    }
    const std::string module = field.type == FieldType::kInitializer  ? "keras.initializers"
                               : field.type == FieldType::kConstraint ? "keras.constraints"
                                                                      : "keras.regularizers";
    *value =
        object(module, value->at("class_name"), value->value("config", Json::object()), spelling);
  }
}

/// A loss with options is an object of its class; `word`: what it is called else.
Json spelled_loss(const Json& loss, const std::string& word, KerasSpelling spelling) {
  if (!loss.is_object()) return word;
  return object("keras.losses", keras_loss_class(loss_word(loss)), loss.at("config"), spelling);
}

Json batch_shape(const Shape& input) {
  Json shape = Json::array({nullptr});
  for (const std::int64_t extent : input) shape.push_back(extent);
  return shape;
}

Json normal_document(const Program& program) {
  std::vector<Problem> problems;
  return normal_form(program.document, Defaults::kDrop, problems);
}

/// Values in row-major order as arrays in arrays.
Json nested(const std::vector<double>& values, const Shape& shape) {
  std::vector<Json> parts(values.begin(), values.end());
  for (std::size_t axis = shape.size(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(shape[axis]);
    std::vector<Json> joined;
    for (std::size_t i = 0; i < parts.size(); i += extent) {
      joined.emplace_back(Json::array());
      for (std::size_t k = i; k < i + extent; ++k) joined.back().push_back(parts[k]);
    }
    parts = std::move(joined);
  }
  return parts.front();
}

}  // namespace

std::string keras_loss_class(const std::string& word) {
  return find(Vocabulary::kLoss, word)->aliases.back();
}

Json without_zero_clipping(Json optimizer_config) {
  for (const char* field : {"clipnorm", "clipvalue"}) {
    if (optimizer_config.value(field, Json()) == 0) optimizer_config.erase(field);
  }
  return optimizer_config;
}

namespace {

/// The calls of a layer as a functional model stores them: [[["dense", 0, 0, {}], ...], ...]. Keras
/// 3 reads this form too.
Json inbound_nodes(const std::vector<ResolvedLayer>& layers, const KerasGraph& graph,
                   std::size_t position) {
  Json nodes = Json::array();
  for (const std::size_t call : calls_of(wiring_of(layers), position)) {
    Json node = Json::array();
    for (const std::size_t input : layers[call].inputs) {
      node.push_back({graph.names[input], graph.call[input], 0, Json::object()});
    }
    if (!node.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

/// Makes a functional model of the array of its layers.
Json functional_model(Json layers, const KerasGraph& graph, KerasSpelling spelling) {
  const auto end = [&](std::size_t position) {
    return Json::array({Json::array({graph.names[position], graph.call[position], 0})});
  };
  Json config{{"name", "model"},
              {"layers", std::move(layers)},
              {"input_layers", end(0)},
              {"output_layers", end(graph.names.size() - 1)}};
  // Keras 3 looks classes up among the names that it shows, tf.keras 2.4 among those it stores.
  return object("keras", spelling == KerasSpelling::kModern ? "Model" : "Functional",
                std::move(config), spelling);
}

}  // namespace

KerasVariable keras_variable(const ResolvedLayer& layer, std::size_t k,
                             const std::vector<float>& values) {
  const Weight& weight = layer.weights[k];
  const bool two = variable_settings(layer.config, weight).value("two_biases", false);
  if (!two || !weight.name.ends_with("bias")) return {weight.shape, values};
  KerasVariable sum{{weight.shape.back()}, {}};
  const std::size_t width = values.size() / 2;
  for (std::size_t i = 0; i < width; ++i) sum.values.push_back(values[i] + values[width + i]);
  return sum;
}

void write_initializers(Json& document, const Program& program, const Shape& input) {
  if (document.dump().find("FanInUniform") == std::string::npos) return;
  Program shaped = program;
  const Json::json_pointer first(layers_path(program.document) + "/0/config");
  if (!input.empty()) shaped.document[first]["batch_input_shape"] = batch_shape(input);
  const std::vector<ResolvedLayer> resolved = resolve(shaped).layers;
  Json& layers = document.at(Json::json_pointer(layers_path(document)));
  for (std::size_t i = 0; i < resolved.size(); ++i) {
    for (const Weight& weight : resolved[i].weights) {
      const Json& settings = variable_settings(resolved[i].config, weight);
      const Json drawn = drawn_initializer(resolved[i], weight);
      if (resolved[i].weights_of || drawn == settings.at(weight.initializer)) continue;
      const std::string path = "/config" + settings_path(resolved[i].config, weight);
      layers[i][Json::json_pointer(path)][weight.initializer] = drawn;
    }
    if (layers[i].dump().find("FanInUniform") != std::string::npos) {
      throw input_error(describe("", layers_path(document) + "/" + std::to_string(i),
                                 "FanInUniform, whose bounds depend on shapes that are unknown",
                                 "data, or a batch_input_shape"));
    }
  }
}

Json keras_model_config(const Program& program, const Shape& input, KerasSpelling spelling) {
  Json document = normal_document(program);
  const std::vector<ResolvedLayer> resolved = resolve(program).layers;
  write_initializers(document, program, input);
  const Json& stored = *find_layers(document);
  const KerasGraph graph = keras_graph(resolved);
  Json layers = Json::array();
  for (const std::size_t i : graph.order) {
    const std::string class_name = stored[i].at("class_name");
    Json config{{"name", graph.names[i]}};
    const bool declares = find_layer(class_name)->kind == LayerKind::kInput;
    if (declares || (i == 0 && spelling == KerasSpelling::kLegacy)) {
      config["batch_input_shape"] = batch_shape(input);
    }
    config.update(stored[i].value("config", Json::object()));
    if (declares) config.erase("trainable");  // Keras has none there
    spell_layer(config, class_name, spelling);
    layers.push_back(object("keras.layers", class_name, std::move(config), spelling));
    if (graph.chain) continue;
    layers.back()["name"] = graph.names[i];
    layers.back()["inbound_nodes"] = inbound_nodes(resolved, graph, i);
  }
  if (!graph.chain) return functional_model(std::move(layers), graph, spelling);
  Json config{{"name", "sequential"}, {"layers", std::move(layers)}};
  if (spelling == KerasSpelling::kModern) config["build_input_shape"] = batch_shape(input);
  Json model = object("keras", "Sequential", std::move(config), spelling);
  if (spelling == KerasSpelling::kModern) {
    model["build_config"] = {{"input_shape", batch_shape(input)}};
  }
  return model;
}

void spell_statistics(Json& config, const ResolvedLayer& layer,
                      const std::vector<std::vector<float>>* weights) {
  if (!find_layer(layer.class_name)->adapts_to_data || layer.input_shape.empty()) return;
  if (!layer.weights.empty() && weights == nullptr) return;
  const Shape shape = statistics_shape(layer.config, layer.input_shape);
  for (std::size_t k = 0; k < 2; ++k) {
    const char* field = k == 0 ? "mean" : "variance";
    std::vector<double> values;
    if (!layer.weights.empty()) {
      values.assign((*weights)[k].begin(), (*weights)[k].end());
    } else {
      const Json& given = layer.config.at(field);
      for (std::int64_t i = 0; i < element_count(shape); ++i) {
        const auto at = static_cast<std::size_t>(i);
        values.push_back(!given.is_array() ? given.get<double>()
                                           : given[given.size() == 1 ? 0 : at].get<double>());
      }
    }
    config[field] = nested(values, shape);
  }
}

void spell_statistics(Json& model, const ResolvedProgram& resolved, const ModelWeights& weights) {
  const KerasGraph graph = keras_graph(resolved.layers);
  for (std::size_t k = 0; k < graph.order.size(); ++k) {
    const std::size_t i = graph.order[k];
    spell_statistics(model["config"]["layers"][k]["config"], resolved.layers[i], &weights[i]);
  }
}

namespace {

/// What Keras's optimisers don't have; a model trains by the formulas of the Keras that loads it.
void drop_rules(Json& config, bool legacy) {
  const bool decoupled = config.value("rules", "") != "torch";
  for (const char* field : {"rules", "undecayed", "decoupled_weight_decay", "dampening"}) {
    config.erase(field);
  }
  if (legacy || !decoupled) config.erase("weight_decay");
}

}  // namespace

Json keras_compile_config(const Program& program, KerasSpelling spelling) {
  const Json document = normal_document(program);
  const Json& compile = document.at("compile");
  Json optimizer = compile.value("optimizer", Json{{"class_name", "RMSprop"}});
  const std::string name = optimizer.at("class_name");
  const std::vector<Field> fields =
      optimizer_fields(*find(Vocabulary::kOptimizer, name), optimizer);
  Json config{{"name", name}, {"learning_rate", *find_field(fields, "learning_rate")->fallback}};
  config.update(without_zero_clipping(optimizer.value("config", Json::object())));
  drop_rules(config, spelling == KerasSpelling::kLegacy);
  for (auto& [setting, value] : config.items()) {
    if (value.is_number()) value = value.get<double>();  // Keras 3 takes no whole number for a rate
  }
  const Json& loss = compile.at("loss");
  const Json names = compile.value("metrics", Json::array());
  const Json metrics = keras_metrics(names, names);
  if (spelling == KerasSpelling::kLegacy) {
    return {{"optimizer_config", object("", name, std::move(config), spelling)},
            {"loss", spelled_loss(loss, loss_word(loss), spelling)},
            {"metrics", metrics},
            {"weighted_metrics", nullptr},
            {"sample_weight_mode", nullptr},
            {"loss_weights", nullptr}};
  }
  // Optimisers without `decay` take a schedule that does the same.
  if (const Json decay = config.value("decay", Json()); decay.is_number() && decay != 0) {
    config["learning_rate"] = object("keras.optimizers.schedules", "InverseTimeDecay",
                                     {{"initial_learning_rate", config["learning_rate"]},
                                      {"decay_steps", 1},
                                      {"decay_rate", decay},
                                      {"staircase", false},
                                      {"name", "InverseTimeDecay"}},
                                     spelling);
  }
  config.erase("decay");
  config.erase("schedule_decay");
  // Keras 3 knows two losses under other names than tf.keras does; both know these.
  std::string word = loss_word(loss);
  if (word == "kullback_leibler_divergence") word = "kl_divergence";
  if (word == "logcosh") word = "log_cosh";
  return {{"optimizer", object("keras.optimizers", name, std::move(config), spelling)},
          {"loss", spelled_loss(loss, word, spelling)},
          {"metrics", metrics},
          {"loss_weights", nullptr},
          {"weighted_metrics", nullptr}};
}

}  // namespace neutra::program
