#include "program/shapes.h"

#include <algorithm>
#include <cmath>

#include "program/document.h"
#include "program/graph.h"
#include "program/normal.h"

namespace neutra::program {
namespace {

constexpr std::size_t kMaxLayers = 1000;  ///< deeper models than Keras can build

Json config_of(const Json& layer) {
  const Json* config = member(layer, "config");
  return config != nullptr && config->is_object() ? *config : Json::object();
}

/// Goes through the layers of a normal form, from the input to the output.
class ShapeWalk {
 public:
  ShapeWalk(Inference& known, std::vector<Problem>& problems)
      : known_(known), problems_(problems) {}

  void run() {
    const Json* layers = find_layers(known_.normal);
    if (layers == nullptr) return;
    check_layers(*layers);
    const Wiring wiring = wiring_of(*layers);
    for (const Json& layer : *layers) {
      const Layer* type = layer_of(layer);
      const std::size_t index = known_.types.size();
      known_.types.push_back(type);
      known_.layers.push_back({type != nullptr ? type->class_name : "",
                               static_cast<int>(index),
                               config_of(layer),
                               {},
                               {},
                               {},
                               wiring.inputs[index],
                               wiring.weights_of[index]});
    }
    std::optional<Shape> shape = input();
    if (shape) known_.input = *shape;
    std::vector<std::optional<Shape>> shapes;
    for (std::size_t i = 0; i < known_.layers.size(); ++i) {
      std::vector<Shape> inputs;
      for (const std::size_t input : known_.layers[i].inputs) {
        if (shapes[input]) inputs.push_back(*shapes[input]);
      }
      const bool all = inputs.size() == known_.layers[i].inputs.size();
      if (i == 0 && shape) inputs = {*shape};
      masked_.push_back(false);
      shapes.push_back(all && !inputs.empty() ? step(i, inputs) : std::nullopt);
    }
    known_.output = shapes.empty() ? shape : shapes.back();
    known_.masked = known_.output && !masked_.empty() && masked_.back();
  }

 private:
  void check_layers(const Json& layers) {
    if (layers.size() > kMaxLayers) {
      problems_.push_back({known_.path, std::to_string(layers.size()) + " layers",
                           "at most " + std::to_string(kMaxLayers)});
    }
    const bool weights = std::any_of(layers.begin(), layers.end(), [](const Json& layer) {
      const Layer* type = layer_of(innermost_layer(layer));
      if (type == nullptr) return true;  // a problem of its own
      return type->weights != nullptr && config_of(layer).value("trainable", Json(true)) != false;
    });
    if (!weights) {
      problems_.push_back({known_.path,
                           layers.empty() ? "no layers" : "no layer with trainable weights",
                           "at least one layer such as Dense"});
    }
  }

  /// The rows' shape from the data, else as the first layer declares it.
  std::optional<Shape> input() {
    const std::string place = known_.layer_path(0) + "/config/batch_input_shape";
    const Json* layers = find_layers(known_.written);
    const Json config = layers->empty() ? Json() : config_of(layers->front());
    const Json* extents = member(config, "batch_input_shape");
    if (extents == nullptr) extents = member(config, "batch_shape");
    if (extents != nullptr && (!extents->is_array() || has_problem(problems_, place))) {
      extents = nullptr;
    }
    if (known_.data != nullptr) {
      if (extents != nullptr) check_declared(*extents, place);
      return with_unit(known_.data->x);
    }
    if (extents == nullptr) return std::nullopt;
    Shape declared;
    for (std::size_t i = 1; i < extents->size(); ++i) {
      if ((*extents)[i].is_null()) return std::nullopt;
      declared.push_back((*extents)[i].get<std::int64_t>());
    }
    return declared;
  }

  void check_declared(const Json& extents, const std::string& place) {
    const Shape rows = with_unit(known_.data->x);
    bool fits = extents.size() == rows.size() + 1;
    for (std::size_t i = 0; fits && i < rows.size(); ++i) {
      fits = extents[i + 1].is_null() || extents[i + 1] == rows[i];
    }
    if (!fits) {
      problems_.push_back(
          {place, shown(extents), "rows as the data source delivers them: " + to_string(rows)});
    }
  }

