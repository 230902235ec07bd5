#include "program/formats/keras_script.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/error.h"
#include "base/numbers.h"
#include "base/words.h"
#include "program/document.h"
#include "program/embedded.h"
#include "program/formats/keras_config.h"
#include "program/formats/keras_graph.h"
#include "program/formats/metric_script.h"
#include "program/formats/python_text.h"
#include "program/formats/torch_program.h"
#include "program/layer.h"
#include "program/metric_name.h"
#include "program/normal.h"
#include "program/optimizer_rules.h"
#include "program/rate_schedule.h"
#include "program/vocabulary.h"

namespace neutra::program {
namespace {

class Writer {
 public:
  Writer(const Program& program, const KerasScriptOptions& options) : options_(options) {
    std::vector<Problem> problems;
    document_ = normal_form(program.document, Defaults::kDrop, problems);
    const ResolvedProgram resolved = resolve(program);
    require_masks(resolved);
    metric_ = resolved.metric;
    metric_call_ = metric_call(metric_, "y_test", "model.predict(x_test, verbose=0)");
    metric_name_ = parse_metric_name(metric_).name;
    metric_label_ = metric_label(metric_);
    take_metrics(program.document.at("compile").value("metrics", Json::array()), resolved);
    input_ = options.input;
    if (!input_ && !resolved.input_shape.empty()) input_ = resolved.input_shape;
    take_loop(resolved);
    take_weights(resolved);
    resolved_layers_ = resolved.layers;
    write_initializers(document_, program, input_.value_or(Shape()));
    graph_ = keras_graph(resolved_layers_);
    schedule_ = schedule_of(resolved);
    batch_rate_ = schedule_ && schedule_->every_batch;
    require_drawn_weights(document_);
  }

  std::string script() {
    std::string body = model();  // one after the other: fit() knows what compile() found
    body += compile();
    body += fit() + save();
    if (options_.standalone) body += evaluate();
    std::string metrics = parts_for(embedded::metric_parts, body);
    if (!metrics.empty()) metrics += "\n\n";
    return imports() + seeds() + helpers() + metrics + arrays() + body;
  }

 private:
  bool is(KerasDialect dialect) const { return options_.dialect == dialect; }
  bool is_old() const { return program::is_old(options_.dialect); }
  bool saves() const { return options_.standalone && !options_.sidecar.empty(); }

  std::string imports() const {
    std::string text = "import random\n";
    if (schedule_ && schedule_->kind == LearningRateSchedule::Kind::kCosine)
      text.insert(0, "import math\n");
    if (saves()) text.insert(0, "import argparse\n");
    if (options_.standalone && !saves()) text += "import sys\n";
    text += "import numpy as np\n";
    if (is(KerasDialect::kKeras3)) text += "import keras\n";
    if (is(KerasDialect::kTfKeras) || is_old()) text += "import tensorflow as tf\n";
    const std::string keras = is(KerasDialect::kTfKeras) ? "tensorflow.keras." : "keras.";
    if (batch_rate_ && is_old()) text += "from keras import backend as K\n";
    for (const auto& [module, names] : {std::pair{"callbacks", &callbacks_},
                                        {"constraints", &constraints_},
                                        {"initializers", &initializers_},
                                        {"layers", &layers_},
                                        {"losses", &losses_}}) {
      text += names->import_line(keras + module);
    }
    text += "from " + keras + "models import " + (graph_.chain ? "Sequential" : "Model") + "\n";
    text += regularizers_.import_line(keras + "regularizers");
    text += schedules_.import_line(keras + "optimizers.schedules");
    if (is(KerasDialect::kTfKeras) && !new_rules_) {
      // TensorFlow 2.11 gave the names of optimisers to others, with other arguments and formulas.
      text += "try:  # TensorFlow 2.11 to 2.15\n    " +
              optimizers_.import_line(keras + "optimizers.legacy") + "except ImportError:\n    " +
              optimizers_.import_line(keras + "optimizers");
    } else {
      text += optimizers_.import_line(keras + "optimizers");
    }
    return text + options_.hook.imports + "\n";
  }

