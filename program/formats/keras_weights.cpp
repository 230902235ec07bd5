#include "program/formats/keras_weights.h"

#include "base/error.h"
#include "base/zip_file.h"
#include "program/formats/keras_graph.h"
#include "program/formats/keras_json.h"
#include "program/formats/old_layouts.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

/// Gives the arrays of a file to the variables of a program.
class WeightReader {
 public:
  WeightReader(const KerasArrays& arrays, const KerasModel& model, const ResolvedProgram& program)
      : arrays_(arrays), model_(model), program_(program), weights_(program.layers.size()) {}

  ModelWeights read(const KerasModel& structure) {
    for (const std::size_t i : order(structure)) {
      weights_[i].resize(program_.layers[i].weights.size());
      if (!weights_[i].empty()) weighted_.push_back(i);
    }
    for (const StoredLayer& stored : arrays_.stored_layers(structure, program_)) {
      if (next_ == weighted_.size()) {
        fail("", "weights of the layer '" + stored.name + "'",
             "those of the " + std::to_string(weighted_.size()) +
                 " layers with weights that the program has");
      }
      const std::size_t first = weighted_[next_];
      const std::vector<std::size_t> gates = old_gates(program_.layers[first].class_name);
      if (!gates.empty() && stored.arrays.size() == 3 * gates.size() &&
          weights_[first].size() == 3) {
        take_gates(first, gates, stored);
        ++next_;
      } else {
        take_layers(stored);
      }
    }
    if (next_ < weighted_.size()) {
      fail("", "no weights for " + title(weighted_[next_]) + " of the program",
           "a file with the weights of all layers");
    }
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (const auto& owner = program_.layers[i].weights_of) weights_[i] = weights_[*owner];
    }
    return std::move(weights_);
  }

 private:
  /// The program's layers in the order in which the file has them: Keras's, or, where the program
  /// was made of the model, the model's, which may have models in it.
  std::vector<std::size_t> order(const KerasModel& structure) const {
    const KerasGraph graph = keras_graph(program_.layers);
    if (graph.chain || structure.model.is_null()) return graph.order;
    const std::vector<KerasLayer> calls = keras_layers(structure);
    bool same = calls.size() == program_.layers.size();
    std::vector<std::size_t> own;
    bool nested = false;
    for (std::size_t i = 0; i < calls.size(); ++i) {
      nested = nested || !calls[i].scope.empty();
      if (!same) continue;
      const ResolvedLayer& layer = program_.layers[i];
      same = calls[i].inputs == layer.inputs && calls[i].call_of == layer.weights_of &&
             find_layer(text_of(*calls[i].json, "class_name")) == find_layer(layer.class_name);
      if (!layer.weights_of) own.push_back(i);
    }
    if (same) return own;
    if (nested) {
      fail("", "a model in the model, and a program with other layers than it",
           "the program that neutra import makes of the model");
    }
    return graph.order;
  }

  [[noreturn]] void fail(const std::string& place, const std::string& found,
                         const std::string& allowed) const {
    throw input_error(describe(model_.file, place, found, allowed));
  }

  std::string title(std::size_t position) const {
    return "layer " + std::to_string(program_.layers[position].index) + " (" +
           program_.layers[position].class_name + ")";
  }

  Shape extents(const std::string& path) const {
    Shape shape;
    for (const std::uint64_t extent : arrays_.file.extents(path)) {
      if (extent > static_cast<std::uint64_t>(kMaxElements)) {
        fail(path, "an extent of " + std::to_string(extent),
             "at most " + std::to_string(kMaxElements));
      }
      shape.push_back(static_cast<std::int64_t>(extent));
    }
    return shape;
  }

  StoredArray array(const std::string& path) const {
    StoredArray stored{path, extents(path), {}};
    const auto count = static_cast<std::uint64_t>(element_count(stored.shape));
    if (count > arrays_.file.stored_bytes(path) * kMaxInflation) {
      fail(path, "extents " + to_string(stored.shape) + " without so many values", "an array");
    }
    stored.values = arrays_.file.read_floats(path, static_cast<std::uint64_t>(kMaxElements));
    return stored;
  }

  /// Variable k of the layer at a position.
  void put(std::size_t position, std::size_t k, StoredArray stored) {
    const Weight& weight = program_.layers[position].weights[k];
    if (stored.shape != weight.shape) {
      fail(stored.path, to_string(stored.shape),
           to_string(weight.shape) + ", the " + weight.name + " of " + title(position) +
               " of the program");
    }
    weights_[position][k] = std::move(stored.values);
  }

  /// The same from an array that need not have today's layout. It is read only where it can be of
  /// the right size.
  void put_array(std::size_t position, std::size_t k, const std::string& path) {
    const ResolvedLayer& layer = program_.layers[position];
    const Weight& weight = layer.weights[k];
    const Shape shape = extents(path);
    if (element_count(shape) != element_count(weight.shape)) {
      put(position, k, {path, shape, {}});  // says what is wrong
    }
    StoredArray stored = array(path);
    LayerKind worker = kind_of(layer);  // of what a wrapper runs
    for (std::vector<ResolvedLayer> inner = wrapped_layers(layer); !inner.empty();) {
      worker = kind_of(inner.front());
      inner = wrapped_layers(ResolvedLayer(inner.front()));
    }
    if (k == 0 && worker == LayerKind::kConvolution) {
      const bool sequence = layer.class_name == "Conv1D" && shape.size() == 4;
      if (sequence && model_.major_version() == 1) drop_width(stored, weight.shape);
      if (model_.backend == "theano" && stored.shape == weight.shape) flip_kernel(stored);
    }
    put(position, k, std::move(stored));
  }

  /// A Conv1D's kernel in Keras 1.1: (filters, channels, length, 1); in Keras 1.2: (length, 1,
  /// channels, filters).
  static void drop_width(StoredArray& kernel, const Shape& wanted) {
    const Shape stored = kernel.shape, with_width{wanted[0], 1, wanted[1], wanted[2]};
    if (stored != with_width) transpose(kernel, {2, 3, 1, 0});
    if (kernel.shape != with_width) {
      kernel.shape = stored;
    } else {
      kernel.shape.erase(kernel.shape.begin() + 1);
    }
  }

  /// A recurrent layer of Keras 1, which has three arrays for each gate.
  void take_gates(std::size_t position, const std::vector<std::size_t>& gates,
                  const StoredLayer& stored) {
    for (std::size_t k = 0; k < 3; ++k) {
      const std::int64_t wanted = element_count(program_.layers[position].weights[k].shape);
      std::vector<StoredArray> parts;
      for (const std::size_t gate : gates) {
        const std::string& path = stored.arrays[3 * gate + k];
        if (element_count(extents(path)) > wanted) fail(path, to_string(extents(path)), "a gate");
        parts.push_back(array(path));
        if (parts.back().shape != parts.front().shape || parts.back().shape.empty()) {
          fail(path, to_string(parts.back().shape), "gates of one shape");
        }
      }
      put(position, k, concatenated(parts));
    }
  }

  /// A layer, or a model in the model, which has the weights of several layers: first all that are
  /// trained, then the others (Layer.weights).
  void take_layers(const StoredLayer& stored) {
    const std::size_t begin = next_;
    std::size_t count = 0;
    while (next_ < weighted_.size() && count < stored.arrays.size()) {
      count += weights_[weighted_[next_++]].size();
    }
    if (count != stored.arrays.size()) {
      const std::size_t first = weighted_[begin];
      fail("layer '" + stored.name + "'", std::to_string(stored.arrays.size()) + " arrays",
           std::to_string(weights_[first].size()) + " for " + title(first) +
               " of the program, or as many as that one and some behind it have");
    }
    const bool alone = next_ - begin == 1;
    std::size_t at = 0;
    for (const bool trained : {true, false}) {
      for (std::size_t i = begin; i < next_; ++i) {
        const ResolvedLayer& layer = program_.layers[weighted_[i]];
        const bool layer_trains = alone || layer.config.value("trainable", true);
        for (std::size_t k = 0; k < layer.weights.size(); ++k) {
          const bool trains =
              layer_trains &&
              (alone || variable_settings(layer.config, layer.weights[k]).value("trainable", true));
          if ((layer.weights[k].trainable && trains) != trained) continue;
          put_array(weighted_[i], k, stored.arrays[at++]);
        }
      }
    }
  }

  const KerasArrays& arrays_;
  const KerasModel& model_;
  const ResolvedProgram& program_;
  ModelWeights weights_;
  std::vector<std::size_t> weighted_;  ///< positions of the layers with weights
  std::size_t next_ = 0;               ///< in these: the first without arrays yet
};

}  // namespace

ModelWeights keras_weights(const KerasArrays& arrays, const KerasModel& model,
                           const KerasModel& structure, const ResolvedProgram& program) {
  return WeightReader(arrays, model, program).read(structure);
}

}  // namespace neutra::program
