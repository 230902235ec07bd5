#include "program/formats/torch_program.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/error.h"
#include "base/strings.h"
#include "base/words.h"
#include "program/document.h"
#include "program/formats/keras_graph.h"
#include "program/graph.h"
#include "program/layers/merge.h"
#include "program/layers/scaling.h"
#include "program/shapes.h"
#include "program/vocabulary.h"

namespace neutra::program {
namespace {

[[noreturn]] void refuse(const ResolvedLayer& layer, const std::string& allowed) {
  throw input_error(describe("", "/model/config/layers/" + std::to_string(layer.index),
                             layer.class_name, allowed));
}

double number(const Json& config, const char* field) {
  const Json value = config.value(field, Json());
  return value.is_number() ? value.get<double>() : 0;
}

TorchCall initializer(const Json& config, const Shape& shape) {
  const std::string name = config.at("class_name");
  const Json settings = config.value("config", Json::object());
  const Entry& entry = *find(Vocabulary::kInitializer, name);
  if (entry.facts.contains("means")) {
    const Json& means = entry.facts["means"];
    return {"variance_scaling",
            {shape, number(means, "scale"), means.at("mode").get<std::string>(),
             means.at("distribution").get<std::string>()}};
  }
  if (name == "VarianceScaling") {
    std::string distribution = settings.value("distribution", "truncated_normal");
    if (distribution == "normal") distribution = "truncated_normal";
    return {"variance_scaling",
            {shape, settings.contains("scale") ? number(settings, "scale") : 1.0,
             settings.value("mode", "fan_in"), distribution}};
  }
  if (name == "Zeros") return {"constant", {shape, 0.0}};
  if (name == "Ones") return {"constant", {shape, 1.0}};
  // All others have a function of their name that takes their fields in order.
  static const std::map<std::string, std::string> functions{
      {"Constant", "constant"},
      {"Identity", "identity"},
      {"Orthogonal", "orthogonal"},
      {"RandomNormal", "random_normal"},
      {"RandomUniform", "random_uniform"},
      {"TruncatedNormal", "truncated_normal"}};
  TorchCall call{functions.at(name), {shape}};
  for (const Field& field : entry.fields) {
    if (field.type != FieldType::kNumber) continue;
    call.arguments.emplace_back(settings.value(field.name, *field.fallback).get<double>());
  }
  return call;
}

/// The function that keeps a variable within a constraint.
TorchCall constraint(const Json& json, const Shape& shape) {
  const std::string name = json.at("class_name");
  if (name == "NonNeg") return {"non_neg", {}};
  const Json config = json.value("config", Json::object());
  Shape axes;
  const Json& along = config.at("axis");
  for (std::size_t i = 0; along.is_null() && i < shape.size(); ++i) {
    axes.push_back(static_cast<std::int64_t>(i));
  }
  if (!along.is_null()) axes = along.get<Shape>();
  const bool unit = name == "UnitNorm", least = name == "MinMaxNorm";
  return {"bounded_norm",
          {unit ? 1.0 : number(config, "min_value"), unit ? 1.0 : number(config, "max_value"),
           least ? number(config, "rate") : 1.0, axes}};
}

TorchNumbers doubles(const std::vector<float>& values) { return {values.begin(), values.end()}; }

/// Builds the calls of one layer after the other.
class Builder {
 public:
  explicit Builder(const ResolvedProgram& program) : program_(program) {}

