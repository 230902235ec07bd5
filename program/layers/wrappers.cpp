#include <algorithm>

#include "program/document.h"
#include "program/layers/fields.h"

/// Layers that run another one. Its {class_name, config} is their field "layer", as Keras stores
/// them. Source: tf.keras 2.4 layers/wrappers.py.
namespace neutra::program {
namespace {

constexpr std::string_view kForward = "forward_", kBackward = "backward_";

const Layer& type_of(const Json& wrapped) {
  return *find_layer(wrapped.at("class_name").get<std::string>());
}

/// A wrapped layer's refusal, with the field as seen from the wrapper's config.
Refusal from_within(Refusal refusal, const std::string& layer = "layer") {
  refusal.field = refusal.field.empty() ? layer : layer + "/config/" + refusal.field;
  return refusal;
}

/// What no wrapper supports of the layer that it runs.
std::optional<Refusal> refuse_wrapped(const Json& config, const std::string& layer = "layer") {
  const Json settings = config.at(layer).at("config");
  const Json activity = settings.value("activity_regularizer", Json());
  if (activity.is_null()) return std::nullopt;
  return Refusal{layer + "/config/activity_regularizer", shown(activity),
                 "null (not supported in a wrapped layer)"};
}

/// The layer that goes the other way: as given, else the forward one with `go_backwards` turned.
Json backward_layer(const Json& config) {
  const Json& given = config.at("backward_layer");
  if (given.is_object()) return given;
  Json turned = config.at("layer");
  Json& backwards = turned["config"]["go_backwards"];
  backwards = !backwards.get<bool>();
  return turned;
}

std::vector<Weight> renamed(std::vector<Weight> weights, std::string_view prefix) {
  for (Weight& weight : weights) weight.name.insert(0, prefix);
  return weights;
}

std::variant<Shape, Refusal> bidirectional_shape(const Json& config, const Shape& input) {
  const bool given = config.at("backward_layer").is_object();
  for (const char* field : {"layer", "backward_layer"}) {
    if (field == std::string_view("backward_layer") && !given) continue;
    const Json& wrapped = config.at(field);
    if (type_of(wrapped).kind != LayerKind::kRecurrent) {
      return Refusal{std::string(field) + "/class_name", shown(wrapped.at("class_name")),
                     "GRU, LSTM or SimpleRNN"};
    }
    if (auto refusal = refuse_wrapped(config, field)) return *refusal;
  }
  const Json& forward = config.at("layer").at("config");
  const Json other = backward_layer(config);
  const Json& backward = other.at("config");
  if (forward.at("go_backwards") == backward.at("go_backwards")) {
    return Refusal{"backward_layer/config/go_backwards", shown(backward.at("go_backwards")),
                   "another value than in layer: one goes forwards, one backwards"};
  }
  if (forward.at("return_sequences") != backward.at("return_sequences")) {
    return Refusal{"backward_layer/config/return_sequences", shown(backward.at("return_sequences")),
                   "the value that layer has"};
  }
  auto result = type_of(config.at("layer")).output_shape(forward, input);
  if (auto* refusal = std::get_if<Refusal>(&result)) return from_within(*refusal);
  Shape output = std::get<Shape>(result);
  const std::int64_t units = backward.at("units");
  if (config.at("merge_mode") == "concat") {
    output.back() += units;
  } else if (units != output.back()) {
    return Refusal{"backward_layer/config/units", std::to_string(units),
                   std::to_string(output.back()) + ", as many as layer has, or merge_mode concat"};
  }
  return output;
}

/// What Keras stores of the two layers of a Bidirectional and knows without: `backward_layer`,
/// where it is `layer` the other way round, and `zero_output_for_mask`, which it sets itself.
void simplify_directions(Json& config, Defaults defaults) {
  const auto taken = [](Json& layer, const char* flag) {
    Json& settings = layer["config"];
    if (!settings.is_object()) return false;
    const bool value = settings.value(flag, Json(false)) == true;
    settings.erase(flag);
    return value;
  };
  const Json* forward = member(config, "layer");
  const Json* backward = member(config, "backward_layer");
  for (const Json* layer : {forward, backward}) {
    if (layer == nullptr || !layer->is_object()) continue;
    const Json* settings = member(*layer, "config");
    if (settings == nullptr || !settings->contains("zero_output_for_mask")) continue;
    Json& own = config[layer == forward ? "layer" : "backward_layer"]["config"];
    if (defaults == Defaults::kFill) {
      own["zero_output_for_mask"] = false;
    } else {
      own.erase("zero_output_for_mask");
    }
  }
  if (forward == nullptr || backward == nullptr || !backward->is_object()) return;
  Json one = *forward, other = *backward;
  if (taken(one, "go_backwards") == taken(other, "go_backwards") || one != other) return;
  if (defaults == Defaults::kFill) {
    config["backward_layer"] = nullptr;
  } else {
    config.erase("backward_layer");
  }
}

std::optional<Refusal> refuse_distributed(const Json& config) {
  const LayerKind kind = type_of(config.at("layer")).kind;
  if (kind == LayerKind::kInput || kind == LayerKind::kEmbedding || kind == LayerKind::kMasking) {
    return Refusal{"layer/class_name", shown(config.at("layer").at("class_name")),
                   "layers other than InputLayer, Embedding and Masking"};
  }
  return refuse_wrapped(config);
}

std::variant<Shape, Refusal> distributed_shape(const Json& config, const Shape& input) {
  if (auto refusal = refuse_distributed(config)) return *refusal;
  if (input.size() < 2) return wrong_rank(input, "(steps, ...), of two extents or more");
  const Json& wrapped = config.at("layer");
  auto result =
      type_of(wrapped).output_shape(wrapped.at("config"), Shape(input.begin() + 1, input.end()));
  if (auto* refusal = std::get_if<Refusal>(&result)) return from_within(*refusal);
  Shape output = std::get<Shape>(result);
  output.insert(output.begin(), input.front());
  return output;
}

}  // namespace

namespace layer {

const Layer& bidirectional() {
  static const Layer layer{
      .class_name = "Bidirectional",
      .kind = LayerKind::kWrapper,
      .aliases = {},
      .fields = {{.name = "layer", .type = FieldType::kLayer},
                 {.name = "backward_layer", .type = FieldType::kLayer, .fallback = Json()},
                 {.name = "merge_mode",
                  .type = FieldType::kText,
                  .fallback = "concat",
                  .words = {"concat", "sum", "mul", "ave"}}},
      .output_shape = bidirectional_shape,
      .weights =
          [](const Json& config, const Shape& input) {
            const Json &forward = config.at("layer"), backward = backward_layer(config);
            std::vector<Weight> all =
                renamed(type_of(forward).weights(forward.at("config"), input), kForward);
            for (Weight& weight :
                 renamed(type_of(backward).weights(backward.at("config"), input), kBackward)) {
              all.push_back(std::move(weight));
            }
            return all;
          },
      .masks_output = [](const Json& config, bool masked) -> bool {
        return masked && config.at("layer").at("config").at("return_sequences").get<bool>();
      },
      .uses_mask = true,
      .simplify = simplify_directions};
  return layer;
}

const Layer& time_distributed() {
  static const Layer layer{
      .class_name = "TimeDistributed",
      .kind = LayerKind::kWrapper,
      .aliases = {},
      .fields = {{.name = "layer", .type = FieldType::kLayer}},
      .output_shape = distributed_shape,
      .weights =
          [](const Json& config, const Shape& input) {
            const Json& wrapped = config.at("layer");
            const Layer& type = type_of(wrapped);
            return type.weights == nullptr
                       ? std::vector<Weight>()
                       : type.weights(wrapped.at("config"), Shape(input.begin() + 1, input.end()));
          },
      .masks_output = keep_mask,
      .refuse_mask = [](const Json& config) -> std::optional<Refusal> {
        // tf.keras gives the layer a mask without steps, which these can't take.
        const Layer& type = type_of(config.at("layer"));
        if (!type.uses_mask && type.masks_output != nullptr) return std::nullopt;
        return Refusal{"layer/class_name", type.class_name + " behind a mask of steps",
                       "layers that hand masks on, such as Dense, Activation and Dropout"};
      },
      .wraps_steps = true};
  return layer;
}

}  // namespace layer

std::vector<ResolvedLayer> wrapped_layers(const ResolvedLayer& layer) {
  const auto wrapped = layer.config.find("layer");
  if (wrapped == layer.config.end()) return {};
  ResolvedLayer inner{type_of(*wrapped).class_name, layer.index,
                      wrapped->at("config"),        layer.input_shape,
                      layer.output_shape,           layer.weights};
  if (find_layer(layer.class_name)->wraps_steps) {
    for (Shape* shape : {&inner.input_shape, &inner.output_shape}) {
      if (!shape->empty()) shape->erase(shape->begin());  // unknown shapes stay so
    }
    return {inner};
  }
  const Json other = backward_layer(layer.config);
  ResolvedLayer backward = inner;
  backward.class_name = type_of(other).class_name;
  backward.config = other.at("config");
  inner.weights.clear();
  backward.weights.clear();
  for (Weight weight : layer.weights) {
    const bool forward = weight.name.starts_with(kForward);
    weight.name.erase(0, forward ? kForward.size() : kBackward.size());
    (forward ? inner : backward).weights.push_back(std::move(weight));
  }
  for (ResolvedLayer* one : {&inner, &backward}) {
    if (!one->output_shape.empty()) one->output_shape.back() = one->config.at("units");
  }
  return {inner, backward};
}

bool has_training_mode(const ResolvedLayer& layer) {
  const std::vector<ResolvedLayer> wrapped = wrapped_layers(layer);
  if (!wrapped.empty()) return std::any_of(wrapped.begin(), wrapped.end(), has_training_mode);
  for (const char* field : {"rate", "stddev", "dropout", "recurrent_dropout"}) {
    if (const Json* value = member(layer.config, field); value && *value != 0) return true;
  }
  return find_layer(layer.class_name)->updates_statistics && layer.config.at("trainable") == true;
}

std::string settings_path(const Json& config, const Weight& weight) {
  const auto wrapped = config.find("layer");
  if (wrapped == config.end()) return "";
  const bool backward =
      weight.name.starts_with(kBackward) && config.value("backward_layer", Json()).is_object();
  const std::string path = backward ? "backward_layer" : "layer";
  return "/" + path + "/config" + settings_path(config.at(path).at("config"), weight);
}

const Json& variable_settings(const Json& config, const Weight& weight) {
  return config.at(Json::json_pointer(settings_path(config, weight)));
}

}  // namespace neutra::program
