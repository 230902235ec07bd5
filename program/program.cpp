#include "program/program.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <map>
#include <set>

#include "base/error.h"
#include "base/numbers.h"
#include "program/layer.h"
#include "program/metric_name.h"
#include "program/normal.h"
#include "program/trained_mutations.h"
#include "program/vocabulary.h"
#include "program/warnings.h"

namespace neutra::program {
namespace {

constexpr std::size_t kMaxLayers = 1000;  ///< deeper models than Keras can build

/// The 1 that Keras appends to rows of plain numbers.
Shape with_unit(const Shape& shape) { return shape.empty() ? Shape{1} : shape; }

/// The class of a layer in normal form; nullptr for none that is known.
const Layer* type_of(const Json& layer) {
  const Json* name = member(layer, "class_name");
  return name != nullptr && name->is_string() ? find_layer(name->get<std::string>()) : nullptr;
}

Json config_of(const Json& layer) {
  const Json* config = member(layer, "config");
  return config != nullptr && config->is_object() ? *config : Json::object();
}

/// Shape inference over the normal form; layers after a refused one have no shapes.
class Inference {
 public:
  Inference(const Json& document, const DataInfo* data, std::vector<Problem>& problems)
      : written_(document),
        normal_(normal_form(document, Defaults::kFill, problems)),
        data_(data),
        problems_(problems),
        path_(layers_path(document)) {
    const Json* layers = find_layers(normal_);
    if (layers == nullptr) return;
    check_layers(*layers);
    for (const Json& layer : *layers) {
      const Layer* type = type_of(layer);
      const int index = static_cast<int>(types_.size());
      types_.push_back(type);
      resolved_.push_back(
          {type != nullptr ? type->class_name : "", index, config_of(layer), {}, {}, {}});
    }
    std::optional<Shape> shape = input();
    if (shape) input_ = *shape;
    for (std::size_t i = 0; shape && i < resolved_.size(); ++i) shape = step(i, *shape);
    output_ = shape;
    if (output_ && data != nullptr && !resolved_.empty()) {
      check_target();
      check_mask();
      check_metric();
    }
    check_metric_scale();
    if (data != nullptr) check_split();
    if (output_ && data != nullptr) check_class_weight();
    check_clipping();
    check_loop();
    check_trained();
  }

  const Json& normal() const { return normal_; }
  const Shape& input_shape() const { return input_; }
  std::vector<ResolvedLayer>& layers() { return resolved_; }

 private:
  std::string layer_path(std::size_t index) const { return path_ + "/" + std::to_string(index); }

  bool has_problem(const std::string& prefix) const {
    return std::any_of(problems_.begin(), problems_.end(), [&](const Problem& problem) {
      return problem.path == prefix || problem.path.starts_with(prefix + "/");
    });
  }

  void check_layers(const Json& layers) {
    if (layers.size() > kMaxLayers) {
      problems_.push_back({path_, std::to_string(layers.size()) + " layers",
                           "at most " + std::to_string(kMaxLayers)});
    }
    const bool weights = std::any_of(layers.begin(), layers.end(), [](const Json& layer) {
      const Layer* type = type_of(innermost_layer(layer));
      if (type == nullptr) return true;  // a problem of its own
      return type->weights != nullptr && config_of(layer).value("trainable", Json(true)) != false;
    });
    if (!weights) {
      problems_.push_back({path_, layers.empty() ? "no layers" : "no layer with trainable weights",
                           "at least one layer such as Dense"});
    }
  }