  TorchProgram build() {
    std::vector<std::string> classes;
    for (const ResolvedLayer& layer : program_.layers) classes.push_back(layer.class_name);
    const std::vector<std::string> names = keras_layer_names(classes);
    const auto consumers = consumers_of(program_.layers);
    // The layer that gives the model its output; those behind it are identities.
    std::size_t last = program_.layers.size();
    while (last > 0 && is_identity(program_.layers[last - 1])) --last;
    for (std::size_t i = 0; i < program_.layers.size(); ++i) {
      const ResolvedLayer& layer = program_.layers[i];
      take_inputs(layer, i);
      if (layer.weights_of) {
        first_ = first_of_[*layer.weights_of];
      } else {
        first_ = made_.variables.size();
        add_variables(layer, names[i], i);
      }
      first_of_.push_back(first_);
      add(layer);
      const std::string activation = last_activation(layer);  // a function of the parts
      const Json penalty = layer.config.value("activity_regularizer", Json());
      const bool output = i + 1 == last && !activation.empty();
      if (output && penalty.is_object() && activation != "linear") {
        refuse(layer, "no activity_regularizer where the layer gives the model's output");
      }
      if (!activation.empty() && activation != "linear") {
        const TorchCall call{activation, activation_arguments(activation)};
        if (output) {
          made_.output = call;
          output_activation_ = activation;
        } else {
          made_.forward.push_back({call});
        }
      }
      if (penalty.is_object()) {
        const Json& config = penalty.at("config");
        call("activity", {number(config, "l1"), number(config, "l2")});
        made_.has_activity = true;
      }
      if (program_.loop.detached == i) {
        if (made_.output) refuse(layer, "/fit/loop/detached before the model's output");
        call("detach", {});
      }
      const bool kept = std::any_of(consumers[i].begin(), consumers[i].end(), [&](std::size_t j) {
        return !takes_last(program_.layers[j], j);
      });
      if (kept) made_.forward.push_back({{}, {"x"}, kept_name(i)});
    }
    add_loss();
    add_optimizer();
    add_callbacks();
    return std::move(made_);
  }

 private:
  static std::vector<TorchArgument> activation_arguments(const std::string& name) {
    if (name == "elu") return {1.0};
    return {};
  }

  /// Is its input what was made last?
  static bool takes_last(const ResolvedLayer& layer, std::size_t position) {
    return layer.inputs.empty() || (layer.inputs.size() == 1 && layer.inputs[0] + 1 == position);
  }
  static std::string kept_name(std::size_t position) { return "x" + std::to_string(position); }

  /// Makes x the input of a layer; a merge layer takes its inputs itself.
  void take_inputs(const ResolvedLayer& layer, std::size_t position) {
    inputs_.clear();
    for (const std::size_t input : layer.inputs) inputs_.push_back(kept_name(input));
    if (inputs_.size() == 1 && !takes_last(layer, position)) {
      made_.forward.push_back({{}, inputs_, "x"});
    }
  }

  void add_variables(const ResolvedLayer& layer, const std::string& name, std::size_t position) {
    const std::vector<std::size_t>& left_out = program_.loop.left_out;
    for (const Weight& weight : layer.weights) {
      const Json& settings = variable_settings(layer.config, weight);
      TorchVariable variable{name + "_" + weight.name, weight.shape,
                             initializer(drawn_initializer(layer, weight), weight.shape)};
      variable.trainable = weight.trainable && layer.config.value("trainable", true) &&
                           settings.value("trainable", true);
      variable.updated = variable.trainable &&
                         std::find(left_out.begin(), left_out.end(), position) == left_out.end();
      const Json penalty = settings.value(weight.name + "_regularizer", Json());
      if (penalty.is_object()) {
        variable.l1 = number(penalty.at("config"), "l1");
        variable.l2 = number(penalty.at("config"), "l2");
      }
      const Json bound = constraint_of(layer.config, weight);
      if (bound.is_object() && variable.updated) {
        variable.constraint = constraint(bound, weight.shape);
      }
      made_.variables.push_back(std::move(variable));
    }
  }

  /// The layer's variable of that name; nothing where it has none.
  TorchArgument variable(const ResolvedLayer& layer, std::string_view name) const {
    for (std::size_t k = 0; k < layer.weights.size(); ++k) {
      if (layer.weights[k].name == name) return TorchVariableRef{first_ + k};
    }
    return {};
  }

  /// Padding {top, bottom, left, right} of windows.
  static Shape window_padding(const ResolvedLayer& layer, const Shape& window, const Shape& strides,
                              const Shape& dilation) {
    Shape padding(4);
    if (layer.config.at("padding") != "same") return padding;
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t reach =
          (layer.output_shape[axis] - 1) * strides[axis] + (window[axis] - 1) * dilation[axis] + 1;
      const std::int64_t all = std::max<std::int64_t>(0, reach - layer.input_shape[axis]);
      padding[2 * axis] = all / 2;
      padding[2 * axis + 1] = all - all / 2;
    }
    return padding;
  }

  void call(std::string function, std::vector<TorchArgument> arguments) {
    made_.forward.push_back({{std::move(function), std::move(arguments)}});
  }