  std::string seeds() const {
    std::string seed = std::to_string(options_.seed), text;
    if (saves()) {
      text =
          "parser = argparse.ArgumentParser()\n"
          "parser.add_argument(\"seed\", nargs=\"?\", type=int, default=" +
          seed +
          ")\nparser.add_argument(\"--save\", metavar=\"OUT.keras\", help=\"write the trained "
          "model\")\narguments = parser.parse_args()\nseed = arguments.seed\n";
    } else if (options_.standalone) {
      text = "seed = int(sys.argv[1]) if len(sys.argv) > 1 else " + seed + "\n";
    }
    if (options_.standalone) seed = "seed";
    // TensorFlow 2.10 and later draw the seeds of initialisers from Python's own generator.
    text += "random.seed(" + seed + ")\nnp.random.seed(" + seed + ")\n";
    text += is(KerasDialect::kTfKeras)  ? "tf.random.set_seed"
            : is(KerasDialect::kKeras3) ? "keras.utils.set_random_seed"
                                        : "tf.compat.v1.set_random_seed";
    return text + "(" + seed + ")\n\n";
  }

  /// What this Keras lacks.
  std::string helpers() const {
    if (!is(KerasDialect::kKeras3)) return "";
    std::string text;
    if (hard_sigmoid_) {
      text +=
          "\n@keras.saving.register_keras_serializable()\n"
          "def hard_sigmoid(x):  # Keras 3 has another one\n"
          "    return keras.ops.clip(0.2 * x + 0.5, 0.0, 1.0)\n\n";
    }
    return text +
           "\ndef column(y):  # Keras 3 makes none of a vector\n"
           "    return y[:, None] if y.ndim == 1 else y\n\n\n";
  }

  std::string arrays() const {
    std::string text;
    for (const char* rows : {"train", "test", "validation"}) {
      if (rows == std::string_view("validation") && !options_.validation) continue;
      for (const char* part : {"x_", "y_"}) {
        const std::string name = std::string(part) + rows;
        const std::string array = "np.load(\"" + name + ".npy\")";
        const bool column = is(KerasDialect::kKeras3) && *part == 'y';
        text += name + " = " + (column ? "column(" + array + ")" : array) + "\n";
      }
    }
    for (const auto& [rows, weighted] :
         {std::pair{"train", weighted_}, {"validation", options_.validation_weights}}) {
      const std::string name = std::string("sample_weight_") + rows;
      if (weighted) text += name + " = np.load(\"" + name + ".npy\")\n";
    }
    return text;
  }

  /// A raw string holds the JSON: it never has three quotes in a row.
  std::string save() const {
    if (!saves()) return "";
    return "\nif arguments.save:\n    model.save(arguments.save)\n"
           "    with open(arguments.save.rsplit(\".\", 1)[0] + \".neutra.json\", \"w\") as file:\n"
           "        file.write(r\"\"\"" +
           options_.sidecar + "\"\"\")\n";
  }

  /// Keras 2.3 gives steps that don't count the output of the step before, also in Bidirectional.
  void require_masks(const ResolvedProgram& program) {
    const std::vector<bool> masked = masked_outputs(program.layers);
    masked_ = masked.back();
    if (!is_old()) return;
    for (std::size_t i = 0; i < program.layers.size(); ++i) {
      const ResolvedLayer& layer = program.layers[i];
      if (takes_mask(layer, masked) && masked[i] && layer.config.contains("backward_layer")) {
        refuse_in_script(layers_path(document_) + "/" + std::to_string(i),
                         "sequences of a Bidirectional behind a mask",
                         "no mask: Keras 2.3 has other outputs");
      }
    }
  }

  /// Weights of rows, which not every Keras multiplies losses with alike.
  void take_weights(const ResolvedProgram& program) {
    weighted_ = program.sample_weights;
    if (!weighted_) return;
    if (is(KerasDialect::kKeras224)) {
      refuse_in_script("/data/arguments", "weights of rows",
                       "none: Keras 2.2.4 divides by the share of weights that aren't 0");
    }
    if (is(KerasDialect::kKeras3) && !program.class_weights.empty()) {
      refuse_in_script("/fit/class_weight", "class weights beside weights of rows",
                       "one of them: Keras 3 takes no two");
    }
  }