  /// Output shape of layer `index`; nullopt where there is a problem.
  std::optional<Shape> step(std::size_t index, const std::vector<Shape>& inputs) {
    ResolvedLayer& layer = known_.layers[index];
    const std::string path = known_.layer_path(index);
    if (known_.types[index] == nullptr || has_problem(problems_, path)) return std::nullopt;
    const Layer& type = *known_.types[index];
    layer.input_shape = inputs.front();
    const bool masked = takes_mask(layer, masked_);
    if (masked && type.refuse_mask != nullptr) {
      if (const auto refusal = type.refuse_mask(layer.config)) {
        problems_.push_back(problem_of(*refusal, path));
        return std::nullopt;
      }
    }
    const auto result = output_shape(layer, type, inputs);
    if (const auto* refusal = std::get_if<Refusal>(&result)) {
      problems_.push_back(problem_of(*refusal, path));
      return std::nullopt;
    }
    layer.output_shape = std::get<Shape>(result);
    if (element_count(layer.output_shape) > kMaxElements) {
      problems_.push_back({path, "an output " + to_string(layer.output_shape) + " per row",
                           "at most " + std::to_string(kMaxElements) + " elements"});
      return std::nullopt;
    }
    if (type.weights != nullptr) layer.weights = type.weights(layer.config, inputs.front());
    if (layer.weights_of) {
      if (!check_shared(layer, path)) return std::nullopt;
    } else {
      for (const Weight& weight : layer.weights) check_weight(weight, layer, path);
    }
    masked_[index] = type.masks_output != nullptr && type.masks_output(layer.config, masked);
    return layer.output_shape;
  }

  std::variant<Shape, Refusal> output_shape(const ResolvedLayer& layer, const Layer& type,
                                            const std::vector<Shape>& inputs) const {
    if (type.kind != LayerKind::kMerge) return type.output_shape(layer.config, inputs.front());
    std::vector<bool> masked;
    for (const std::size_t input : layer.inputs) masked.push_back(masked_[input]);
    return type.merged_shape(layer.config, inputs, masked);
  }

  /// A layer that is called once more has the weights that it has. Unknown ones are a problem of
  /// that layer.
  bool check_shared(const ResolvedLayer& layer, const std::string& path) {
    const ResolvedLayer& owner = known_.layers[*layer.weights_of];
    if (owner.output_shape.empty() && owner.weights.empty()) return false;
    for (std::size_t k = 0; k < layer.weights.size(); ++k) {
      if (k < owner.weights.size() && layer.weights[k].shape == owner.weights[k].shape) continue;
      problems_.push_back(
          {path,
           "an input " + to_string(layer.input_shape) + ", for which the " + layer.weights[k].name +
               " would be " + to_string(layer.weights[k].shape),
           "inputs that fit the " + layer.weights[k].name + " of layer " +
               std::to_string(*layer.weights_of) +
               (k < owner.weights.size() ? ", " + to_string(owner.weights[k].shape) : "")});
      return false;
    }
    return true;
  }

  static Problem problem_of(const Refusal& refusal, const std::string& path) {
    return {refusal.field.empty() ? path : path + "/config/" + refusal.field, refusal.found,
            refusal.allowed};
  }

