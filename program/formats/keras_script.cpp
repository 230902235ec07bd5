#include "program/formats/keras_script.h"

#include <set>

#include "program/error.h"
#include "program/layer.h"
#include "program/normal.h"
#include "program/words.h"

namespace neutra {
namespace {

/// A value as Python writes it; arrays are tuples.
std::string literal(const Json& value) {
  if (value.is_null()) return "None";
  if (value.is_boolean()) return value.get<bool>() ? "True" : "False";
  if (value.is_number_float()) return python_repr(value);
  if (!value.is_array()) return value.dump();
  std::string text = "(";
  for (std::size_t i = 0; i < value.size(); ++i) text += (i > 0 ? ", " : "") + literal(value[i]);
  return text + (value.size() == 1 ? ",)" : ")");
}

/// Collects the names of a module that a script imports.
class Names {
 public:
  const std::string& use(const std::string& name) { return *names_.insert(name).first; }
  std::string import_line(const std::string& module) const {
    if (names_.empty()) return "";
    return "from tensorflow.keras." + module + " import " + join({names_.begin(), names_.end()}) +
           "\n";
  }
  /// TensorFlow 2.11 gave the names of optimisers to others, with other arguments and formulas.
  std::string import_optimizers() const {
    return "try:  # TensorFlow 2.11 to 2.15\n    " + import_line("optimizers.legacy") +
           "except ImportError:\n    " + import_line("optimizers");
  }

 private:
  std::set<std::string> names_;
};

class Writer {
 public:
  Writer(const Program& program, const KerasScriptOptions& options) : options_(options) {
    std::vector<Problem> problems;
    document_ = normal_form(program.document, Defaults::kDrop, problems);
    const ResolvedProgram resolved = resolve(program);
    metric_ = resolved.metric;
    take_metrics(program.document.at("compile").value("metrics", Json::array()));
    input_ = options.input;
    if (!input_ && !resolved.input_shape.empty()) input_ = resolved.input_shape;
    take_loop(resolved);
  }

  std::string script() {
    std::string body = model();  // one after the other: fit() knows what compile() found
    body += compile();
    body += fit();
    if (options_.standalone) body += evaluate();
    std::string seed = std::to_string(options_.seed);
    std::string text = "import random\n";
    if (options_.standalone) text += "import sys\n";
    text += "import numpy as np\nimport tensorflow as tf\n";
    text += callbacks_.import_line("callbacks") + initializers_.import_line("initializers") +
            layers_.import_line("layers") + losses_.import_line("losses") +
            "from tensorflow.keras.models import Sequential\n" +
            regularizers_.import_line("regularizers") + optimizers_.import_optimizers() + "\n";
    if (options_.standalone) {
      text += "seed = int(sys.argv[1]) if len(sys.argv) > 1 else " + seed + "\n";
      seed = "seed";
    }
    // TensorFlow 2.10 and later draw the seeds of initialisers from Python's own generator.
    for (const char* module : {"random.seed", "np.random.seed", "tf.random.set_seed"}) {
      text += module + ("(" + seed + ")\n");
    }
    text += "\n";
    for (const char* rows : {"train", "test", "validation"}) {
      if (rows == std::string_view("validation") && !options_.validation) continue;
      for (const char* part : {"x_", "y_"}) {
        const std::string name = std::string(part) + rows;
        text += name + " = np.load(\"" + name + ".npy\")\n";
      }
    }
    return text + body;
  }

 private:
  /// The words that metrics are logged under: monitors of callbacks name them.
  void take_metrics(const Json& given) {
    const Json& words = given.size() == 1 && given[0].is_array() ? given[0] : given;
    const Json names = document_.at("compile").value("metrics", Json::array());
    for (std::size_t i = 0; i < names.size(); ++i) {
      metrics_.push_back(words[i].is_string() ? words[i] : names[i]);
      if (names[i] == metric_ && metric_place_ == 0) metric_place_ = i + 1;
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
      loss_class_ = find(Vocabulary::kLoss, program.loss)->aliases.back();
    }
    for (const std::size_t layer : program.loop.left_out) {
      // A frozen batch normalisation doesn't move its averages either.
      if (program.layers[layer].class_name == "BatchNormalization") {
        refuse("left_out", layer, "layers other than BatchNormalization");
      }
      frozen_.insert(layer);
    }
  }