  /// The layer's calls but for its activation.
  void add(const ResolvedLayer& layer) {
    static const std::map<std::string, void (Builder::*)(const ResolvedLayer&)> calls{
        {"Activation", &Builder::nothing},
        {"Add", &Builder::merge},
        {"Average", &Builder::merge},
        {"AveragePooling2D", &Builder::average_pooling_2d},
        {"BatchNormalization", &Builder::batch_normalization},
        {"Concatenate", &Builder::concatenate},
        {"Conv2D", &Builder::conv_2d},
        {"Conv2DTranspose", &Builder::conv_2d_transpose},
        {"Dense", &Builder::dense},
        {"Dropout", &Builder::dropout},
        {"ELU", &Builder::elu},
        {"Flatten", &Builder::reshape},
        {"GaussianDropout", &Builder::gaussian_dropout},
        {"GlobalAveragePooling2D", &Builder::global_average_pooling_2d},
        {"GlobalMaxPooling2D", &Builder::global_max_pooling_2d},
        {"InputLayer", &Builder::nothing},
        {"LeakyReLU", &Builder::leaky_relu},
        {"MaxPooling2D", &Builder::max_pooling_2d},
        {"Maximum", &Builder::merge},
        {"Minimum", &Builder::merge},
        {"Multiply", &Builder::merge},
        {"Normalization", &Builder::normalization},
        {"PReLU", &Builder::prelu},
        {"Permute", &Builder::permute},
        {"ReLU", &Builder::relu},
        {"RepeatVector", &Builder::repeat_vector},
        {"Rescaling", &Builder::rescaling},
        {"Reshape", &Builder::reshape},
        {"Softmax", &Builder::nothing},
        {"SpatialDropout1D", &Builder::spatial_dropout},
        {"SpatialDropout2D", &Builder::spatial_dropout},
        {"Subtract", &Builder::merge},
        {"TimeDistributed", &Builder::time_distributed},
        {"UpSampling2D", &Builder::up_sampling_2d},
        {"ZeroPadding2D", &Builder::zero_padding_2d}};
    const auto found = calls.find(layer.class_name);
    if (found == calls.end()) refuse(layer, "layers that the exports for PyTorch know");
    (this->*found->second)(layer);
  }

  /// An activation alone, or none.
  void nothing(const ResolvedLayer&) {}

  void merge(const ResolvedLayer& layer) {
    made_.forward.push_back({{"merged", {lower(layer.class_name)}}, inputs_});
  }
  void concatenate(const ResolvedLayer& layer) {
    const std::size_t axis = concatenation_axis(layer.config, layer.output_shape.size()) + 1;
    made_.forward.push_back({{"concatenated", {static_cast<std::int64_t>(axis)}}, inputs_});
  }

  void dense(const ResolvedLayer& layer) {
    call("dense", {variable(layer, "kernel"), variable(layer, "bias")});
  }

  void conv_2d(const ResolvedLayer& layer) {
    const Shape strides = layer.config.at("strides").get<Shape>();
    const Shape dilation = layer.config.at("dilation_rate").get<Shape>();
    call("conv_2d",
         {variable(layer, "kernel"), variable(layer, "bias"), strides,
          window_padding(layer, layer.config.at("kernel_size").get<Shape>(), strides, dilation),
          dilation, layer.config.at("groups").get<std::int64_t>()});
  }

  void conv_2d_transpose(const ResolvedLayer& layer) {
    const Shape strides = layer.config.at("strides").get<Shape>();
    const Shape dilation = layer.config.at("dilation_rate").get<Shape>();
    ResolvedLayer turned = layer;  // the convolution whose input is the output
    std::swap(turned.input_shape, turned.output_shape);
    const Shape padding =
        window_padding(turned, layer.config.at("kernel_size").get<Shape>(), strides, dilation);
    call("conv_2d_transpose",
         {variable(layer, "kernel"), variable(layer, "bias"), strides, dilation,
          Shape{padding[0], padding[2]}, Shape{layer.output_shape[0], layer.output_shape[1]}});
  }

  void up_sampling_2d(const ResolvedLayer& layer) {
    call("up_sampling_2d",
         {layer.config.at("size").get<Shape>(), layer.config.at("interpolation") == "bilinear"});
  }

  void rescaling(const ResolvedLayer& layer) {
    const auto numbers = [&](const char* field) {
      const Json& values = layer.config.at(field);
      return doubles(spread(values, values.is_array() ? std::ssize(values) : 1));
    };
    call("rescaling", {numbers("scale"), numbers("offset")});
  }