  /// The words that metrics are logged under: monitors of callbacks name them.
  void take_metrics(const Json& given, const ResolvedProgram& program) {
    const Json names = document_.at("compile").value("metrics", Json::array());
    metrics_ = keras_metrics(given, names);
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      if (is(KerasDialect::kKeras224) && is_new_metric(metrics_[i])) {
        refuse_in_script("/compile/metrics", metrics_[i], "metrics that Keras 2.2.4 knows");
      }
      const Entry* entry = find(Vocabulary::kMetric, metrics_[i].get<std::string>());
      if (entry != nullptr && entry->name == metric_name_ && metric_place_ == 0) {
        metric_place_ = i + 1;
      }
    }
    for (const Json& callback : program.callbacks) {
      const std::string monitor = callback.at("config").value("monitor", "loss");
      const std::string name = monitor.substr(monitor.starts_with("val_") ? 4 : 0);
      const Entry* entry = find(Vocabulary::kMetric, name);
      if (entry != nullptr && entry->facts.value("keras", Json("")).is_null()) {
        refuse_in_script("/fit/callbacks", "monitor " + monitor, "metrics that Keras measures");
      }
    }
  }

  /// Takes over what Keras's fit can do of a loop.
  void take_loop(const ResolvedProgram& program) {
    const auto refuse = [](const char* field, const Json& found, const std::string& allowed) {
      throw input_error(describe("", std::string("/fit/loop/") + field, found.dump(),
                                 allowed + " (Keras's fit has no other loop)"));
    };
    const Json loop = document_.value("fit", Json::object()).value("loop", Json::object());
    for (const auto& [field, usual] : {std::pair{"zero_grad", "\"each_step\""},
                                       {"step", "true"},
                                       {"eval_mode", "true"},
                                       {"detached", "null"}}) {
      if (loop.contains(field)) refuse(field, loop.at(field), usual);
    }
    if (program.loop.sum) {
      // Keras adds up all values that a loss gives, neutra those of different rows.
      if (program.layers.back().output_shape.size() > 1) refuse("reduction", "sum", "\"mean\"");
      if (is(KerasDialect::kKeras224)) refuse("reduction", "sum", "\"mean\" in Keras 2.2.4");
      sums_ = true;
    }
    for (const std::size_t layer : program.loop.left_out) {
      // A frozen batch normalisation doesn't move its averages either.
      if (find_layer(program.layers[layer].class_name)->updates_statistics) {
        refuse("left_out", layer, "layers other than BatchNormalization");
      }
      frozen_.insert(layer);
    }
  }

  /// The settings of a layer that the dialect knows.
  Json settings_of(std::size_t i) {
    const Json& layer = (*find_layers(document_))[i];
    Json config = layer.value("config", Json::object());
    if (frozen_.contains(i)) config["trainable"] = false;
    spell_statistics(config, resolved_layers_[i], nullptr);
    return config;
  }

  /// A functional model: a line for each call, a layer that has several in a variable.
  std::string functional() {
    const std::string path = layers_path(document_);
    if (!input_) {
      refuse_in_script(path + "/0", "an input of unknown shape", "config.batch_input_shape");
    }
    const auto layer = [&](std::size_t i) {
      const std::string& class_name = resolved_layers_[i].class_name;
      Json config = settings_of(i);
      require_layer(options_.dialect, class_name, config, path + "/" + std::to_string(i));
      return layer_call(class_name, std::move(config));
    };
    const std::string input = layers_.use("Input") + "(" + literal(Json(*input_)) + ")";
    return "\n" + functional_calls(resolved_layers_, graph_, input, layer);
  }

