#include "program/formats/keras_h5.h"

#include "base/hdf5_file.h"
#include "program/formats/keras_config.h"
#include "program/formats/keras_graph.h"
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
  const KerasGraph graph = keras_graph(resolved.layers);
  std::vector<std::string> names;
  for (const std::size_t i : graph.order) {
    const ResolvedLayer& layer = resolved.layers[i];
    const std::string& name = names.emplace_back(graph.names[i]);
    const std::string place = group + "/" + name;
    file.make_group(place);
    std::vector<std::string> variables;
    const bool statistics = find_layer(layer.class_name)->adapts_to_data;  // in its config
    for (std::size_t k = 0; !statistics && k < layer.weights.size(); ++k) {
      const Weight& weight = layer.weights[k];
      variables.push_back(name + "/" + weight.name + ":0");
      const auto [shape, values] = keras_variable(layer, k, weights[i][k]);
      file.write(place + "/" + variables.back(), values, {shape.begin(), shape.end()});
    }
    file.write_attribute(place, "weight_names", variables);
  }
  // A Sequential model of Keras doesn't list its input.
  const bool input = !names.empty() && resolved.layers.front().class_name == "InputLayer";
  if (input && graph.chain) names.erase(names.begin());
  file.write_attribute(group, "layer_names", names);
  return file.image();
}

}  // namespace neutra::program
