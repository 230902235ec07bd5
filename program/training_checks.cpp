#include "program/training_checks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "base/numbers.h"
#include "program/document.h"
#include "program/optimizer_rules.h"
#include "program/trained_mutations.h"

namespace neutra::program {
namespace {

class TrainingChecks {
 public:
  TrainingChecks(const Inference& known, std::vector<Problem>& problems)
      : known_(known), problems_(problems) {}

  void run() {
    const bool with_rows = known_.output && known_.data != nullptr;
    if (with_rows && !known_.layers.empty()) {
      check_target();
      check_mask();
      check_metric();
    }
    check_metric_scale();
    if (known_.data != nullptr) check_split();
    if (with_rows) check_class_weight();
    if (known_.output) check_sample_weights();
    check_clipping();
    if (!has_problem(problems_, "/compile") && !has_problem(problems_, known_.path)) {
      check_rules(known_.normal.at("compile").at("optimizer"), "/compile/optimizer",
                  known_.layers.size(), problems_);
    }
    check_loop();
    check_trained();
  }

 private:
  /// Refuses what Keras 2.4 cannot train: the output and the targets in the loss.
  void check_target() {
    if (has_problem(problems_, "/compile")) return;
    const std::string loss = loss_word(known_.normal.at("compile").at("loss"));
    const bool from_logits = loss_options(known_.normal.at("compile").at("loss")).from_logits;
    Shape target = with_unit(known_.data->y);
    Shape output = *known_.output;
    const bool squeezed = squeeze(output, target);
    if (loss == "sparse_categorical_crossentropy") {
      check_labels(target, output);
    } else if (loss == "categorical_crossentropy") {
      // backend.categorical_crossentropy asserts compatible shapes.
      if (target != output) report_target(loss + " takes targets of the output's shape");
    } else if (loss == "binary_crossentropy" && (from_logits || (!squeezed && ends_in_logits()))) {
      // sigmoid_cross_entropy_with_logits doesn't broadcast.
      if (target != output) {
        report_target(loss + (from_logits ? " of logits" : " after sigmoid or softmax") +
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
    if (!known_.masked || has_problem(problems_, known_.path)) return;
    const Shape target = with_unit(known_.data->y), &output = *known_.output;
    const bool labels =
        loss_word(known_.normal.value("compile", Json::object()).value("loss", Json())) ==
        "sparse_categorical_crossentropy";
    // Of others tf.keras takes the mean over the steps, where targets are plain numbers.
    const bool fits =
        output.size() == 2 && target.front() == output.front() &&
        (target.size() == 2 ? !labels || target[1] == 1 : labels && target.size() == 1);
    if (!fits) {
      problems_.push_back({known_.layer_path(known_.layers.size() - 1),
                           "an output " + to_string(output) + " with a mask of steps for targets " +
                               to_string(target),
                           "targets for each step; or a layer that leaves the mask out, such as "
                           "Flatten or a recurrent one without return_sequences"});
    }
    if (const Json& weights =
            known_.normal.value("fit", Json::object()).value("class_weight", Json());
        weights.is_object()) {
      problems_.push_back({"/fit/class_weight", shown(weights),
                           "null: the output has a mask of steps, which are weighed already"});
    }
  }

  /// Refuses a metric that can't compare the output with the targets (training/metrics.h).
  void check_metric() {
    if (has_problem(problems_, "/metric") || has_problem(problems_, "/compile") ||
        has_problem(problems_, known_.path)) {
      return;
    }
    const std::string name = known_.normal.at("metric").at("name");
    const Entry& metric = *find(Vocabulary::kMetric, name);
    if (name == "loss") return;  // check_target() has seen it
    std::string takes = metric.facts.value("targets", "broadcast");
    Shape target = with_unit(known_.data->y),
          output = known_.output->empty() ? Shape{1} : *known_.output;
    const std::string found =
        " of outputs " + to_string(output) + " and targets " + to_string(target);
    if (known_.normal.at("metric").value("scale", "") == "original" && target != output &&
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
      const double low = known_.data->y_min, high = known_.data->y_max;
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
    const Json* metric = member(known_.normal, "metric");
    if (metric == nullptr || !metric->is_object() || metric->value("scale", Json()) != "original") {
      return;
    }
    const Json data = known_.normal.value("data", Json::object());
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
    if (!(std::trunc(known_.data->y_min) >= 0 &&
          std::trunc(known_.data->y_max) <= last)) {  // NaN fails, too
      problems_.push_back(
          {"/data",
           "labels from " + shortest(known_.data->y_min) + " to " + shortest(known_.data->y_max),
           "labels from 0 to " + shortest(last) + ", for the " + std::to_string(output.back()) +
               " outputs that sparse_categorical_crossentropy compares"});
    }
  }

  /// Does a binary cross entropy work on the input of the output's activation?
  bool ends_in_logits() const {
    const Json activation = known_.layers.back().config.value("activation", Json());
    const LossOptions options{.any_logits = known_.normal.at("compile").at("logits") == "any"};
    return known_.types.back()->kind != LayerKind::kRecurrent && activation.is_string() &&
           takes_logits(options, "sigmoid", activation.get<std::string>());
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
    const Shape target = with_unit(known_.data->y);
    std::size_t index = known_.layers.size() - 1;
    for (std::size_t i = 0; i < known_.layers.size(); ++i) {
      if (known_.layers[i].weights.empty() || known_.types[i]->kind == LayerKind::kNormalization) {
        continue;
      }
      index = i;
    }
    std::string hint;
    if (known_.output->size() > target.size() &&
        known_.types[index]->kind == LayerKind::kRecurrent) {
      hint = "; return_sequences false gives the output of the last step alone";
    } else if (known_.output->size() > target.size() &&
               known_.layers[index].input_shape.size() > 1) {
      hint = "; a Flatten layer is missing before " + known_.layers[index].class_name;
    }
    problems_.push_back(
        {known_.layer_path(index),
         "an output " + to_string(*known_.output) + " for targets " + to_string(target),
         allowed + hint});
  }

  /// Keras clips the gradient that an Embedding has for each index of a batch, before it adds up
  /// those of equal ones. PyTorch adds them up first.
  void check_clipping() {
    if (has_problem(problems_, "/compile")) return;
    const Json& config = known_.normal.at("compile").at("optimizer").at("config");
    for (const char* field : {"clipnorm", "clipvalue", "global_clipnorm"}) {
      if (config.at(field).is_null() || config.at("rules") == "torch") continue;
      for (std::size_t i = 0; i < known_.layers.size(); ++i) {
        if (known_.types[i] == nullptr || known_.types[i]->kind != LayerKind::kEmbedding) continue;
        if (known_.layers[i].config.value("trainable", Json(true)) == false) continue;
        problems_.push_back(
            {std::string("/compile/optimizer/config/") + field,
             shown(config.at(field)) + " with layer " + std::to_string(i) + " (Embedding)",
             "null (clipping the gradients of embeddings is not supported)"});
      }
    }
  }

  /// The layers that the loop's faults name exist.
  void check_loop() {
    if (has_problem(problems_, "/fit") || has_problem(problems_, known_.path)) return;
    const Json& loop = known_.normal.at("fit").at("loop");
    const auto check = [&](const Json& layer, const char* field) {
      if (layer.get<std::size_t>() < known_.layers.size()) {
        const auto& owner = known_.layers[layer.get<std::size_t>()].weights_of;
        if (!owner || field == std::string_view("detached")) return;
        problems_.push_back(
            {std::string("/fit/loop/") + field,
             "layer " + layer.dump() + ", which is layer " + std::to_string(*owner) + " once more",
             std::to_string(*owner)});
        return;
      }
      problems_.push_back({std::string("/fit/loop/") + field, "layer " + layer.dump(),
                           "0 to " + std::to_string(known_.layers.size() - 1)});
    };
    for (const Json& layer : loop.at("left_out")) check(layer, "left_out");
    if (!loop.at("detached").is_null()) check(loop.at("detached"), "detached");
  }

  /// Steps on the trained model can change the layers that they name.
  void check_trained() {
    if (has_problem(problems_, "/trained") || has_problem(problems_, known_.path)) return;
    std::map<std::size_t, int> copies;
    std::set<std::size_t> linear;
    const LayerTitles titles(known_.written);
    const Json& steps = known_.normal.at("trained").at("mutations");
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const std::string place = "/trained/mutations/" + std::to_string(i) + "/layer";
      const std::string op = steps[i].at("op");
      const auto report = [&](const std::string& found, const std::string& allowed) {
        problems_.push_back({place, found, allowed});
      };
      if (steps[i].at("layer").is_null()) {
        if (std::none_of(known_.layers.begin(), known_.layers.end(), has_kernel)) {
          report("no layer", "a model with Dense or Conv2D layers");
        }
        continue;
      }
      const std::size_t layer = steps[i].at("layer");
      if (layer >= known_.layers.size()) {
        report("layer " + std::to_string(layer),
               "0 to " + std::to_string(known_.layers.size() - 1));
        continue;
      }
      std::string found = trained_step_refusal(op, known_.layers, layer, titles);
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

  /// Keras multiplies losses of at most two axes, rows and steps, with weights of rows
  /// (losses_utils.squeeze_or_expand_dimensions).
  void check_sample_weights() {
    const Json* data = member(known_.normal, "data");
    if (data == nullptr || !has_sample_weights(*data)) return;
    const auto report = [&](const std::string& found) {
      problems_.push_back(
          {"/data/arguments", "weights of rows beside " + found, "none for such outputs"});
    };
    const std::size_t axes = known_.data == nullptr ? 0 : known_.data->y.size();
    if (known_.masked) {
      report("an output with a mask of steps, which are weighed already (not supported)");
    } else if (std::max(known_.output->size(), axes) > 2) {
      report("outputs " + to_string(*known_.output) + " with losses of more than two axes");
    }
  }

  /// Keras looks the class of each row up: the largest of several targets, else the target without
  /// its fraction (data_adapter.py, _make_class_weight_map_fn).
  void check_class_weight() {
    if (has_problem(problems_, "/fit")) return;
    const Json& weights = known_.normal.at("fit").at("class_weight");
    if (weights.is_null()) return;
    const auto report = [&](const std::string& found, const std::string& allowed) {
      problems_.push_back({"/fit/class_weight", found, allowed});
    };
    const Shape target = with_unit(known_.data->y);
    if (target.size() > 1) return report("targets " + to_string(target), "null for such targets");
    if (known_.output->size() > 2) {
      return report("outputs " + to_string(*known_.output),
                    "null for such outputs (not supported)");
    }
    const auto classes = static_cast<double>(weights.size());
    const std::string allowed = "a weight for each class that the targets name";
    if (target[0] > 1 && static_cast<double>(target[0]) > classes) {
      report(
          std::to_string(weights.size()) + " weights for " + std::to_string(target[0]) + " targets",
          allowed);
    }
    const double low = std::trunc(known_.data->y_min), high = std::trunc(known_.data->y_max);
    if (target[0] == 1 && !(low >= 0 && high < classes)) {
      report(std::to_string(weights.size()) + " weights for targets from " +
                 shortest(known_.data->y_min) + " to " + shortest(known_.data->y_max),
             allowed);
    }
  }

  void check_split() {
    if (has_problem(problems_, "/fit")) return;
    const double share = known_.normal.at("fit").at("validation_split");
    const auto rows = static_cast<double>(known_.data->training_rows);
    const double kept = std::floor(rows * (1 - share));
    if (share > 0 && rows > 0 && (kept == 0 || kept == rows)) {
      problems_.push_back({"/fit/validation_split",
                           shortest(share) + " of " + shortest(rows) + " training rows",
                           "a split that leaves rows on both sides"});
    }
  }

  const Inference& known_;
  std::vector<Problem>& problems_;
};

}  // namespace

void check_training(const Inference& known, std::vector<Problem>& problems) {
  TrainingChecks(known, problems).run();
}

}  // namespace neutra::program