  std::string model() {
    std::string text = "\nmodel = Sequential()\n";
    const Json& layers = *find_layers(document_);
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const std::string class_name = layers[i].at("class_name");
      Json config = layers[i].value("config", Json::object());
      if (frozen_.contains(i)) config["trainable"] = false;
      std::string arguments = call_arguments(std::move(config), find_layer(class_name)->fields);
      if (i == 0 && input_) {
        Json extents = Json::array();
        for (const std::int64_t extent : *input_) extents.push_back(extent);
        append(arguments, "input_shape=" + literal(extents));
      }
      text += "model.add(" + layers_.use(class_name) + "(" + arguments + "))\n";
    }
    return text;
  }

  std::string compile() {
    const Json& compile = document_.at("compile");
    Json optimizer = compile.value("optimizer", Json{{"class_name", "RMSprop"}});
    // The rate is what people look for.
    const std::string name = optimizer.at("class_name");
    const std::vector<Field>& fields = find(Vocabulary::kOptimizer, name)->fields;
    Json config{{"learning_rate", *find_field(fields, "learning_rate")->fallback}};
    config.update(optimizer.value("config", Json::object()));
    rate_ = config.at("learning_rate");
    loss_ = loss_class_.empty() ? literal(compile.at("loss"))
                                : losses_.use(loss_class_) + "(reduction=\"sum\")";
    std::string text = "\nmodel.compile(loss=" + loss_ + ", optimizer=" + optimizers_.use(name) +
                       "(" + keywords(config) + ")";
    if (!metrics_.empty()) text += ", metrics=" + metrics_.dump();
    return text + ")\n";
  }

  /// Prints the program's metric.
  std::string evaluate() {
    std::string text = "\n";
    bool several = !metrics_.empty();
    std::size_t place = metric_place_;
    if (metric_ != "loss" && place == 0) {
      // It wasn't there to be watched.
      text += "model.compile(loss=" + loss_ + ", metrics=[\"" + metric_ + "\"])\n";
      several = true;
      place = 1;
    }
    return text + "print(\"" + metric_ + ":\", model.evaluate(x_test, y_test, verbose=0)" +
           (several ? "[" + std::to_string(place) + "]" : "") + ")\n";
  }

  std::string fit() {
    const Json fit = document_.value("fit", Json::object());
    std::string text =
        "model.fit(x_train, y_train, batch_size=" + literal(fit.value("batch_size", Json(32))) +
        ", epochs=" + literal(fit.value("epochs", Json(1)));
    if (!fit.value("shuffle", true)) text += ", shuffle=False";
    // A split takes the place of rows of their own.
    const Json split = fit.value("validation_split", Json(0));
    if (split != 0) {
      text += ", validation_split=" + literal(split);
    } else if (options_.validation) {
      text += ", validation_data=(x_validation, y_validation)";
    }
    std::string list;
    for (const Json& callback : fit.value("callbacks", Json::array())) {
      append(list, callbacks_.use(callback.at("class_name")) + "(" +
                       keywords(callback.value("config", Json::object())) + ")");
    }
    const Json schedule = fit.value("schedule", Json());
    if (schedule.is_object()) append(list, rate_callback(schedule));
    if (!list.empty()) text += ", callbacks=[" + list + "]";
    return text + ")\n";
  }

  std::string rate_callback(const Json& schedule) {
    const std::string rate =
        python_repr(rate_) + " * " + python_repr(schedule.at("decay_rate")) + " ** ";
    if (schedule.value("every", "epoch") == "epoch") {
      return callbacks_.use("LearningRateScheduler") + "(lambda epoch: " + rate + "epoch)";
    }
    return callbacks_.use("LambdaCallback") +
           "(on_batch_begin=lambda batch, logs: tf.keras.backend.set_value("
           "model.optimizer.learning_rate, " +
           rate + "int(model.optimizer.iterations)))";
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

  /// An initialiser, a regulariser or a plain value.
  std::string argument(const Json& value) {
    if (!value.is_object()) return literal(value);
    const std::string name = value.at("class_name");
    const Json config = value.value("config", Json::object());
    const Entry* initializer = find(Vocabulary::kInitializer, name);
    if (initializer != nullptr && config.empty()) return literal(initializer->word);
    return (initializer != nullptr ? initializers_ : regularizers_).use(name) + "(" +
           keywords(config) + ")";
  }

  const KerasScriptOptions& options_;
  Json document_;
  std::optional<Shape> input_;
  std::set<std::size_t> frozen_;
  std::string metric_;            ///< "loss", or what it is called among metrics
  Json metrics_ = Json::array();  ///< as the program was compiled with
  std::size_t metric_place_ = 0;  ///< of metric_ in metrics_, from 1; 0: not there
  std::string loss_class_;        ///< that takes another reduction; "": the loss as a word
  std::string loss_;              ///< as compile() is given it
  double rate_ = 0;
  Names callbacks_, initializers_, layers_, losses_, optimizers_, regularizers_;
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

}  // namespace neutra
