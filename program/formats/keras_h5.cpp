#include "program/formats/keras_h5.h"

#include "base/hdf5_file.h"
#include "program/formats/keras_config.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

constexpr const char* kWrittenVersion = "2.4.0";  ///< of tf.keras 2.4
constexpr const char* kBackend = "tensorflow";

/// JSON in ASCII: Keras 2 takes the attribute for bytes.
std::string ascii(const Json& json) { return json.dump(-1, ' ', true); }

}  // namespace

std::string keras_h5(const Program& program, const ResolvedProgram& resolved,
                     const ModelWeights& weights) {
  Hdf5File file = Hdf5File::create_in_memory("model.h5");
  const auto versions = [&](const std::string& group) {
    file.write_ascii_attribute(group, "backend", kBackend);
    file.write_ascii_attribute(group, "keras_version", kWrittenVersion);
  };
  versions("/");
  Json model = keras_model_config(program, resolved.input_shape, KerasSpelling::kLegacy);
  spell_statistics(model, resolved, weights);
  file.write_ascii_attribute("/", "model_config", ascii(model));
  file.write_ascii_attribute("/", "training_config",
                             ascii(keras_compile_config(program, KerasSpelling::kLegacy)));
  const std::string group = "/model_weights";
  file.make_group(group);
  versions(group);
  std::vector<std::string> classes;
  for (const ResolvedLayer& layer : resolved.layers) classes.push_back(layer.class_name);
  std::vector<std::string> names = keras_layer_names(classes);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string place = group + "/" + names[i];
    file.make_group(place);
    std::vector<std::string> variables;
    const bool statistics =
        find_layer(resolved.layers[i].class_name)->adapts_to_data;  // in its config
    for (std::size_t k = 0; !statistics && k < resolved.layers[i].weights.size(); ++k) {
      const Weight& weight = resolved.layers[i].weights[k];
      variables.push_back(names[i] + "/" + weight.name + ":0");
      file.write(place + "/" + variables.back(), weights[i][k],
                 {weight.shape.begin(), weight.shape.end()});
    }
    file.write_attribute(place, "weight_names", variables);
  }
  // Keras doesn't list the input.
  if (!classes.empty() && classes.front() == "InputLayer") names.erase(names.begin());
  file.write_attribute(group, "layer_names", names);
  return file.image();
}

}  // namespace neutra::program