  void normalization(const ResolvedLayer& layer) {
    const Shape extents = statistics_extents(layer.config, layer.input_shape);
    const auto statistic = [&](const char* field) {
      if (!layer.weights.empty()) return variable(layer, field);
      return TorchArgument(doubles(spread(layer.config.at(field), element_count(extents))));
    };
    call("normalization", {statistic("mean"), statistic("variance"), extents,
                           layer.config.at("invert").get<bool>()});
  }

  void prelu(const ResolvedLayer& layer) { call("prelu", {variable(layer, "alpha")}); }

  void pooling(const ResolvedLayer& layer, const char* function) {
    const Json& config = layer.config;
    const Shape window = config.at("pool_size").get<Shape>();
    const Shape strides =
        config.at("strides").is_null() ? window : config.at("strides").get<Shape>();
    call(function, {window, strides, window_padding(layer, window, strides, {1, 1})});
  }
  void max_pooling_2d(const ResolvedLayer& layer) { pooling(layer, "max_pool_2d"); }
  void average_pooling_2d(const ResolvedLayer& layer) { pooling(layer, "average_pool_2d"); }
  void global_max_pooling_2d(const ResolvedLayer&) { call("global_max_pool_2d", {}); }
  void global_average_pooling_2d(const ResolvedLayer&) { call("global_average_pool_2d", {}); }

  void zero_padding_2d(const ResolvedLayer& layer) {
    const auto padding = layer.config.at("padding").get<std::vector<Shape>>();
    call("zero_pad_2d", {Shape{padding[0][0], padding[0][1], padding[1][0], padding[1][1]}});
  }

  void reshape(const ResolvedLayer& layer) { call("reshape", {layer.output_shape}); }

  void random(const ResolvedLayer& layer, const char* function) {
    call(function, {number(layer.config, "rate"), TorchTraining{}});
  }
  void dropout(const ResolvedLayer& layer) { random(layer, "dropout"); }
  void spatial_dropout(const ResolvedLayer& layer) { random(layer, "spatial_dropout"); }
  void gaussian_dropout(const ResolvedLayer& layer) { random(layer, "gaussian_dropout"); }

  void permute(const ResolvedLayer& layer) {
    call("permute", {layer.config.at("dims").get<Shape>()});
  }

  void repeat_vector(const ResolvedLayer& layer) {
    call("repeat_vector", {layer.config.at("n").get<std::int64_t>()});
  }

  void time_distributed(const ResolvedLayer& layer) {
    const ResolvedLayer inner = wrapped_layers(layer).front();
    call("regrouped", {inner.input_shape});
    add(inner);
    const std::string activation = last_activation(inner);
    if (!activation.empty() && activation != "linear") {
      call(activation, activation_arguments(activation));
    }
    call("regrouped", {layer.output_shape});
  }

  void batch_normalization(const ResolvedLayer& layer) {
    if (layer.config.at("sample_variance").get<bool>()) {
      refuse(layer, "a BatchNormalization without sample_variance");
    }
    // TensorFlow's kernel for images has a smallest epsilon; a frozen layer infers.
    double epsilon = number(layer.config, "epsilon");
    if (layer.input_shape.size() == 3) epsilon = std::max(epsilon, 1.001e-5);
    TorchArgument mode = TorchTraining{};
    if (!layer.config.value("trainable", true)) mode = false;
    call("batch_normalization",
         {variable(layer, "gamma"), variable(layer, "beta"), variable(layer, "moving_mean"),
          variable(layer, "moving_variance"), number(layer.config, "momentum"), epsilon, mode});
  }

  void relu(const ResolvedLayer& layer) {
    const double slope = number(layer.config, "negative_slope"),
                 threshold = number(layer.config, "threshold");
    TorchArgument most;
    if (const Json value = layer.config.value("max_value", Json()); value.is_number()) {
      most = value.get<double>();
    }
    call("general_relu", {slope, threshold, most});
  }

  void leaky_relu(const ResolvedLayer& layer) {
    call("leaky_relu", {number(layer.config, "alpha")});
  }
  void elu(const ResolvedLayer& layer) { call("elu", {number(layer.config, "alpha")}); }

