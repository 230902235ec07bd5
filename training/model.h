#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "training/layers/module.h"
#include "training/weights.h"

namespace neutra::training {

/// The layers of a program as LibTorch tensors over its weights. The output activation is kept
/// apart, so that a loss can work on its input.
class Model {
 public:
  /// `weights` outlives the model.
  Model(const program::ResolvedProgram& program, Weights& weights);

  struct Result {
    at::Tensor raw;      ///< input of the output activation
    at::Tensor penalty;  ///< of activity regularisers; undefined without them
    at::Tensor mask;     ///< of the output's steps (rows, steps); undefined: all count
  };
  /// `activations`: gets every layer's output, if given. `nodes`: likewise, but what stands for it
  /// in the graph; undefined where no gradient flows back, and for the layers that give the model's
  /// output.
  Result forward(const at::Tensor& x, const ForwardPass& pass,
                 std::vector<at::Tensor>* activations = nullptr,
                 std::vector<at::Tensor>* nodes = nullptr);
  /// Applies the output activation.
  at::Tensor output(const at::Tensor& raw) const { return activation_ ? activation_(raw) : raw; }
  const std::string& output_activation() const { return activation_name_; }
  /// Does the layer at this position give the model's output?
  bool gives_output(std::size_t position) const { return position + 1 >= output_layer_; }

 private:
  struct Layer {
    std::unique_ptr<Module> module;
    std::vector<std::size_t> inputs;  ///< whose outputs it takes; empty: the model's input
    std::vector<std::size_t> spent;   ///< outputs that no layer behind it takes
    bool merges = false;
    std::vector<at::Tensor> weights;
    Regularizer activity;
    bool masks_output = false;
  };

  /// A value between layers, and the mask of its steps.
  struct Value {
    at::Tensor tensor, mask;
  };
  /// What a layer makes of its inputs, before its activity regulariser looks at it.
  Value run(Layer& layer, std::span<const Value> inputs, const ForwardPass& pass) const;

  std::vector<Layer> layers_;
  std::optional<std::size_t> detached_;  ///< no gradient flows back through this layer's output
  std::vector<bool> reached_;            ///< does a gradient of the loss come to a layer?
  std::size_t output_layer_ =
      0;  ///< the layer that gave its activation away; layers behind it are identities
  std::string activation_name_ = "linear";
  Activation activation_ = nullptr;
};

}  // namespace neutra::training