  std::string model() {
    if (!graph_.chain) return functional();
    std::string text = "\nmodel = Sequential()\n";
    const Json& layers = *find_layers(document_);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string class_name = layers[i].at("class_name");
      Json config = settings_of(i);
      const bool shaped = i == 0 && input_;
      const bool keras3 = is(KerasDialect::kKeras3);
      if (shaped && keras3) {
        text += "model.add(" + layers_.use("Input") + "(" + literal(Json(*input_)) + "))\n";
        if (find_layer(class_name)->kind == LayerKind::kInput) continue;
      }
      require_layer(options_.dialect, class_name, config,
                    layers_path(document_) + "/" + std::to_string(i));
      const std::string input =
          shaped && !keras3 ? "input_shape=" + literal(Json(*input_)) : std::string();
      text += "model.add(" + layer_call(class_name, std::move(config), input) + ")\n";
    }
    return text;
  }

  /// `more`: a last argument, or "".
  std::string layer_call(const std::string& class_name, Json config, const std::string& more = "") {
    if (is(KerasDialect::kKeras3)) translate_layer(config, class_name);
    std::string arguments = call_arguments(std::move(config), find_layer(class_name)->fields);
    if (!more.empty()) append(arguments, more);
    return layers_.use(class_name) + "(" + arguments + ")";
  }

  /// Arguments and values of the optimiser as the dialect has them.
  void translate(Json& config, const std::string& name) {
    const std::string path = "/compile/optimizer";
    const auto given = [&](const char* field) { return config.contains(field); };
    if (is_old()) config = old_optimizer(config, name);
    if (!is(KerasDialect::kKeras3)) return;
    config["learning_rate"] = rate_;  // no whole number
    if (given("clipnorm") && given("clipvalue")) {
      refuse_in_script(path + "/config", "clipnorm and clipvalue",
                       "one of them: Keras 3 takes no two");
    }
    if (given("schedule_decay")) {
      refuse_in_script(path + "/config/schedule_decay", shown(config["schedule_decay"]),
                       "0.004: Keras 3 has no other");
    }
    if (given("decay") && schedule_) {
      refuse_in_script("/fit/schedule", shown(document_["fit"]["schedule"]),
                       "null beside decay: Keras 3 takes one");
    }
    if (given("decay")) {
      rate_expression_ = schedules_.use("InverseTimeDecay") + "(" + python_repr(rate_) + ", 1, " +
                         literal(config["decay"]) + ")";
      config.erase("decay");
    } else if (batch_rate_ && schedule_->kind == LearningRateSchedule::Kind::kExponential) {
      rate_expression_ = schedules_.use("ExponentialDecay") + "(" + python_repr(rate_) + ", " +
                         shortest(schedule_->steps) + ", " + python_repr(schedule_->decay_rate) +
                         (schedule_->staircase ? ", True)" : ")");
    }
  }

  std::string compile() {
    const Json& compile = document_.at("compile");
    Json optimizer = compile.value("optimizer", Json{{"class_name", "RMSprop"}});
    // The rate is what people look for.
    const std::string name = optimizer.at("class_name");
    const std::vector<Field> fields =
        optimizer_fields(*find(Vocabulary::kOptimizer, name), optimizer);
    Json config{{"learning_rate", *find_field(fields, "learning_rate")->fallback}};
    config.update(without_zero_clipping(optimizer.value("config", Json::object())));
    rate_ = config.at("learning_rate");
    new_rules_ = take_optimizer_rules(options_.dialect, config);
    translate(config, name);
    loss_ = loss(compile.at("loss"));
    std::string arguments;
    if (!rate_expression_.empty()) {
      append(arguments, "learning_rate=" + rate_expression_);
      config.erase("learning_rate");
    }
    if (const std::string rest = keywords(config); !rest.empty()) append(arguments, rest);
    std::string optimizer_made = optimizers_.use(name) + "(" + arguments + ")",
                text = "\n" + options_.hook.before_compile;
    if (options_.hook.names_optimizer) {
      text += "optimizer = " + optimizer_made + "\n";
      optimizer_made = "optimizer";
    }
    text += "model.compile(loss=" + loss_ + ", optimizer=" + optimizer_made;
    if (!metrics_.empty()) text += ", metrics=" + metrics_.dump();
    return text + ")\n";
  }

