#pragma once

#include <string>

#include "program/formats/keras_import.h"
#include "program/formats/keras_model.h"
#include "support.h"

/// Keras models as tests write them.
namespace neutra::program::tests {

// The files of tests/program/data/keras are written by scripts/keras_models.py with TensorFlow
// 2.15.1 and Keras 3.15.1, the .keras files packed afterwards.

inline KerasModel model_of(const std::string& model, const std::string& training = "null",
                           const std::string& version = "2.4.0") {
  return {"model.h5", version, "tensorflow", parse_json(model, "test"),
          parse_json(training, "test")};
}

inline KerasImport import_of(const KerasModel& model, Json training = Json(),
                             const DataInfo* info = nullptr) {
  ImportSources sources;
  sources.name = "model";
  sources.training = std::move(training);
  sources.training_file = "training.json";
  sources.info = info;
  return import_keras(model, sources);
}

/// A Sequential with these layers behind an InputLayer of two features.
inline KerasModel sequential(const std::string& layers, const std::string& training = "null",
                             const std::string& version = "2.4.0") {
  return model_of(
      R"({"class_name": "Sequential", "config": {"name": "s", "layers": [{"class_name": "InputLayer",
          "config": {"batch_input_shape": [null, 2], "dtype": "float32", "sparse": false,
                     "name": "in"}},)" +
          layers + "]}}",
      training, version);
}

inline const std::string kDense =
    R"({"class_name": "Dense", "config": {"name": "d", "units": 3, "activation": "softmax"}})";

inline const Json& layer_of(const KerasImport& import, std::size_t index) {
  return import.document["model"]["config"]["layers"][index];
}

inline bool assumes(const KerasImport& import, const std::string& field, const std::string& value) {
  for (const Assumption& each : import.assumptions) {
    if (each.field == field && each.value == value && !each.reason.empty()) return true;
  }
  return false;
}

}  // namespace neutra::program::tests
