#include "program/formats/keras_import.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/words.h"
#include "program/document.h"
#include "program/formats/compile_import.h"
#include "program/formats/keras_json.h"
#include "program/formats/layer_import.h"
#include "program/graph.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

/// A model becomes a program; what can't is collected.
class Importer {
 public:
  Importer(const KerasModel& model, const ImportSources& sources)
      : model_(model),
        sources_(sources),
        notes_{model},
        compile_(notes_, sources.training, document_) {}

  KerasImport run() {
    if (model_.model.is_null()) {
      throw input_error(describe(model_.file, "", "weights alone, without model_config",
                                 "a file of a whole model, or the JSON of to_json(); neutra "
                                 "evaluate MODEL|PROGRAM --weights FILE evaluates the weights"));
    }
    document_ = {{"format", "neutra-program"},
                 {"version", 1},
                 {"name", sources_.name},
                 {"model", Json()},
                 {"compile", Json::object()},
                 {"fit", Json::object()},
                 {"data", Json()}};
    note_version();
    const std::vector<KerasLayer> calls = keras_layers(model_);
    ImportedLayers imported = import_layers(calls, notes_);
    Json& layers = imported.layers;
    titles_ = std::move(imported.titles);
    batch_size_ = imported.batch_size;
    if (drop_input_layer(layers)) titles_.erase(titles_.begin());
    const char* const class_name = names_wiring(layers) ? "Functional" : "Sequential";
    document_["model"] = {{"class_name", class_name}, {"config", {{"layers", layers}}}};
    compile_.compile();
    compile_.training_options(sources_.training_file);
    fill_in_loss();
    fill_in_metric();
    fill_in_fit();
    fill_in_data();
    if (notes_.problems.empty()) check();
    if (!notes_.problems.empty()) throw input_error(join(notes_.problems, "\n"));
    // Keras counts it from the front as soon as shapes are known; valid layers take the last alone.
    for (Json& layer : document_["model"]["config"]["layers"]) {
      for (Json* each = &layer; each != nullptr; each = wrapped_in(*each)) {
        Json& config = (*each)["config"];
        const Layer& type = *find_layer(text_of(*each, "class_name"));
        if (type.kind == LayerKind::kMerge) continue;
        if (!type.adapts_to_data) {
          config.erase("axis");
        } else if (config.value("axis", Json()) == Json::array()) {
          config["axis"] = nullptr;  // tf.keras stores an axis of null as none
        }
      }
    }
    return {std::move(document_), std::move(notes_.assumptions)};
  }

 private:
  /// The layer that a wrapper runs; nullptr for other layers.
  static Json* wrapped_in(Json& layer) {
    Json& config = layer["config"];
    const auto wrapped = config.find("layer");
    return wrapped != config.end() && wrapped->is_object() ? &*wrapped : nullptr;
  }

  void note_version() {
    if (model_.major_version() == 2 && !model_.is_standalone()) return;
    notes_.assume("model", model_.version.empty() ? "Keras 1" : "Keras " + model_.version,
                  "it will be trained as tf.keras 2.4 trains; other versions differ in details of "
                  "optimisers and of the metric accuracy");
  }

  /// Keras puts an InputLayer in front when it stores a model. neutra's own file says where the
  /// program had none, so that layers keep their numbers.
  bool drop_input_layer(Json& layers) const {
    if (!sources_.training.is_object() || sources_.training.value("input_layer", Json()) != false ||
        names_wiring(layers) || layers.size() < 2 ||
        text_of(layers[0], "class_name") != "InputLayer") {
      return false;
    }
    const Json shape = value_of(layers[0]["config"], "batch_input_shape");
    if (!shape.is_null()) layers[1]["config"]["batch_input_shape"] = shape;
    layers.erase(0);
    return true;
  }

  /// The last activation, "" for none.
  std::string output_activation() const {
    const Json& layers = document_["model"]["config"]["layers"];
    for (std::size_t i = layers.size(); i-- > 0;) {
      const Json& layer = innermost_layer(layers[i]);
      const std::string class_name = text_of(layer, "class_name");
      const Layer& type = *find_layer(class_name);
      if (!type.activation.empty()) return type.activation;
      const Json& config = value_of(layer, "config");
      const Json& activation = value_of(config, "activation");
      if (activation.is_string() && activation != "linear") return activation;
      if (type.weights != nullptr) break;
    }
    return "";
  }