  /// The rows' shape from the data, else as the first layer declares it.
  std::optional<Shape> input() {
    const std::string place = layer_path(0) + "/config/batch_input_shape";
    const Json* layers = find_layers(written_);
    const Json config = layers->empty() ? Json() : config_of(layers->front());
    const Json* extents = member(config, "batch_input_shape");
    if (extents == nullptr) extents = member(config, "batch_shape");
    if (extents != nullptr && (!extents->is_array() || has_problem(place))) extents = nullptr;
    if (data_ != nullptr) {
      if (extents != nullptr) check_declared(*extents, place);
      return with_unit(data_->x);
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
    const Shape rows = with_unit(data_->x);
    bool fits = extents.size() == rows.size() + 1;
    for (std::size_t i = 0; fits && i < rows.size(); ++i) {
      fits = extents[i + 1].is_null() || extents[i + 1] == rows[i];
    }
    if (!fits) {
      problems_.push_back(
          {place, shown(extents), "rows as the data source delivers them: " + to_string(rows)});
    }
  }

  /// Output shape of layer `index`; nullopt ends the inference.
  std::optional<Shape> step(std::size_t index, const Shape& input) {
    ResolvedLayer& layer = resolved_[index];
    const std::string path = layer_path(index);
    if (types_[index] == nullptr || has_problem(path)) return std::nullopt;
    const Layer& type = *types_[index];
    layer.input_shape = input;
    if (masked_ && type.refuse_mask != nullptr) {
      if (const auto refusal = type.refuse_mask(layer.config)) {
        problems_.push_back(problem_of(*refusal, path));
        return std::nullopt;
      }
    }
    const auto result = type.output_shape(layer.config, input);
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
    if (type.weights != nullptr) layer.weights = type.weights(layer.config, input);
    for (const Weight& weight : layer.weights) check_weight(weight, layer, path);
    masked_ = type.masks_output != nullptr && type.masks_output(layer.config, masked_);
    return layer.output_shape;
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

  /// Refuses what Keras 2.4 cannot train: the output and the targets in the loss.
  void check_target() {
    if (has_problem("/compile")) return;
    const std::string loss = loss_word(normal_.at("compile").at("loss"));
    const bool from_logits = loss_options(normal_.at("compile").at("loss")).from_logits;
    Shape target = with_unit(data_->y);
    Shape output = *output_;
    const bool squeezed = squeeze(output, target);
    if (loss == "sparse_categorical_crossentropy") {
      check_labels(target, output);
    } else if (loss == "categorical_crossentropy") {
      // backend.categorical_crossentropy asserts compatible shapes.
      if (target != output) report_target(loss + " takes targets of the output's shape");
    } else if (loss == "binary_crossentropy" && (from_logits || (!squeezed && ends_in_sigmoid()))) {
      // sigmoid_cross_entropy_with_logits doesn't broadcast.
      if (target != output) {
        report_target(loss + (from_logits ? " of logits" : " after sigmoid") +
                      " takes targets of the output's shape");
      }
    } else if (!broadcast(target, output)) {
      report_target("extents that are equal or 1");
    }
  }

  /// Keras drops a last extent of 1 where that makes the ranks equal
  /// (losses_utils.squeeze_or_expand_dimensions). False: there is none.
  static bool squeeze(Shape& output, Shape& target) {
    Shape& longer = output.size() > target.size() ? output : target;
    const Shape& shorter = output.size() > target.size() ? target : output;
    if (longer.size() != shorter.size() + 1 || longer.back() != 1) return false;
    longer.pop_back();
    return true;
  }

  /// The loss of an output with a mask is that of the steps that count (training/losses.h).
  void check_mask() {
    if (!masked_ || has_problem(path_)) return;
    const Shape target = with_unit(data_->y), &output = *output_;
    const bool labels = loss_word(normal_.value("compile", Json::object()).value("loss", Json())) ==
                        "sparse_categorical_crossentropy";
    // Of others tf.keras takes the mean over the steps, where targets are plain numbers.
    const bool fits =
        output.size() == 2 && target.front() == output.front() &&
        (target.size() == 2 ? !labels || target[1] == 1 : labels && target.size() == 1);
    if (!fits) {
      problems_.push_back({layer_path(resolved_.size() - 1),
                           "an output " + to_string(output) + " with a mask of steps for targets " +
                               to_string(target),
                           "targets for each step; or a layer that leaves the mask out, such as "
                           "Flatten or a recurrent one without return_sequences"});
    }
    if (const Json& weights = normal_.value("fit", Json::object()).value("class_weight", Json());
        weights.is_object()) {
      problems_.push_back({"/fit/class_weight", shown(weights),
                           "null: the output has a mask of steps, which are weighed already"});
    }
  }

  /// Refuses a metric that can't compare the output with the targets (training/metrics.h).
  void check_metric() {
    if (has_problem("/metric") || has_problem("/compile") || has_problem(path_)) return;
    const std::string name = normal_.at("metric").at("name");
    const Entry& metric = *find(Vocabulary::kMetric, name);
    if (name == "loss") return;  // check_target() has seen it
    std::string takes = metric.facts.value("targets", "broadcast");
    Shape target = with_unit(data_->y), output = output_->empty() ? Shape{1} : *output_;
    const std::string found =
        " of outputs " + to_string(output) + " and targets " + to_string(target);
    if (normal_.at("metric").value("scale", "") == "original" && target != output &&
        element_count(target) != 1) {
      problems_.push_back({"/metric/scale", "original" + found, "outputs of the targets' shape"});
    }
    const auto refuse_metric = [&](const std::string& allowed) {
      problems_.push_back({"/metric/name", name + found, allowed});
    };
    const std::int64_t width = output.back();
    const std::int64_t rows = element_count(output) / width;
    if (takes == "classes") {  // Keras's rule for the word accuracy
      takes = width == 1                                            ? "broadcast"
              : target.size() < output.size() || target.back() == 1 ? "labels"
                                                                    : "rows";
    }
    if (takes == "labels" || takes == "outputs") {
      if (element_count(target) != rows) return refuse_metric("one label for each row of scores");
      const double low = data_->y_min, high = data_->y_max;
      if (takes == "outputs" && !(low > -1 && high < static_cast<double>(width))) {
        problems_.push_back({"/metric/name",
                             name + " of labels from " + shortest(low) + " to " + shortest(high),
                             "labels from 0 to " + std::to_string(width - 1)});
      }
    } else if (takes == "rows") {
      if (element_count(target) / target.back() != rows) {
        refuse_metric("a row of targets for each row of scores");
      }
    } else {
      squeeze(output, target);
      if (takes == "same" && target != output) {
        refuse_metric("targets of the output's shape");
      } else if (!broadcast(target, output)) {
        refuse_metric("extents that are equal or 1");
      }
    }
  }

  /// Steps on y that can be taken back make an original scale.
  void check_metric_scale() {
    const Json* metric = member(normal_, "metric");
    if (metric == nullptr || !metric->is_object() || metric->value("scale", Json()) != "original") {
      return;
    }
    const Json data = normal_.value("data", Json::object());
    const Json* steps = member(data, "preprocess");
    if (steps == nullptr || !steps->is_array()) return;
    for (std::size_t i = 0; i < steps->size(); ++i) {
      const Json& step = (*steps)[i];
      if (step.is_object() && step.value("on", Json()) == "y" &&
          step.value("op", Json()) == "one_hot") {
        problems_.push_back({"/metric/scale",
                             "original, with one_hot in /data/preprocess/" + std::to_string(i),
                             "targets that are numbers of a scale"});
      }
    }
  }

  /// Keras flattens the targets unless they have one rank less than the output, truncates them to
  /// integers and reads one for each row of the output's last axis.
  void check_labels(const Shape& target, const Shape& output) {
    if (output.empty()) return report_target("sparse_categorical_crossentropy takes class scores");
    const Shape rows(output.begin(), output.end() - 1);
    const bool fits = target.size() + 1 == output.size()
                          ? target == rows
                          : element_count(target) == element_count(rows);
    if (!fits) {
      return report_target(
          "sparse_categorical_crossentropy takes one whole-number label for each "
          "row of scores, targets " +
          to_string(rows.empty() ? Shape{1} : rows));
    }
    const double last = static_cast<double>(output.back()) - 1;
    if (!(std::trunc(data_->y_min) >= 0 && std::trunc(data_->y_max) <= last)) {  // NaN fails, too
      problems_.push_back(
          {"/data", "labels from " + shortest(data_->y_min) + " to " + shortest(data_->y_max),
           "labels from 0 to " + shortest(last) + ", for the " + std::to_string(output.back()) +
               " outputs that sparse_categorical_crossentropy compares"});
    }
  }

  bool ends_in_sigmoid() const {
    const Json& config = resolved_.back().config;
    return !types_.back()->recurrent && config.value("activation", Json()) == "sigmoid";
  }

  /// NumPy's rule for [batch] + a and [batch] + b. A batch never meets another extent than 1:
  /// its last one may be shorter.
  static bool broadcast(const Shape& a, const Shape& b) {
    const Shape& longer = a.size() > b.size() ? a : b;
    const Shape& shorter = a.size() > b.size() ? b : a;
    for (std::size_t i = 0; i < shorter.size(); ++i) {
      const std::int64_t x = longer[longer.size() - 1 - i], y = shorter[shorter.size() - 1 - i];
      if (x != y && x != 1 && y != 1) return false;
    }
    return longer.size() == shorter.size() || longer[longer.size() - shorter.size() - 1] == 1;
  }

  /// Blames the last layer that has weights: it decides on the output's shape.
  void report_target(const std::string& allowed) {
    const Shape target = with_unit(data_->y);
    std::size_t index = resolved_.size() - 1;
    for (std::size_t i = 0; i < resolved_.size(); ++i) {
      const std::string& name = resolved_[i].class_name;
      if (resolved_[i].weights.empty() || name == "BatchNormalization" ||
          name == "LayerNormalization") {
        continue;
      }
      index = i;
    }
    std::string hint;
    if (output_->size() > target.size() && types_[index]->recurrent) {
      hint = "; return_sequences false gives the output of the last step alone";
    } else if (output_->size() > target.size() && resolved_[index].input_shape.size() > 1) {
      hint = "; a Flatten layer is missing before " + resolved_[index].class_name;
    }
    problems_.push_back({layer_path(index),
                         "an output " + to_string(*output_) + " for targets " + to_string(target),
                         allowed + hint});
  }

  /// Keras clips the gradient that an Embedding has for each index of a batch, before it adds up
  /// those of equal ones.
  void check_clipping() {
    if (has_problem("/compile")) return;
    const Json& config = normal_.at("compile").at("optimizer").at("config");
    for (const char* field : {"clipnorm", "clipvalue"}) {
      if (config.at(field).is_null()) continue;
      for (std::size_t i = 0; i < resolved_.size(); ++i) {
        if (types_[i] == nullptr || types_[i]->class_name != "Embedding") continue;
        if (resolved_[i].config.value("trainable", Json(true)) == false) continue;
        problems_.push_back(
            {std::string("/compile/optimizer/config/") + field,
             shown(config.at(field)) + " with layer " + std::to_string(i) + " (Embedding)",
             "null (clipping the gradients of embeddings is not supported)"});
      }
    }
  }

  /// The layers that the loop's faults name exist.
  void check_loop() {
    if (has_problem("/fit") || has_problem(path_)) return;
    const Json& loop = normal_.at("fit").at("loop");
    const auto check = [&](const Json& layer, const char* field) {
      if (layer.get<std::size_t>() < resolved_.size()) return;
      problems_.push_back({std::string("/fit/loop/") + field, "layer " + layer.dump(),
                           "0 to " + std::to_string(resolved_.size() - 1)});
    };
    for (const Json& layer : loop.at("left_out")) check(layer, "left_out");
    if (!loop.at("detached").is_null()) check(loop.at("detached"), "detached");
  }

  /// Steps on the trained model can change the layers that they name.
  void check_trained() {
    if (has_problem("/trained") || has_problem(path_)) return;
    std::map<std::size_t, int> copies;
    std::set<std::size_t> linear;
    const LayerTitles titles(written_);
    const Json& steps = normal_.at("trained").at("mutations");
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string place = "/trained/mutations/" + std::to_string(i) + "/layer";
      const std::string op = steps[i].at("op");
      const auto report = [&](const std::string& found, const std::string& allowed) {
        problems_.push_back({place, found, allowed});
      };
      if (steps[i].at("layer").is_null()) {
        if (std::none_of(resolved_.begin(), resolved_.end(), has_kernel)) {
          report("no layer", "a model with Dense or Conv2D layers");
        }
        continue;
      }
      const std::size_t layer = steps[i].at("layer");
      if (layer >= resolved_.size()) {
        report("layer " + std::to_string(layer), "0 to " + std::to_string(resolved_.size() - 1));
        continue;
      }
      std::string found = trained_step_refusal(op, resolved_, layer, titles);
      int& count = copies.emplace(layer, 1).first->second;
      const bool twice = op == "activation_removal" && linear.contains(layer);
      if (count == 0 || twice) {
        found = "layer " + std::to_string(layer) + " behind a step that " +
                (twice ? "made it linear" : "left it out");
      }
      if (!found.empty()) {
        report(found, "layers that " + op + " can change");
        continue;
      }
      if (op == "activation_removal") linear.insert(layer);
      if (op == "layer_copy") ++count;
      if (op == "layer_deactivation") --count;
    }
  }

  /// Keras looks the class of each row up: the largest of several targets, else the target without
  /// its fraction (data_adapter.py, _make_class_weight_map_fn).
  void check_class_weight() {
    if (has_problem("/fit")) return;
    const Json& weights = normal_.at("fit").at("class_weight");
    if (weights.is_null()) return;
    const auto report = [&](const std::string& found, const std::string& allowed) {
      problems_.push_back({"/fit/class_weight", found, allowed});
    };
    const Shape target = with_unit(data_->y);
    if (target.size() > 1) return report("targets " + to_string(target), "null for such targets");
    if (output_->size() > 2) {
      return report("outputs " + to_string(*output_), "null for such outputs (not supported)");
    }
    const auto classes = static_cast<double>(weights.size());
    const std::string allowed = "a weight for each class that the targets name";
    if (target[0] > 1 && static_cast<double>(target[0]) > classes) {
      report(
          std::to_string(weights.size()) + " weights for " + std::to_string(target[0]) + " targets",
          allowed);
    }
    const double low = std::trunc(data_->y_min), high = std::trunc(data_->y_max);
    if (target[0] == 1 && !(low >= 0 && high < classes)) {
      report(std::to_string(weights.size()) + " weights for targets from " +
                 shortest(data_->y_min) + " to " + shortest(data_->y_max),
             allowed);
    }
  }

  void check_split() {
    if (has_problem("/fit")) return;
    const double share = normal_.at("fit").at("validation_split");
    const auto rows = static_cast<double>(data_->training_rows);
    const double kept = std::floor(rows * (1 - share));
    if (share > 0 && rows > 0 && (kept == 0 || kept == rows)) {
      problems_.push_back({"/fit/validation_split",
                           shortest(share) + " of " + shortest(rows) + " training rows",
                           "a split that leaves rows on both sides"});
    }
  }

  const Json& written_;
  Json normal_;
  const DataInfo* data_;
  std::vector<Problem>& problems_;
  std::string path_;
  std::vector<const Layer*> types_;
  std::vector<ResolvedLayer> resolved_;
  Shape input_;
  std::optional<Shape> output_;
  bool masked_ = false;  ///< has the output of the last layer that step() saw a mask?
};

[[noreturn]] void refuse(const std::vector<Problem>& problems, const std::string& file) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += "\n";
    text +=
        describe(file, problem.path.empty() ? "/" : problem.path, problem.found, problem.allowed);
  }
  throw input_error(text);
}

Hash hash_text(const nlohmann::json& document) {
  return hash_of(document.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace

std::string_view to_string(Goal goal) { return goal == Goal::kMaximize ? "maximize" : "minimize"; }
std::optional<Goal> parse_goal(std::string_view word) {
  for (const Goal goal : {Goal::kMaximize, Goal::kMinimize}) {
    if (to_string(goal) == word) return goal;
  }
  return std::nullopt;
}

std::string to_string(const Shape& shape) {
  std::string text = "(";
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(shape[i]);
  }
  return text + ")";
}

std::string to_string(const Problem& problem) {
  return describe("", problem.path.empty() ? "/" : problem.path, problem.found, problem.allowed);
}

std::vector<Problem> validate(const Json& document, const DataInfo* data) {
  std::vector<Problem> problems;
  Inference(document, data, problems);
  return problems;
}

void require_valid(const Json& document, const std::string& file, const DataInfo* data) {
  if (const auto problems = validate(document, data); !problems.empty()) refuse(problems, file);
}

namespace {

/// Name of an object of a class: MeanSquaredError is mean_squared_error, AUC auc (tf.keras 2.4,
/// generic_utils.py: to_snake_case).
std::string snake_case(const std::string& name) {
  const auto is = [&](std::size_t i, int (*kind)(int)) {
    return i < name.size() && kind(static_cast<unsigned char>(name[i])) != 0;
  };
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool word = is(i + 1, std::islower) || is(i + 1, std::isdigit) || is(i - 1, std::islower);
    if (i > 0 && is(i, std::isupper) && word) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

}  // namespace

std::vector<MetricLog> metric_logs(const Json& document) {
  std::vector<MetricLog> logs;
  const Json compile = document.value("compile", Json::object());
  if (!compile.is_object()) return logs;
  Json metrics = compile.value("metrics", Json::array());
  if (metrics.is_array() && metrics.size() == 1 && metrics[0].is_array())
    metrics = Json(metrics[0]);
  for (const Json& metric : metrics) {
    std::string name;
    if (metric.is_string()) {
      name = metric;
      // A class that has no function of its own: AUC, Precision, Recall.
      const Entry* entry = find(Vocabulary::kMetric, name);
      if (entry != nullptr && entry->name == name) name = snake_case(name);
    } else if (metric.is_object()) {
      const Json config = metric.value("config", Json::object());
      const Json given = config.is_object() ? config.value("name", Json()) : Json();
      const Json type = metric.value("class_name", Json());
      if (given.is_string()) {
        name = given;
      } else if (type.is_string()) {
        name = snake_case(type);
      }
    }
    const Entry* entry = find(Vocabulary::kMetric, name);
    if (!name.empty()) logs.push_back({name, entry != nullptr ? entry->name : name});
  }
  return logs;
}

namespace {

/// Drops what Keras ignores from the callbacks of a normal form and names monitors canonically.
void keep_effective_callbacks(Json& normal, const Json& document) {
  if (!normal.is_object() || !normal.contains("fit") || !normal["fit"].is_object()) return;
  Json& fit = normal["fit"];
  if (!fit.contains("callbacks") || !fit["callbacks"].is_array()) return;
  const auto logs = metric_logs(document);
  Json kept = Json::array();
  for (Json callback : fit["callbacks"]) {
    const bool stops = callback.is_object() && callback.value("class_name", "") == "EarlyStopping";
    Json config = stops ? callback.value("config", Json::object()) : Json();
    if (config.is_object() && config.contains("monitor") && config["monitor"].is_string()) {
      const std::string monitor = config["monitor"];
      const std::string prefix = monitor.starts_with("val_") ? "val_" : "";
      const std::string name = monitor.substr(prefix.size());
      const auto log = std::find_if(logs.begin(), logs.end(),
                                    [&](const MetricLog& known) { return known.name == name; });
      if (name != "loss" && log == logs.end()) continue;
      if (log != logs.end()) callback["config"]["monitor"] = prefix + log->metric;
    }
    kept.push_back(std::move(callback));
  }
  fit["callbacks"] = std::move(kept);
}

}  // namespace

LoopStyle loop_style(const Json& loop) {
  using enum LoopStyle::ZeroGrad;
  static const std::map<std::string, LoopStyle::ZeroGrad> words = {{"each_step", kEachStep},
                                                                   {"each_epoch", kEachEpoch},
                                                                   {"never", kNever},
                                                                   {"before_step", kBeforeStep}};
  LoopStyle style;
  style.zero_grad = words.at(loop.at("zero_grad"));
  style.step = loop.at("step");
  style.eval_mode = loop.at("eval_mode");
  style.sum = loop.at("reduction") == "sum";
  style.left_out = loop.at("left_out").get<std::vector<std::size_t>>();
  if (!loop.at("detached").is_null()) style.detached = loop.at("detached");
  return style;
}

ResolvedProgram resolve(const Program& program, const DataInfo* data) {
  std::vector<Problem> problems;
  Inference inference(program.document, data, problems);
  if (!problems.empty()) refuse(problems, "");
  Json normal = inference.normal();
  keep_effective_callbacks(normal, program.document);
  const Json& fit = normal.at("fit");
  ResolvedProgram resolved;
  resolved.input_shape = inference.input_shape();
  resolved.layers = std::move(inference.layers());
  resolved.optimizer = normal.at("compile").at("optimizer");
  resolved.loss = loss_word(normal.at("compile").at("loss"));
  resolved.loss_options = loss_options(normal.at("compile").at("loss"));
  const Json& metric = normal.at("metric");
  const std::string metric_name = metric.at("name");
  const Entry& measured = *find(Vocabulary::kMetric, metric_name);
  const auto k = metric.value("k", std::int64_t{0});
  resolved.metric = to_string(
      MetricName{metric_name, k == measured.facts.value("k", std::int64_t{0}) ? 0 : k,
                 metric.value("scale", "") == "original", metric.value("from_logits", false)});
  resolved.goal = metric.at("goal") == "maximize" ? Goal::kMaximize : Goal::kMinimize;
  resolved.batch_size = fit.at("batch_size");
  resolved.epochs = fit.at("epochs");
  resolved.shuffle = fit.at("shuffle");
  resolved.validation_split = fit.at("validation_split");
  for (const Json& weight : fit.at("class_weight")) {
    resolved.class_weights.push_back(weight.get<double>());
  }
  resolved.callbacks = fit.at("callbacks");
  if (const Json& schedule = fit.at("schedule"); !schedule.is_null()) {
    resolved.schedule = {schedule.at("decay_rate"), schedule.at("every") == "batch"};
  }
  resolved.loop = loop_style(fit.at("loop"));
  resolved.trained_mutations = normal.at("trained").at("mutations");
  resolved.data = program.document.at("data");
  if (normal.at("task").is_null()) {
    // The loss has an entry among the metrics, too.
    const std::string& judge = metric_name == "loss" ? resolved.loss : metric_name;
    resolved.task = find(Vocabulary::kMetric, judge)->facts.value("task", "regression");
  } else {
    resolved.task = normal.at("task");
  }
  return resolved;
}

nlohmann::json canonical(const Program& program) {
  std::vector<Problem> problems;  // a wrong document has an identity too
  Json normal = normal_form(program.document, Defaults::kDrop, problems);
  if (normal.is_object()) {
    for (const char* metadata : {"format", "version", "name", "task"}) normal.erase(metadata);
    // Metrics are measured, not trained; the one that counts stands in `metric`.
    if (const auto compile = normal.find("compile");
        compile != normal.end() && compile->is_object()) {
      compile->erase("metrics");
    }
    keep_effective_callbacks(normal, program.document);
    if (normal.contains("fit") && normal["fit"].is_object() &&
        normal["fit"].value("callbacks", Json()) == Json::array()) {
      normal["fit"].erase("callbacks");
    }
  }
  return nlohmann::json(normal);
}

Hash program_hash(const Program& program) { return hash_text(canonical(program)); }

Hash stream_hash(const Program& program) {
  nlohmann::json document = canonical(program);
  if (const auto fit = document.find("fit"); fit != document.end() && fit->is_object()) {
    fit->erase("epochs");
    if (fit->empty()) document.erase(fit);
  }
  if (document.is_object()) document.erase("trained");  // comes after the training
  return hash_text(document);
}

}  // namespace neutra::program
