#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/messages.h"
#include "program/program.h"

namespace neutra::fl_adapters::thedeepchecker {

/// A layer as the tool sees it.
struct Part {
  std::string name;  ///< as programmed, else from class and index
  int index = 0;
  bool has_kernel = false, has_bias = false;
  std::size_t bias_variable = 1;  ///< of the layer; the kernel is 0
  std::string activation;         ///< "" unless it is one that the tool knows
  std::size_t neurons = 1;
  bool image = false;  ///< outputs of more than one extent
  std::int64_t fan_in = 1, fan_out = 1;
  bool image_kernel = false;
  double l1 = 0, l2 = 0;                         ///< of the kernel's regulariser
  int activation_layer = -1, weight_layer = -1;  ///< as in Place

  /// The places that messages about it name.
  Place kernel() const { return place("kernel:0", image_kernel); }
  Place bias() const { return place("bias:0", image_kernel); }
  Place output() const { return place(activation, image); }

 private:
  Place place(const std::string& what, bool conv) const {
    return {index, name + "/" + what, conv, activation_layer, weight_layer};
  }
};

/// The tool's view of a model.
struct Model {
  std::vector<Part> parts;  ///< one for each layer
  bool classification = true;
  bool sparse = false;  ///< targets are classes by number
  std::string metric;
  std::string first_activation;  ///< "leaky_relu" without any, as in the tool
  std::set<int> dropouts;
  bool has_modes = false;  ///< dropout or batch normalisation

  /// `row`: extents of a row of the data, for a program that doesn't say them.
  Model(program::Program program, const program::Shape& row);

  /// The function that the tool takes a layer's activation for: one for the whole model.
  std::string taken_for(const Part& part, ToolVariant variant) const {
    return variant == ToolVariant::kAsPublished ? first_activation : part.activation;
  }

 private:
  /// Finds the weights of activations in layers of their own, and the other way round.
  void connect(const program::ResolvedProgram& resolved);
};

}  // namespace neutra::fl_adapters::thedeepchecker