  void fill_in_loss() {
    Json& compile = document_["compile"];
    if (!compile.contains("optimizer")) {
      compile["optimizer"] = "rmsprop";
      notes_.assume(
          "compile.optimizer", "rmsprop",
          model_.training.is_null()
              ? "Keras's default"
              : "Keras's default: the model was compiled, but its optimiser is lost, since Keras " +
                    model_.version + " didn't store it; --training FILE gives it");
    }
    if (compile.contains("loss")) return;
    const std::string activation = output_activation();
    const DataInfo* info = sources_.info;
    const bool labels =
        info != nullptr && info->y_is_integer && (info->y.empty() || info->y == Shape{1});
    const std::string loss = activation == "softmax"   ? (labels ? "sparse_categorical_crossentropy"
                                                                 : "categorical_crossentropy")
                             : activation == "sigmoid" ? "binary_crossentropy"
                                                       : "mean_squared_error";
    compile["loss"] = loss;
    notes_.assume("compile.loss", loss,
                  activation.empty() ? "the output is linear" : "the output is " + activation);
    if (!compile.contains("metrics") && activation != "" && loss != "mean_squared_error") {
      compile["metrics"] = Json::array({"accuracy"});
      notes_.assume("compile.metrics", "accuracy", "the loss is one of classification");
    }
  }

  void fill_in_metric() {
    const Json& metrics = value_of(document_["compile"], "metrics");
    if (document_.contains("metric") && !document_["metric"].is_null()) return;
    if (!metrics.is_array() || metrics.empty()) {
      notes_.assume("metric", "loss", "the model was compiled without a metric that neutra knows");
    }
  }

  void fill_in_fit() {
    Json& fit = document_["fit"];
    if (!fit.contains("batch_size")) {
      fit["batch_size"] = batch_size_.is_null() ? Json(32) : batch_size_;
      notes_.assume("fit.batch_size", fit["batch_size"].dump(),
                    batch_size_.is_null() ? "Keras's default; model files don't hold it"
                                          : "the model declares batches of this size");
    } else if (!batch_size_.is_null() && fit["batch_size"] != batch_size_) {
      notes_.assume("fit.batch_size", shown(fit["batch_size"]),
                    "the model declares batches of " + shown(batch_size_) + ", which is left out");
    }
    if (!fit.contains("epochs")) {
      fit["epochs"] = 1;
      notes_.assume("fit.epochs", "1", "Keras's default; model files don't hold it");
    }
  }

  void fill_in_data() {
    Json& data = document_["data"];
    if (!sources_.data.is_null()) data = sources_.data;
    if (!data.is_null()) return;
    data = {{"source", "none"}};
    notes_.assume(
        "data", "none",
        "model files hold no rows: the program can be shown and changed, but not trained; --data "
        "gives them");
  }

  /// The program's own check, with layers by their name.
  void check() {
    static const std::string prefix = "/model/config/layers/";
    for (const Problem& problem : validate(document_, sources_.info)) {
      std::string place = problem.path.empty() ? "/" : problem.path;
      if (place.starts_with(prefix)) {
        std::size_t index = 0;
        const char* begin = place.data() + prefix.size();
        const char* end = std::from_chars(begin, place.data() + place.size(), index).ptr;
        std::string rest(end, static_cast<std::size_t>(place.data() + place.size() - end));
        rest = rest.starts_with("/config/") ? rest.substr(8) : rest.substr(rest.empty() ? 0 : 1);
        if (index < titles_.size()) place = titles_[index] + (rest.empty() ? "" : ": " + rest);
      } else {
        std::replace(place.begin() + 1, place.end(), '/', '.');
        place = place.substr(1);
      }
      const bool trains = place.starts_with("compile.") || place.starts_with("fit.");
      notes_.refuse(place, problem.found, problem.allowed + (trains ? compile_.or_given() : ""));
    }
  }

  const KerasModel& model_;
  const ImportSources& sources_;
  Json document_;
  ImportNotes notes_;
  CompileImport compile_;
  Json batch_size_;                  ///< that the model declares; null for none
  std::vector<std::string> titles_;  ///< of the program's layers
};

}  // namespace

KerasImport import_keras(const KerasModel& model, const ImportSources& sources) {
  return Importer(model, sources).run();
}

}  // namespace neutra::program
