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

 private:
  std::set<std::string> names_;
};

class Writer {
 public:
  Writer(const Program& program, const KerasScriptOptions& options) : options_(options) {
    std::vector<Problem> problems;
    document_ = normal_form(program.document, Defaults::kDrop, problems);
    input_ = options.input;
    if (!input_) {
      if (const Shape declared = resolve(program).input_shape; !declared.empty()) input_ = declared;
    }
  }

  std::string script() {
    const std::string body = model() + compile() + fit();
    const std::string seed = std::to_string(options_.seed);
    std::string text = "import numpy as np\nimport tensorflow as tf\n";
    text += callbacks_.import_line("callbacks") + initializers_.import_line("initializers") +
            layers_.import_line("layers") + "from tensorflow.keras.models import Sequential\n" +
            optimizers_.import_line("optimizers") + regularizers_.import_line("regularizers");
    text += "\nnp.random.seed(" + seed + ")\ntf.random.set_seed(" + seed + ")\n\n";
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
  std::string model() {
    std::string text = "\nmodel = Sequential()\n";
    bool first = true;
    for (const Json& layer : *find_layers(document_)) {
      const std::string class_name = layer.at("class_name");
      std::string arguments =
          call_arguments(layer.value("config", Json::object()), find_layer(class_name)->fields);
      if (std::exchange(first, false) && input_) {
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
    std::string text = "\nmodel.compile(loss=" + literal(compile.at("loss")) +
                       ", optimizer=" + optimizers_.use(name) + "(" + keywords(config) + ")";
    if (const Json metrics = compile.value("metrics", Json::array()); !metrics.empty()) {
      text += ", metrics=" + metrics.dump();
    }
    return text + ")\n";
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
    if (!list.empty()) text += ", callbacks=[" + list + "]";
    return text + ")\n";
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
  Names callbacks_, initializers_, layers_, optimizers_, regularizers_;
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
