#include "program/formats/stored_weights.h"

#include <algorithm>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "program/formats/keras_arrays.h"
#include "program/formats/keras_graph.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

/// Does the layer's every variable have the shape of the array in its place?
bool group_fits(const WeightGroup& group, const ResolvedLayer& layer) {
  if (layer.weights_of) return false;  // another layer's
  return std::equal(group.shapes.begin(), group.shapes.end(), layer.weights.begin(),
                    layer.weights.end(),
                    [](const Shape& shape, const Weight& weight) { return shape == weight.shape; });
}

Shape stored_shape(const Hdf5File& file, const std::string& path) {
  Shape shape;
  for (const std::uint64_t extent : file.extents(path)) {
    shape.push_back(
        static_cast<std::int64_t>(std::min(extent, static_cast<std::uint64_t>(kMaxElements) + 1)));
  }
  return shape;
}

}  // namespace

std::vector<WeightGroup> read_weight_groups(std::string_view image,
                                            const std::filesystem::path& path) {
  const Hdf5File file = Hdf5File::open_image(image, path);
  const std::string group = file.has("/model_weights") ? "/model_weights" : "/";
  const std::string root = group == "/" ? "/" : group + "/";
  const std::vector<std::string> layers = split_attribute(file, group, "layer_names");
  if (layers.empty()) {
    throw input_error(describe(path.string(), "layer_names",
                               file.has("/layers") ? "weights as Keras 3 stores them" : "nothing",
                               "weights in the layout of Keras 2: of model.save_weights there, of "
                               "neutra train --final-weights, or a model of neutra export "
                               "--format h5"));
  }
  std::vector<WeightGroup> groups;
  for (const std::string& layer : layers) {
    WeightGroup made{layer, {}, {}};
    for (const std::string& weight : split_attribute(file, root + layer, "weight_names")) {
      const std::string place = root + layer + "/" + weight;
      made.shapes.push_back(stored_shape(file, place));
      made.values.push_back(file.read_floats(place, static_cast<std::uint64_t>(kMaxElements)));
    }
    if (!made.shapes.empty()) groups.push_back(std::move(made));
  }
  return groups;
}

std::string weight_file(const ResolvedProgram& program, const ModelWeights& weights) {
  Hdf5File file = Hdf5File::create_in_memory("weights.h5");
  std::vector<std::string> classes, names;
  for (const ResolvedLayer& layer : program.layers) classes.push_back(layer.class_name);
  const std::vector<std::string> all = keras_layer_names(classes);
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    if (program.layers[i].weights.empty() || program.layers[i].weights_of) continue;
    names.push_back(all[i]);
    const std::string place = "/" + all[i];
    file.make_group(place);
    std::vector<std::string> variables;
    for (std::size_t k = 0; k < program.layers[i].weights.size(); ++k) {
      const Weight& weight = program.layers[i].weights[k];
      variables.push_back(all[i] + "/" + weight.name + ":0");
      file.write(place + "/" + variables.back(), weights[i][k],
                 {weight.shape.begin(), weight.shape.end()});
    }
    file.write_attribute(place, "weight_names", variables);
  }
  file.write_attribute("/", "layer_names", names);
  file.write_ascii_attribute("/", "backend", "tensorflow");
  file.write_ascii_attribute("/", "keras_version", "2.4.0");
  return file.image();
}

ModelWeights fitting_weights(const std::vector<WeightGroup>& groups,
                             const ResolvedProgram& program) {
  const std::size_t layers = program.layers.size(), count = groups.size();
  // most[i][j]: how many of the layers from i on can be served by the groups from j on.
  std::vector<std::vector<std::size_t>> most(layers + 1, std::vector<std::size_t>(count + 1));
  for (std::size_t i = layers; i-- > 0;) {
    for (std::size_t j = count; j-- > 0;) {
      most[i][j] = group_fits(groups[j], program.layers[i])
                       ? most[i + 1][j + 1] + 1
                       : std::max(most[i + 1][j], most[i][j + 1]);
    }
  }
  ModelWeights weights(layers);
  for (std::size_t i = 0, j = 0; i < layers && j < count;) {
    if (group_fits(groups[j], program.layers[i])) {
      weights[i++] = groups[j++].values;
    } else if (most[i][j + 1] >= most[i + 1][j]) {
      ++j;  // an earlier layer goes first
    } else {
      ++i;
    }
  }
  return weights;
}

}  // namespace neutra::program
