#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"

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
  /// Is it of standalone Keras, before it became tf.keras?
  bool is_standalone() const;
};

/// Names of the variables' folders of layers one behind the other: "dense", "dense_1", ...
class FolderNames {
 public:
  /// Of the next layer, which is of this class.
  std::string next(const std::string& class_name);

 private:
  std::map<std::string, int> used_;
};

/// A layer of a model where it is called.
struct KerasLayer {
  const Json* json = nullptr;  ///< {class_name, config} in the model
  std::string name;            ///< "" where it has none
  std::string folder;          ///< of its variables in a .keras file: "layers/dense_1"
  /// `training` of its call, which holds in every run of the model; null: as the model runs. Keras
  /// 3 writes it down, too, but runs each layer as the model.
  Json training;
  std::shared_ptr<const Json> made = nullptr;  ///< owner of `json` where it isn't in the model
  std::string scope = {};  ///< names of the models in the model that it is in: "encoder/"
  /// The calls whose outputs it takes, by position; empty for the first.
  std::vector<std::size_t> inputs = {};
  /// The first call of the layer, by position, where this one is another.
  std::optional<std::size_t> call_of = std::nullopt;
};

/// The calls of layers between a model's input and its output, each behind those whose outputs it
/// takes, else in the order of the file; those of models in the model in their place. Further
/// InputLayers are left out. Of a model that a TimeDistributed runs, each layer is in one of its
/// own. `model` outlives the result. Throws input_error that says what makes the model none with
/// one input and one output: several of them, layers that lead nowhere, loops, classes that are no
/// Sequential and no functional model.
std::vector<KerasLayer> keras_layers(const KerasModel& model);

/// Is it a chain: each layer called once, on the output of the one before?
bool is_chain(const std::vector<KerasLayer>& layers);

}  // namespace neutra::program
