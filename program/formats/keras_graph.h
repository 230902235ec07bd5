#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// The layers of a program as Keras has them.
struct KerasGraph {
  bool chain = true;               ///< a Sequential model can be it
  std::vector<std::size_t> order;  ///< positions of the layers, each once, in Keras's order
  std::vector<std::string> names;  ///< of each position; a further call has its layer's
  std::vector<std::size_t> call;   ///< of each position: which call of its layer, from 0
};

/// Layers get the names that Keras gives classes one behind the other: "dense", "dense_1", ... The
/// order of a Sequential model is that of its layers; a functional model lists them by their
/// distance to the output, then by when a walk back from there comes to them first (tf.keras 2.4
/// engine/functional.py, _map_graph_network; Keras 3 ops/function.py, map_graph).
KerasGraph keras_graph(const std::vector<ResolvedLayer>& layers);

/// The lines of a Python script that make a functional model: a value for each call, named after
/// its layer, and a variable for a layer that is called several times. `input`: the expression of
/// the input; `layer`: that of the layer at a position.
std::string functional_calls(const std::vector<ResolvedLayer>& layers, const KerasGraph& graph,
                             const std::string& input,
                             const std::function<std::string(std::size_t)>& layer);

/// Names that Keras gives layers of these classes: "dense", "dense_1", "conv2d", ...
std::vector<std::string> keras_layer_names(const std::vector<std::string>& class_names);

/// A class's name as Keras's files have it: "Conv2D" -> "conv2d", "LeakyReLU" -> "leaky_re_lu"
/// (keras/src/utils/naming.py).
std::string keras_snake_case(const std::string& class_name);

}  // namespace neutra::program
