#include "program/formats/keras_file.h"

#include <map>

#include "base/hdf5_file.h"
#include "base/zip_file.h"
#include "program/formats/keras_config.h"
#include "program/formats/keras_graph.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

constexpr const char* kKerasVersion = "2.15.0";  ///< the last that all readers of the format know

/// The folders of a layer's variables, as many as there are variables: "PLACE/vars", or that of a
/// recurrent layer's cell, or those of the layers that a wrapper runs.
std::vector<std::string> folders(const ResolvedLayer& layer, const std::string& place) {
  const bool cell = kind_of(layer) == LayerKind::kRecurrent;
  std::vector<ResolvedLayer> wrapped = wrapped_layers(layer);
  if (wrapped.empty()) {
    return std::vector<std::string>(layer.weights.size(), place + (cell ? "/cell/vars" : "/vars"));
  }
  std::vector<std::string> all;
  for (std::size_t i = 0; i < wrapped.size(); ++i) {
    const char* name = wrapped.size() == 1 ? "/layer"
                       : i == 0            ? "/forward_layer"
                                           : "/backward_layer";
    for (std::string& one : folders(wrapped[i], place + name)) all.push_back(std::move(one));
  }
  return all;
}

std::string weights_file(const ResolvedProgram& resolved, const ModelWeights& weights) {
  // Keras finds layers by class and order, whatever their names are.
  const KerasGraph graph = keras_graph(resolved.layers);
  Hdf5File file = Hdf5File::create_in_memory("model.weights.h5");
  // Keras 2 looks for groups of what has no variables, too.
  for (const char* group : {"/vars", "/optimizer/vars", "/layers"}) file.make_group(group);
  for (const std::size_t i : graph.order) {
    const ResolvedLayer& layer = resolved.layers[i];
    if (kind_of(layer) == LayerKind::kInput) continue;
    const std::string place = "/layers/" + graph.names[i];
    const bool statistics = find_layer(layer.class_name)->adapts_to_data;  // in its config
    const std::vector<std::string> own =
        statistics ? std::vector<std::string>() : folders(layer, place);
    if (own.empty()) file.make_group(place + "/vars");
    std::map<std::string, int> used;
    for (std::size_t k = 0; k < own.size(); ++k) {
      const auto [shape, values] = keras_variable(layer, k, weights[i][k]);
      const int n = used[own[k]]++;
      if (n == 0) file.make_group(own[k]);
      file.write(own[k] + "/" + std::to_string(n), values, {shape.begin(), shape.end()});
    }
  }
  return file.image();
}

}  // namespace

std::string keras_file(const Program& program, const ResolvedProgram& resolved,
                       const ModelWeights& weights) {
  Json model = keras_model_config(program, resolved.input_shape, KerasSpelling::kModern);
  spell_statistics(model, resolved, weights);
  model["compile_config"] = keras_compile_config(program, KerasSpelling::kModern);
  const Json metadata{{"keras_version", kKerasVersion}, {"date_saved", "1980-01-01@00:00:00"}};
  return zip_archive({{"metadata.json", metadata.dump()},
                      {"config.json", model.dump()},
                      {"model.weights.h5", weights_file(resolved, weights)}});
}

}  // namespace neutra::program