  /// A word, or an object of its class where it has options.
  std::string loss(const Json& value) {
    const std::string word = program::loss_word(value);
    Json options = value.is_object() ? value.at("config") : Json::object();
    if (is(KerasDialect::kKeras224) && !options.empty()) {
      refuse_in_script("/compile/loss/config", options.dump(),
                       "{}: Keras 2.2.4 has no classes of losses");
    }
    if (sums_) options["reduction"] = "sum";
    if (options.empty()) return literal(dialect_loss(options_.dialect, word));
    return losses_.use(keras_loss_class(word)) + "(" + keywords(options) + ")";
  }

  /// Prints the program's metric.
  std::string evaluate() {
    std::string text = "\n";
    if (metric_ != "loss" && !is_streamed(metric_)) {
      if (masked_) {  // the script's own functions look at all steps
        refuse_in_script("/metric/name", metric_,
                         "accuracy, loss, mae or mse where the output has a mask of steps");
      }
      return text + "print(\"" + metric_label_ + ":\", " + metric_call_ + ")\n";
    }
    bool several = !metrics_.empty();
    std::size_t place = metric_place_;
    if (metric_ != "loss" && place == 0) {
      // It wasn't there to be watched.
      text += "model.compile(loss=" + loss_ + ", metrics=[\"" + metric_name_ + "\"])\n";
      several = true;
      place = 1;
    }
    return text + "print(\"" + metric_label_ + ":\", model.evaluate(x_test, y_test, verbose=0)" +
           (several ? "[" + std::to_string(place) + "]" : "") + ")\n";
  }

  std::string fit() {
    const Json fit = document_.value("fit", Json::object());
    std::string text =
        "model.fit(x_train, y_train, batch_size=" + literal(fit.value("batch_size", Json(32))) +
        ", epochs=" + literal(fit.value("epochs", Json(1)));
    if (!fit.value("shuffle", true)) text += ", shuffle=False";
    if (const Json weights = fit.value("class_weight", Json()); weights.is_object()) {
      std::string classes;
      for (const auto& [name, weight] : weights.items()) {
        append(classes, name + ": " + literal(weight));
      }
      text += ", class_weight={" + classes + "}";
    }
    if (weighted_) text += ", sample_weight=sample_weight_train";
    // A split takes the place of rows of their own.
    const Json split = fit.value("validation_split", Json(0));
    if (split != 0) {
      text += ", validation_split=" + literal(split);
    } else if (options_.validation) {
      text += std::string(", validation_data=(x_validation, y_validation") +
              (options_.validation_weights ? ", sample_weight_validation)" : ")");
    } else if (options_.hook.needs_validation) {
      text += ", validation_data=(x_test, y_test)";
    }
    std::string list;
    for (const Json& callback : fit.value("callbacks", Json::array())) {
      Json config = callback.value("config", Json::object());
      if (is(KerasDialect::kKeras224) && config.contains("monitor")) {
        if (config["monitor"] == "accuracy") config["monitor"] = "acc";
        if (config["monitor"] == "val_accuracy") config["monitor"] = "val_acc";
      }
      append(list, callbacks_.use(callback.at("class_name")) + "(" + keywords(config) + ")");
    }
    if (schedule_ && rate_expression_.empty()) append(list, rate_callback());
    if (!options_.hook.callback.empty()) append(list, options_.hook.callback);
    if (!list.empty()) text += ", callbacks=[" + list + "]";
    return text + ")\n";
  }