  void add_loss() {
    static const std::map<std::string, std::string> of_logits{
        {"categorical_crossentropy", "softmax"},
        {"sparse_categorical_crossentropy", "softmax"},
        {"binary_crossentropy", "sigmoid"}};
    const auto it = of_logits.find(program_.loss);
    const LossOptions& options = program_.loss_options;
    made_.loss_of_logits =
        it != of_logits.end() && takes_logits(options, it->second, output_activation_);
    const bool logits = made_.loss_of_logits || (it != of_logits.end() && options.from_logits);
    made_.loss = program_.loss + (logits ? "_of_logits" : "");
    if (options.label_smoothing == 0) return;
    // Binary targets move towards a half, others towards equal shares.
    const bool binary = program_.loss == "binary_crossentropy";
    made_.smoothed = TorchCall{"smoothed", {options.label_smoothing, binary}};
  }

  /// What the classes of optimisers in these scripts don't have.
  static inline const std::map<std::string, Json> kNotExported{
      {"rules", "keras"}, {"weight_decay", 0},         {"undecayed", Json::array()},
      {"dampening", 0},   {"global_clipnorm", Json()}, {"decoupled_weight_decay", false}};
  static void require_plain_optimizer(const Json& config) {
    for (const auto& [field, off] : kNotExported) {
      if (!config.contains(field) || config[field] == off) continue;
      throw input_error(describe("", "/compile/optimizer/config/" + field, shown(config[field]),
                                 shown(off) + ": scripts have the formulas of tf.keras 2.4"));
    }
  }

  void add_optimizer() {
    const std::string name = program_.optimizer.at("class_name");
    const Json& config = program_.optimizer.at("config");
    constexpr std::array<const char*, 4> kShared{"learning_rate", "decay", "clipnorm", "clipvalue"};
    require_plain_optimizer(config);
    made_.optimizer.function = name;
    for (const char* field : kShared) made_.optimizer.arguments.emplace_back(number(config, field));
    for (const Field& field : find(Vocabulary::kOptimizer, name)->fields) {
      const bool number = field.type == FieldType::kNumber;
      if (!number && field.type != FieldType::kBoolean) continue;
      if (std::find(kShared.begin(), kShared.end(), field.name) != kShared.end() ||
          kNotExported.contains(field.name)) {
        continue;
      }
      const Json value = config.value(field.name, *field.fallback);
      if (number) {
        made_.optimizer.arguments.emplace_back(value.get<double>());
      } else {
        made_.optimizer.arguments.emplace_back(value.get<bool>());
      }
    }
  }

  void add_callbacks() {
    std::vector<std::string> monitors;
    for (const Json& callback : program_.callbacks) {
      if (callback.at("class_name") == "TerminateOnNaN") {
        made_.terminates_on_nan = true;
        continue;
      }
      if (callback.at("class_name") != "EarlyStopping") {
        throw input_error(describe("", "/fit/callbacks", shown(callback.at("class_name")),
                                   "EarlyStopping, TerminateOnNaN in scripts of PyTorch"));
      }
      const Json& config = callback.at("config");
      monitors.push_back(config.at("monitor"));
      const Json baseline = config.at("baseline");
      made_.early_stopping.push_back(
          {"EarlyStopping",
           {monitors.back(), config.at("min_delta").get<double>(),
            config.at("patience").get<std::int64_t>(), config.at("mode").get<std::string>(),
            baseline.is_number() ? TorchArgument(baseline.get<double>()) : TorchArgument(),
            config.at("restore_best_weights").get<bool>()}});
    }
    for (const Entry& entry : entries(Vocabulary::kMetric)) {
      const std::string& metric = entry.name;
      if (metric == "loss") continue;
      if (std::any_of(monitors.begin(), monitors.end(), [&](const std::string& monitor) {
            return monitor == metric || monitor == "val_" + metric;
          })) {
        made_.watched.push_back(metric);
      }
    }
  }

  const ResolvedProgram& program_;
  TorchProgram made_;
  std::size_t first_ = 0;              ///< variable of the layer
  std::vector<std::size_t> first_of_;  ///< of each layer so far, its first variable
  std::vector<std::string> inputs_;    ///< of the layer, as kept values
  std::string output_activation_ = "linear";
};

}  // namespace

std::string TorchProgram::watched_names() const {
  std::vector<std::string> quoted;
  for (const std::string& name : watched) quoted.push_back('"' + name + '"');
  return join(quoted);
}

TorchProgram torch_program(const ResolvedProgram& program) { return Builder(program).build(); }

bool validates(const TorchProgram& torch, const ResolvedProgram& program, bool rows_to_watch) {
  return (program.validation_split > 0 || rows_to_watch) &&
         (!torch.early_stopping.empty() || !program.loop.eval_mode);
}

}  // namespace neutra::program
