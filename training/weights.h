#pragma once

#include <span>
#include <utility>
#include <vector>

#include "program/program.h"
#include "training/buffer.h"
#include "training/random.h"
#include "training/variables.h"

namespace neutra {

/// A model's variables by position in ResolvedProgram::layers, in Keras's order and layout.
using ModelWeights = std::vector<std::vector<std::vector<float>>>;

/// The variables of a program on two flat buffers (weights, gradients): trainable ones first, each
/// at a multiple of 64 bytes, in Keras's order and layout. The gaps between them hold zeros.
class Weights {
 public:
  struct Variable {
    Extent extent;
    Shape shape;
    bool trainable = true;
  };

  /// Initial values drawn with `key`.
  Weights(const ResolvedProgram& program, RandomKey key);

  std::span<float> all() { return weights_.floats(); }
  std::span<float> trainable() { return all().first(trainable_size_); }
  std::span<float> gradients() { return gradients_.floats(); }  ///< of the trainable ones
  /// Those of the layer at `position` in ResolvedProgram::layers.
  const std::vector<Variable>& of_layer(std::size_t position) const { return layers_[position]; }
  const std::vector<Extent>& trainable_variables() const { return trainable_variables_; }

  ModelWeights by_layer();  ///< a copy of all
  /// Gives layer i the weights of layer i + `first`. Precondition: they have the same shapes.
  void assign(const ModelWeights& weights, std::size_t first = 0);

  double penalty();              ///< of weight regularisers: l1 sum |w| + l2 sum w^2
  void add_penalty_gradients();  ///< l1 sign(w) + 2 l2 w

  bool all_nan();     ///< every weight is NaN, and some of them are trainable
  bool all_finite();  ///< of all weights

 private:
  Buffer weights_, gradients_;
  std::size_t trainable_size_ = 0;
  std::vector<std::vector<Variable>> layers_;
  std::vector<Extent> trainable_variables_;
  std::vector<std::pair<Extent, Regularizer>> penalties_;
};

}  // namespace neutra