  std::string rate_callback() {
    const auto rate = [this](const std::string& n) {
      return python_repr(rate_) + " * " + python_factor(*schedule_, n);
    };
    if (!batch_rate_) {
      return callbacks_.use("LearningRateScheduler") + "(lambda epoch: " + rate("epoch") + ")";
    }
    if (is(KerasDialect::kKeras3)) {
      return callbacks_.use("LambdaCallback") +
             "(on_train_batch_begin=lambda batch, logs: setattr(model.optimizer, "
             "\"learning_rate\", " +
             rate("int(model.optimizer.iterations)") + "))";
    }
    return callbacks_.use("LambdaCallback") + "(on_batch_begin=lambda batch, logs: " +
           (is_old() ? "K.set_value(model.optimizer.lr, "
                     : "tf.keras.backend.set_value(model.optimizer.learning_rate, ") +
           rate(is_old() ? "int(K.get_value(model.optimizer.iterations))"
                         : "int(model.optimizer.iterations)") +
           "))";
  }

  static void append(std::string& arguments, const std::string& one) {
    arguments += (arguments.empty() ? "" : ", ") + one;
  }

  std::string keywords(const Json& config) {
    std::string text;
    for (const auto& [name, value] : config.items()) append(text, name + "=" + argument(value));
    return text;
  }

  /// Required arguments first, by position: Keras has them in the order of our tables.
  std::string call_arguments(Json config, const std::vector<Field>& fields) {
    std::string text;
    for (const Field& field : fields) {
      if (field.fallback || !config.contains(field.name)) continue;
      append(text, argument(config[field.name]));
      config.erase(field.name);
    }
    if (const std::string rest = keywords(config); !rest.empty()) append(text, rest);
    return text;
  }

  /// A wrapped layer, an initialiser, a regulariser, a constraint or a plain value.
  std::string argument(const Json& value) {
    if (value == "hard_sigmoid" && is(KerasDialect::kKeras3)) {
      hard_sigmoid_ = true;
      return "hard_sigmoid";
    }
    if (!value.is_object()) return literal(value);
    const std::string name = value.at("class_name");
    const Json config = value.value("config", Json::object());
    if (find_layer(name) != nullptr) return layer_call(name, config);
    const Entry* initializer = find(Vocabulary::kInitializer, name);
    if (initializer != nullptr && config.empty()) return literal(initializer->word);
    const bool constraint = find(Vocabulary::kConstraint, name) != nullptr;
    Names& names = initializer != nullptr ? initializers_
                   : constraint           ? constraints_
                                          : regularizers_;
    return names.use(name) + "(" + keywords(config) + ")";
  }

  const KerasScriptOptions& options_;
  Json document_;
  std::optional<Shape> input_;
  std::set<std::size_t> frozen_;
  std::vector<ResolvedLayer> resolved_layers_;
  KerasGraph graph_;
  std::string metric_;  ///< "loss", or what it is called among metrics
  std::string metric_name_, metric_call_, metric_label_;
  Json metrics_ = Json::array();  ///< as the program was compiled with
  std::size_t metric_place_ = 0;  ///< of metric_ in metrics_, from 1; 0: not there
  bool weighted_ = false;         ///< do training rows have weights?
  bool sums_ = false;             ///< the loss is the sum over a batch
  std::string loss_;              ///< as compile() is given it
  double rate_ = 0;
  std::optional<LearningRateSchedule> schedule_;
  bool batch_rate_ = false, new_rules_ = false;  ///< the schedule's; the optimiser's: Keras 2.11's
  std::string rate_expression_;                  ///< that stands for the rate
  bool masked_ = false;                          ///< does the output have a mask of steps?
  bool hard_sigmoid_ = false;                    ///< a layer has it, and Keras another one
  Names callbacks_, constraints_, initializers_, layers_, losses_, optimizers_, regularizers_,
      schedules_;
};

}  // namespace

std::optional<std::string> keras_script_refusal(const Program& program) {
  if (resolve(program).trained_mutations.empty()) return std::nullopt;
  return "trained.mutations, whose random numbers and layers a Keras script doesn't have";
}

std::string keras_script(const Program& program, const KerasScriptOptions& options) {
  if (const auto refusal = keras_script_refusal(program)) {
    throw input_error(
        describe("", "Keras script", *refusal, "programs that such a script can train"));
  }
  return Writer(program, options).script();
}

}  // namespace neutra::program
