#pragma once

#include <span>
#include <utility>
#include <vector>

#include "program/model_weights.h"
#include "program/program.h"
#include "training/buffer.h"
#include "training/random.h"
#include "training/variables.h"

namespace neutra::training {

/// For each layer: does any gradient of the loss, or of an activity regulariser where those count,
/// come to it? None of the loss goes back through the output of a detached layer, none through the
/// indices of an Embedding.
std::vector<bool> reached_layers(const program::ResolvedProgram& program, bool regularizers);

/// Does a gradient come to the variable of the layer at `position` in ResolvedProgram::layers? Not
/// to a statistic, one of a frozen layer, or one that is cut off from the loss and from
/// regularisers.
bool has_gradient(const program::ResolvedProgram& program, std::size_t position,
                  const program::Weight& weight);

/// The variables of a program on two flat buffers (weights, gradients): first those that the
/// optimiser updates, then others with a gradient, then those without; each at a multiple of 64
/// bytes, in Keras's order and layout. The gaps between them hold zeros.
class Weights {
 public:
  /// Where a variable lies, and who changes it.
  struct Variable {
    Extent extent;
    program::Shape shape;
    bool trainable = true;  ///< has_gradient()
    bool reached = true;    ///< the gradient isn't that of its own regulariser alone
    bool updated = true;    ///< the optimiser has it
  };

  /// Initial values drawn with `key`.
  Weights(const program::ResolvedProgram& program, RandomKey key);

  /// All weights; those that the optimiser updates.
  std::span<float> all() { return weights_.floats(); }
  std::span<float> updated() { return all().first(updated_size_); }
  /// Of the trainable ones; those of updated() come first.
  std::span<float> gradients() { return gradients_.floats(); }
  /// Those of the layer at `position` in ResolvedProgram::layers; where that is an earlier layer
  /// called once more, the earlier one's.
  const std::vector<Variable>& of_layer(std::size_t position) const { return layers_[position]; }
  /// Where the variables of updated() lie.
  const std::vector<Extent>& updated_variables() const { return updated_variables_; }

  program::ModelWeights by_layer();  ///< a copy of all, as of_layer() has them
  /// Gives layer i the weights of layer i + `first`; of layer origin[i + first] where a structure
  /// has its layers from there. Precondition: they have the same shapes.
  void assign(const program::ModelWeights& weights, std::size_t first = 0,
              std::span<const std::size_t> origin = {});

  double penalty();              ///< of weight regularisers: l1 sum |w| + l2 sum w^2
  void add_penalty_gradients();  ///< l1 sign(w) + 2 l2 w

  bool all_nan();     ///< every weight is NaN, and some of them are updated
  bool all_finite();  ///< of all weights

 private:
  struct Penalty {
    Variable variable;
    Regularizer regularizer;
  };

  Buffer weights_, gradients_;
  std::size_t updated_size_ = 0;
  std::vector<std::vector<Variable>> layers_;
  std::vector<Extent> updated_variables_;
  std::vector<Penalty> penalties_;
};

}  // namespace neutra::training