  void check_weight(const Weight& weight, const ResolvedLayer& layer, const std::string& path) {
    if (element_count(weight.shape) > kMaxElements) {
      problems_.push_back({path, "a " + weight.name + " " + to_string(weight.shape),
                           "at most " + std::to_string(kMaxElements) + " elements"});
    }
    const Json& initializer = variable_settings(layer.config, weight).at(weight.initializer);
    check_constraint(weight, layer, path);
    const Entry* entry =
        find(Vocabulary::kInitializer, initializer.at("class_name").get<std::string>());
    if (entry->name == "FanInUniform" && fan_in_weight(layer, weight) == nullptr) {
      problems_.push_back({path + "/config" + settings_path(layer.config, weight) + "/" +
                               weight.initializer + "/config/of",
                           "recurrent_kernel, which " + layer.class_name + " has not", "kernel"});
    }
    if (!entry->facts.contains("rank")) return;
    const auto range = entry->facts["rank"].get<std::pair<std::size_t, std::size_t>>();
    if (weight.shape.size() < range.first || weight.shape.size() > range.second) {
      problems_.push_back(
          {path + "/config" + settings_path(layer.config, weight) + "/" + weight.initializer,
           entry->name + " for a " + weight.name + " " + to_string(weight.shape),
           range.first == range.second ? "weights of two extents"
                                       : "weights of at least two extents"});
    }
  }

  /// A constraint's axes are some of the weight's.
  void check_constraint(const Weight& weight, const ResolvedLayer& layer, const std::string& path) {
    const Json constraint = constraint_of(layer.config, weight);
    const Json axes =
        constraint.is_object() ? constraint.at("config").value("axis", Json()) : Json();
    const auto rank = static_cast<std::int64_t>(weight.shape.size());
    for (const Json& axis : axes) {
      if (axis >= -rank && axis < rank) continue;
      problems_.push_back(
          {path + "/config" + settings_path(layer.config, weight) + "/" + constraint_name(weight) +
               "/config/axis",
           axis.dump() + " for a " + weight.name + " " + to_string(weight.shape),
           "axes from " + std::to_string(-rank) + " to " + std::to_string(rank - 1)});
    }
  }

  Inference& known_;
  std::vector<Problem>& problems_;
  std::vector<bool> masked_;  ///< has the output of each layer so far a mask?
};

}  // namespace

Shape with_unit(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

bool has_problem(const std::vector<Problem>& problems, const std::string& prefix) {
  return std::any_of(problems.begin(), problems.end(), [&](const Problem& problem) {
    return problem.path == prefix || problem.path.starts_with(prefix + "/");
  });
}

Inference infer_shapes(const Json& document, const DataInfo* data, std::vector<Problem>& problems) {
  Inference known{document, normal_form(document, Defaults::kFill, problems),
                  data,     layers_path(document),
                  {},       {},
                  {}};
  ShapeWalk(known, problems).run();
  return known;
}

namespace {

/// The numbers that one output is made of: those of a kernel but for its last extent. Each output
/// of a depthwise kernel is made of one channel alone.
double fan_in(const Weight& weight) {
  if (weight.shape.empty()) return 1;
  if (weight.shape.size() == 1) return static_cast<double>(weight.shape[0]);
  double count = static_cast<double>(element_count(weight.shape)) /
                 static_cast<double>(std::max<std::int64_t>(1, weight.shape.back()));
  if (weight.name.ends_with("depthwise_kernel")) {
    count /= static_cast<double>(weight.shape[weight.shape.size() - 2]);
  }
  return count;
}

}  // namespace

const Weight* fan_in_weight(const ResolvedLayer& layer, const Weight& weight) {
  const Json& initializer = variable_settings(layer.config, weight).at(weight.initializer);
  const std::string of = initializer.value("config", Json::object()).value("of", "kernel");
  const bool backward = weight.name.starts_with("backward_");
  for (const Weight& other : layer.weights) {  // the kernel comes first
    if (other.name.ends_with(of) && other.name.starts_with("backward_") == backward) return &other;
  }
  return of == "kernel" ? &weight : nullptr;
}

Json drawn_initializer(const ResolvedLayer& layer, const Weight& weight) {
  const Json& initializer = variable_settings(layer.config, weight).at(weight.initializer);
  if (initializer.at("class_name") != "FanInUniform") return initializer;
  const Weight* source = fan_in_weight(layer, weight);
  const double limit = 1 / std::sqrt(std::max(1.0, fan_in(source != nullptr ? *source : weight)));
  return {{"class_name", "RandomUniform"}, {"config", {{"minval", -limit}, {"maxval", limit}}}};
}

}  // namespace neutra::program
