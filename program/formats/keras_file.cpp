#include "program/formats/keras_file.h"

#include <algorithm>
#include <array>

#include "program/formats/keras_config.h"
#include "program/hdf5_file.h"
#include "program/zip_file.h"

namespace neutra {
namespace {

constexpr const char* kKerasVersion = "2.15.0";  ///< the last that all readers of the format know
/// Layers whose variables belong to a cell of theirs.
constexpr std::array<std::string_view, 3> kWithCell{"GRU", "LSTM", "SimpleRNN"};

std::string weights_file(const ResolvedProgram& resolved, const ModelWeights& weights) {
  std::vector<std::string> classes;
  for (const ResolvedLayer& layer : resolved.layers) {
    if (layer.class_name != "InputLayer") classes.push_back(layer.class_name);
  }
  // Keras finds layers by class and order, whatever their names are.
  const std::vector<std::string> names = keras_layer_names(classes);
  Hdf5File file = Hdf5File::create_in_memory("model.weights.h5");
  // Keras 2 looks for groups of what has no variables, too.
  for (const char* group : {"/vars", "/optimizer/vars", "/layers"}) file.make_group(group);
  auto name = names.begin();
  for (std::size_t i = 0; i < resolved.layers.size(); ++i) {
    const ResolvedLayer& layer = resolved.layers[i];
    if (layer.class_name == "InputLayer") continue;
    std::string place = "/layers/" + *name++;
    if (std::find(kWithCell.begin(), kWithCell.end(), layer.class_name) != kWithCell.end()) {
      place += "/cell";
    }
    file.make_group(place + "/vars");
    for (std::size_t k = 0; k < layer.weights.size(); ++k) {
      const Shape& shape = layer.weights[k].shape;
      file.write(place + "/vars/" + std::to_string(k), weights[i][k], {shape.begin(), shape.end()});
    }
  }
  return file.image();
}

}  // namespace

std::string keras_file(const Program& program, const ResolvedProgram& resolved,
                       const ModelWeights& weights) {
  Json model = keras_model_config(program, resolved.input_shape, KerasSpelling::kModern);
  model["compile_config"] = keras_compile_config(program, KerasSpelling::kModern);
  const Json metadata{{"keras_version", kKerasVersion}, {"date_saved", "1980-01-01@00:00:00"}};
  return zip_archive({{"metadata.json", metadata.dump()},
                      {"config.json", model.dump()},
                      {"model.weights.h5", weights_file(resolved, weights)}});
}

}  // namespace neutra
