#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "base/json.h"
#include "program/formats/keras_layers.h"
#include "program/model_weights.h"
#include "program/program.h"

namespace neutra::program {

struct KerasArrays;

/// A file of a Keras model: .h5 of Keras 1 to 3 (whole models, or weights alone), .keras,
/// .weights.h5, the JSON of to_json() (docs/formats/keras_model.md). Nothing in it is executed.
/// Errors are input_error with the file and the place in it.
class KerasModelFile {
 public:
  /// Reads all but the weights.
  explicit KerasModelFile(const std::filesystem::path& file);
  KerasModelFile(KerasModelFile&&) noexcept;
  ~KerasModelFile();

  /// What the file holds; `file` is its path.
  const KerasModel& model() const { return model_; }
  /// The weights for a program's layers, matched by order as Keras does, each of the shape that the
  /// program gives it. Kernels and gates of Keras 1 and of Theano are turned into today's layout.
  /// Reads no more than the program needs. `structure`: the model that the program was made of,
  /// which says where variables lie that a file without a model holds; null: the program says it.
  /// Throws input_error that names layer and weight.
  ModelWeights weights(const ResolvedProgram& program, const KerasModel* structure = nullptr) const;

 private:
  std::string start_reading(const std::filesystem::path& file) const;
  void read_keras(const std::filesystem::path& file);
  void read_json_file(const std::filesystem::path& file);
  void read_h5(const std::filesystem::path& file);

  KerasModel model_;
  std::unique_ptr<KerasArrays> arrays_;  ///< nullptr: the file holds no weights
};

/// Is this a file that KerasModelFile may read weights of: an HDF5 file, or a zip file with a
/// config.json?
bool is_keras_model_file(const std::filesystem::path& file);

/// Is this a model as Keras's to_json() writes it: a JSON object with class_name and config?
bool is_keras_json(const std::filesystem::path& file);
/// The same of JSON that is read.
bool is_keras_json(const Json& json);

}  // namespace neutra::program
