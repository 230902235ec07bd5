#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "program/model_weights.h"
#include "program/program.h"

namespace neutra::program {

/// A Keras model as it is stored: nothing is interpreted.
struct KerasModel {
  std::string file;     ///< for messages
  std::string version;  ///< of Keras; "" in files of Keras 1, which don't say
  std::string backend;  ///< "tensorflow", "theano", ...; "" where the file doesn't say
  Json model;           ///< {class_name, config}; null: the file holds weights alone
  Json training;        ///< what the model was compiled with; null: it was not, or not saved
  /// The first number of the version; 1 where there is none.
  int major_version() const;
};

/// A layer of a model that is a chain.
struct KerasLayer {
  const Json* json = nullptr;  ///< {class_name, config} in the model
  std::string name;            ///< "" where it has none
  std::string folder;          ///< of its variables in a .keras file: "layers/dense_1"
  /// `training` of its call, which holds in every run of the model; null: as the model runs. Keras
  /// 3 writes it down, too, but runs each layer as the model.
  Json training;
  std::shared_ptr<const Json> made = nullptr;  ///< owner of `json` where it isn't in the model
};

/// The layers from a model's input to its output, those of models in the model in their place;
/// further InputLayers are left out. Of a model that a TimeDistributed runs, each layer is in one
/// of its own. `model` outlives the result. Throws input_error that says what makes the model no
/// chain: branches, shared layers, loops, several inputs or outputs, classes that are no Sequential
/// and no functional model.
std::vector<KerasLayer> keras_chain(const KerasModel& model);

/// A file of a Keras model: .h5 of Keras 1 to 3 (whole models, or weights alone), .keras,
/// .weights.h5, the JSON of to_json() (docs/formats/keras_model.md). Nothing in it is executed.
/// Errors are input_error with the file and the place in it.
class KerasModelFile {
 public:
  explicit KerasModelFile(const std::filesystem::path& file);
  KerasModelFile(KerasModelFile&&) noexcept;
  ~KerasModelFile();

  const KerasModel& model() const { return model_; }
  /// The weights for a program's layers, matched by order as Keras does, each of the shape that the
  /// program gives it. Kernels and gates of Keras 1 and of Theano are turned into today's layout.
  /// Reads no more than the program needs. `structure`: the model that the program was made of,
  /// which says where variables lie that a file without a model holds; null: the program says it.
  /// Throws input_error that names layer and weight.
  ModelWeights weights(const ResolvedProgram& program, const KerasModel* structure = nullptr) const;

 private:
  struct Content;
  KerasModel model_;
  std::unique_ptr<Content> content_;
};

/// Is this a file that KerasModelFile may read weights of: an HDF5 file, or a zip file with a
/// config.json?
bool is_keras_model_file(const std::filesystem::path& file);

/// Is this a model as Keras's to_json() writes it: a JSON object with class_name and config?
bool is_keras_json(const std::filesystem::path& file);
bool is_keras_json(const Json& json);

}  // namespace neutra::program
