#include "program/formats/torch_program.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <map>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "program/formats/keras_config.h"
#include "program/layer.h"
#include "program/layers/scaling.h"
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
    // The layer that gives the model its output; those behind it are identities.
    std::size_t last = program_.layers.size();
    while (last > 0 && is_identity(program_.layers[last - 1])) --last;
    for (std::size_t i = 0; i < program_.layers.size(); ++i) {
      const ResolvedLayer& layer = program_.layers[i];
      add_variables(layer, names[i], i);
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
          made_.forward.push_back(call);
        }
      }
      if (penalty.is_object()) {
        const Json& config = penalty.at("config");
        made_.forward.push_back({"activity", {number(config, "l1"), number(config, "l2")}});
        made_.has_activity = true;
      }
      if (program_.loop.detached == i) {
        if (made_.output) refuse(layer, "/fit/loop/detached before the model's output");
        made_.forward.push_back({"detach", {}});
      }
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

  void add_variables(const ResolvedLayer& layer, const std::string& name, std::size_t position) {
    first_ = made_.variables.size();
    const std::vector<std::size_t>& left_out = program_.loop.left_out;
    for (const Weight& weight : layer.weights) {
      const Json& settings = variable_settings(layer.config, weight);
      TorchVariable variable{name + "_" + weight.name, weight.shape,
                             initializer(settings.at(weight.initializer), weight.shape)};
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

  /// The layer's calls but for its activation.
  void add(const ResolvedLayer& layer) {
    const Json& config = layer.config;
    const std::string& name = layer.class_name;
    const auto call = [&](const char* function, std::vector<TorchArgument> arguments) {
      made_.forward.push_back({function, std::move(arguments)});
    };
    if (name == "InputLayer" || name == "Activation" || name == "Softmax") {
    } else if (name == "Dense") {
      call("dense", {variable(layer, "kernel"), variable(layer, "bias")});
    } else if (name == "Conv2D") {
      const Shape strides = config.at("strides").get<Shape>();
      const Shape dilation = config.at("dilation_rate").get<Shape>();
      call("conv_2d",
           {variable(layer, "kernel"), variable(layer, "bias"), strides,
            window_padding(layer, config.at("kernel_size").get<Shape>(), strides, dilation),
            dilation, config.at("groups").get<std::int64_t>()});
    } else if (name == "Conv2DTranspose") {
      const Shape strides = config.at("strides").get<Shape>();
      const Shape dilation = config.at("dilation_rate").get<Shape>();
      ResolvedLayer turned = layer;  // the convolution whose input is the output
      std::swap(turned.input_shape, turned.output_shape);
      const Shape padding =
          window_padding(turned, config.at("kernel_size").get<Shape>(), strides, dilation);
      call("conv_2d_transpose",
           {variable(layer, "kernel"), variable(layer, "bias"), strides, dilation,
            Shape{padding[0], padding[2]}, Shape{layer.output_shape[0], layer.output_shape[1]}});
    } else if (name == "UpSampling2D") {
      call("up_sampling_2d",
           {config.at("size").get<Shape>(), config.at("interpolation") == "bilinear"});
    } else if (name == "Rescaling") {
      const auto numbers = [&](const char* field) {
        const Json& values = config.at(field);
        return doubles(spread(values, values.is_array() ? std::ssize(values) : 1));
      };
      call("rescaling", {numbers("scale"), numbers("offset")});
    } else if (name == "Normalization") {
      const Shape extents = statistics_extents(config, layer.input_shape);
      const auto statistic = [&](const char* field) {
        if (!layer.weights.empty()) return variable(layer, field);
        return TorchArgument(doubles(spread(config.at(field), element_count(extents))));
      };
      call("normalization",
           {statistic("mean"), statistic("variance"), extents, config.at("invert").get<bool>()});
    } else if (name == "PReLU") {
      call("prelu", {variable(layer, "alpha")});
    } else if (name == "MaxPooling2D" || name == "AveragePooling2D") {
      const Shape window = config.at("pool_size").get<Shape>();
      const Shape strides =
          config.at("strides").is_null() ? window : config.at("strides").get<Shape>();
      call(name == "MaxPooling2D" ? "max_pool_2d" : "average_pool_2d",
           {window, strides, window_padding(layer, window, strides, {1, 1})});
    } else if (name == "GlobalMaxPooling2D") {
      call("global_max_pool_2d", {});
    } else if (name == "GlobalAveragePooling2D") {
      call("global_average_pool_2d", {});
    } else if (name == "ZeroPadding2D") {
      const auto padding = config.at("padding").get<std::vector<Shape>>();
      call("zero_pad_2d", {Shape{padding[0][0], padding[0][1], padding[1][0], padding[1][1]}});
    } else if (name == "Flatten" || name == "Reshape") {
      call("reshape", {layer.output_shape});
    } else if (name == "Dropout") {
      call("dropout", {number(config, "rate"), TorchTraining{}});
    } else if (name == "SpatialDropout1D" || name == "SpatialDropout2D") {
      call("spatial_dropout", {number(config, "rate"), TorchTraining{}});
    } else if (name == "GaussianDropout") {
      call("gaussian_dropout", {number(config, "rate"), TorchTraining{}});
    } else if (name == "Permute") {
      call("permute", {config.at("dims").get<Shape>()});
    } else if (name == "RepeatVector") {
      call("repeat_vector", {config.at("n").get<std::int64_t>()});
    } else if (name == "TimeDistributed") {
      const ResolvedLayer inner = wrapped_layers(layer).front();
      call("regrouped", {inner.input_shape});
      add(inner);
      const std::string activation = last_activation(inner);
      if (!activation.empty() && activation != "linear") {
        call(activation.c_str(), activation_arguments(activation));
      }
      call("regrouped", {layer.output_shape});
    } else if (name == "BatchNormalization") {
      // TensorFlow's kernel for images has a smallest epsilon; a frozen layer infers.
      double epsilon = number(config, "epsilon");
      if (layer.input_shape.size() == 3) epsilon = std::max(epsilon, 1.001e-5);
      const bool frozen = !config.value("trainable", true);
      call("batch_normalization",
           {variable(layer, "gamma"), variable(layer, "beta"), variable(layer, "moving_mean"),
            variable(layer, "moving_variance"), number(config, "momentum"), epsilon,
            frozen ? TorchArgument(false) : TorchArgument(TorchTraining{})});
    } else if (name == "ReLU") {
      const double slope = number(config, "negative_slope"),
                   threshold = number(config, "threshold");
      const Json most = config.value("max_value", Json());
      call("general_relu",
           {slope, threshold,
            most.is_number() ? TorchArgument(most.get<double>()) : TorchArgument()});
    } else if (name == "LeakyReLU") {
      call("leaky_relu", {number(config, "alpha")});
    } else if (name == "ELU") {
      call("elu", {number(config, "alpha")});
    } else {
      refuse(layer, "layers that the exports for PyTorch know");
    }
  }

  void add_loss() {
    static const std::map<std::string, std::string> of_logits{
        {"categorical_crossentropy", "softmax"},
        {"sparse_categorical_crossentropy", "softmax"},
        {"binary_crossentropy", "sigmoid"}};
    const auto it = of_logits.find(program_.loss);
    const LossOptions& options = program_.loss_options;
    made_.loss_of_logits = it != of_logits.end() && it->second == output_activation_;
    const bool logits = made_.loss_of_logits || (it != of_logits.end() && options.from_logits);
    made_.loss = program_.loss + (logits ? "_of_logits" : "");
    if (options.label_smoothing == 0) return;
    // Binary targets move towards a half, others towards equal shares.
    const bool binary = program_.loss == "binary_crossentropy";
    made_.smoothed = TorchCall{"smoothed", {options.label_smoothing, binary}};
  }

  void add_optimizer() {
    const std::string name = program_.optimizer.at("class_name");
    const Json& config = program_.optimizer.at("config");
    constexpr std::array<const char*, 4> kShared{"learning_rate", "decay", "clipnorm", "clipvalue"};
    made_.optimizer.function = name;
    for (const char* field : kShared) made_.optimizer.arguments.emplace_back(number(config, field));
    for (const Field& field : find(Vocabulary::kOptimizer, name)->fields) {
      const bool number = field.type == FieldType::kNumber;
      if (!number && field.type != FieldType::kBoolean) continue;
      if (std::find(kShared.begin(), kShared.end(), field.name) != kShared.end()) continue;
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
  std::size_t first_ = 0;  ///< variable of the layer
  std::string output_activation_ = "linear";
};

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Does the text mention the name as a word of its own? What belongs to an object or to LibTorch
/// has other owners.
bool mentions(std::string_view text, std::string_view name) {
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string_view::npos; ++at) {
    const std::size_t end = at + name.size();
    const std::string_view before = text.substr(0, at);
    const bool owned = before.ends_with('.') || before.ends_with("torch::");
    if (!owned && (at == 0 || !is_word(text[at - 1])) &&
        (end == text.size() || !is_word(text[end]))) {
      return true;
    }
  }
  return false;
}

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

std::string TorchSyntax::text(const TorchArgument& argument, const TorchProgram& program) const {
  struct Visitor {
    const TorchSyntax& syntax;
    const TorchProgram& program;
    std::string operator()(std::monostate) const { return syntax.cpp ? "{}" : "None"; }
    std::string operator()(bool value) const {
      return syntax.cpp ? (value ? "true" : "false") : (value ? "True" : "False");
    }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
    std::string operator()(double value) const { return python_repr(value); }
    std::string operator()(const std::string& value) const { return '"' + value + '"'; }
    std::string operator()(const Shape& value) const {
      std::string text;
      for (const std::int64_t extent : value) {
        text += (text.empty() ? "" : ", ") + std::to_string(extent);
      }
      return syntax.cpp ? "{" + text + "}" : "[" + text + "]";
    }
    std::string operator()(const TorchNumbers& values) const {
      std::string text;
      for (const double value : values) text += (text.empty() ? "" : ", ") + python_repr(value);
      return syntax.cpp ? "torch::tensor({" + text + "}, torch::kFloat)"
                        : "torch.tensor([" + text + "]).float()";
    }
    std::string operator()(TorchVariableRef variable) const {
      return syntax.variables + program.variables[variable.index].name;
    }
    std::string operator()(TorchTraining) const { return syntax.training; }
  };
  return std::visit(Visitor{*this, program}, argument);
}

std::string TorchSyntax::text(const TorchCall& call, const std::string& first,
                              const TorchProgram& program) const {
  std::string arguments = first;
  for (const TorchArgument& argument : call.arguments) {
    arguments += (arguments.empty() ? "" : ", ") + text(argument, program);
  }
  return functions + call.function + "(" + arguments + ")";
}

std::string parts_for(std::string_view parts, const std::string& needs) {
  struct Part {
    std::string_view name, text;
    bool wanted = false;
  };
  std::vector<Part> all;
  constexpr std::string_view kMark = "part: ";
  for (std::size_t begin = 0; begin < parts.size();) {
    const std::size_t end = std::min(parts.find('\n', begin), parts.size());
    const std::string_view line = parts.substr(begin, end - begin);
    const std::size_t mark = line.find(kMark);
    const bool head = mark != std::string_view::npos && mark <= 3;
    if (head) {
      all.push_back(
          {line.substr(mark + kMark.size()), parts.substr(std::min(end + 1, parts.size()), 0)});
    } else if (!all.empty()) {
      Part& part = all.back();
      part.text = {part.text.data(),
                   static_cast<std::size_t>(parts.data() + std::min(end + 1, parts.size()) -
                                            part.text.data())};
    }
    begin = end + 1;
  }
  std::vector<std::string_view> open{needs};
  while (!open.empty()) {
    const std::string_view text = open.back();
    open.pop_back();
    for (Part& part : all) {
      if (part.wanted || !mentions(text, part.name)) continue;
      part.wanted = true;
      open.push_back(part.text);
    }
  }
  std::string text;
  for (const Part& part : all) {
    if (part.wanted) text += part.text;
  }
  while (text.ends_with("\n\n")) text.pop_back();
  return text;
}

}  // namespace neutra::program
