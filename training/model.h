#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "training/layers/module.h"
#include "training/observer.h"
#include "training/variables.h"

namespace neutra {

/// The layers of a program with their weights on two flat buffers (weights, gradients), each
/// variable at a multiple of 64 bytes. The output activation is kept apart, so that a loss can work
/// on its input.
class Model {
 public:
  Model(const ResolvedProgram& program, RandomKey key);

  struct Result {
    at::Tensor raw;      ///< input of the output activation
    at::Tensor penalty;  ///< of activity regularisers; undefined without them
  };
  /// `activations`: gets every layer's output, if given.
  Result forward(const at::Tensor& x, const Pass& pass,
                 std::vector<at::Tensor>* activations = nullptr);
  /// Applies the output activation.
  at::Tensor output(const at::Tensor& raw) const { return activation_ ? activation_(raw) : raw; }
  const std::string& output_activation() const { return activation_name_; }

  std::span<float> trainable() { return floats(weights_).first(trainable_size_); }
  std::span<float> gradients() { return floats(gradients_); }
  std::span<float> weights() { return floats(weights_); }  ///< trainable ones first
  const std::vector<Extent>& trainable_variables() const { return trainable_variables_; }

  bool has_penalty() const { return !penalties_.empty(); }
  double penalty();              ///< of weight regularisers: l1 sum |w| + l2 sum w^2
  void add_penalty_gradients();  ///< l1 sign(w) + 2 l2 w

  bool all_nan();     ///< every trainable weight is NaN (and there are some)
  bool all_finite();  ///< of all weights

  /// For observers; `activations` may be empty.
  std::vector<LayerView> views(const std::vector<at::Tensor>& activations, bool with_gradients);

 private:
  struct Penalty {
    float l1 = 0, l2 = 0;
  };
  struct Layer {
    int index = 0;
    std::string class_name;
    std::unique_ptr<Module> module;
    std::vector<at::Tensor> weights;
    std::vector<Extent> extents;
    std::vector<bool> trainable;
    Penalty activity;
  };
  static Penalty read_penalty(const Json& config, const std::string& field);
  static std::span<float> floats(const at::Tensor& t) {
    return {t.data_ptr<float>(), static_cast<std::size_t>(t.numel())};
  }

  std::vector<Layer> layers_;
  std::size_t output_layer_ =
      0;  ///< the layer that gave its activation away; layers behind it are identities
  std::string activation_name_ = "linear";
  Activation activation_ = nullptr;
  at::Tensor weights_, gradients_;
  std::size_t trainable_size_ = 0;
  std::vector<Extent> trainable_variables_, other_variables_;
  std::vector<std::pair<Extent, Penalty>> penalties_;
};

}  // namespace neutra
