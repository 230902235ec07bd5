#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/layer.h"

namespace neutra::program {

/// A document with what is known of its layers' shapes.
struct Inference {
  const Json& written;                ///< the document
  Json normal;                        ///< in normal form, every field present
  const DataInfo* data;               ///< nullptr: nothing is known of the rows
  std::string path;                   ///< of the layers in the document
  std::vector<const Layer*> types;    ///< of each layer; nullptr for an unknown class
  std::vector<ResolvedLayer> layers;  ///< those behind one that is refused have no shapes
  Shape input;                        ///< of the model; {} where it isn't known
  std::optional<Shape> output = {};   ///< of the model; nullopt where it isn't known
  bool masked = false;                ///< has the output of the last layer with shapes a mask?

  /// JSON pointer to a layer.
  std::string layer_path(std::size_t index) const { return path + "/" + std::to_string(index); }
};

/// The shape of rows as a model gets them: Keras appends a 1 to rows of plain numbers.
Shape with_unit(const Shape& shape);

/// Is there a problem at `prefix` or below?
bool has_problem(const std::vector<Problem>& problems, const std::string& prefix);

/// Normal form and shapes of a document, which outlives the result, as do the `data`. Appends every
/// problem that shows without a look at targets, loss and metric.
Inference infer_shapes(const Json& document, const DataInfo* data, std::vector<Problem>& problems);

/// The weight of the layer whose inputs a FanInUniform for `weight` counts: the one that it names,
/// or where `of` is "kernel" and the layer has none, `weight` itself; nullptr: there is none.
const Weight* fan_in_weight(const ResolvedLayer& layer, const Weight& weight);
/// The initialiser of a weight, {class_name, config}; a FanInUniform as the RandomUniform that it
/// is in this layer: within 1 / sqrt(n), n being the numbers that go into one output.
Json drawn_initializer(const ResolvedLayer& layer, const Weight& weight);

}  // namespace neutra::program
