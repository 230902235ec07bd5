#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/program.h"
#include "training/activations.h"
#include "training/random.h"
#include "training/torch.h"

namespace neutra::training {

/// One forward pass.
struct Pass {
  bool training = false;
  RandomKey key;
  std::uint32_t step = 0;  ///< optimiser step: dropout masks depend on it
  /// Gets the rows of its table that each Embedding looks up, by ResolvedLayer::index.
  std::map<int, std::vector<std::int64_t>>* looked_up = nullptr;
  /// The steps of the layer's input that count, (rows, steps), of booleans; undefined: all.
  at::Tensor mask = {};
};

/// What a layer computes in the eager back end; autograd differentiates it. One file of
/// training/layers/ each (or several that belong together), and one line of the registry.
class Module {
 public:
  virtual ~Module() = default;
  /// `weights`: the layer's, in the order of ResolvedLayer::weights. Statistics among them may be
  /// updated in place.
  virtual at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                             const Pass& pass) const = 0;
  /// Gives the activation at the layer's end away: forward() then returns what it would be applied
  /// to. Returns its name;
  /// "" where the layer doesn't end in one. A loss can then work on logits.
  virtual std::string take_activation() { return ""; }
  /// Does forward() return its input, so that the layer before makes the output?
  virtual bool is_identity() const { return false; }
  /// The mask of the output, for layers that make one of their input.
  virtual at::Tensor make_mask(const at::Tensor&) const { return {}; }
};

/// Every class of program/layer.h has one.
std::unique_ptr<Module> make_module(const program::ResolvedLayer& layer);
std::vector<std::string> module_names();
/// For a layer over sequences (steps, channels): `images` makes the module of the one over images.
std::unique_ptr<Module> over_sequences(
    const program::ResolvedLayer& layer,
    std::unique_ptr<Module> (*images)(const program::ResolvedLayer&));

/// Makers, one for each class; the registry lists them.
namespace module {
std::unique_ptr<Module> activation(const program::ResolvedLayer&);
std::unique_ptr<Module> average_pooling_1d(const program::ResolvedLayer&);
std::unique_ptr<Module> average_pooling_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> batch_normalization(const program::ResolvedLayer&);
std::unique_ptr<Module> bidirectional(const program::ResolvedLayer&);
std::unique_ptr<Module> conv_1d(const program::ResolvedLayer&);
std::unique_ptr<Module> conv_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> conv_2d_transpose(const program::ResolvedLayer&);
std::unique_ptr<Module> dense(const program::ResolvedLayer&);
std::unique_ptr<Module> depthwise_conv_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> dropout(const program::ResolvedLayer&);
std::unique_ptr<Module> elu(const program::ResolvedLayer&);
std::unique_ptr<Module> embedding(const program::ResolvedLayer&);
std::unique_ptr<Module> flatten(const program::ResolvedLayer&);
std::unique_ptr<Module> gaussian_dropout(const program::ResolvedLayer&);
std::unique_ptr<Module> gaussian_noise(const program::ResolvedLayer&);
std::unique_ptr<Module> global_average_pooling_1d(const program::ResolvedLayer&);
std::unique_ptr<Module> global_average_pooling_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> global_max_pooling_1d(const program::ResolvedLayer&);
std::unique_ptr<Module> global_max_pooling_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> gru(const program::ResolvedLayer&);
std::unique_ptr<Module> input_layer(const program::ResolvedLayer&);
std::unique_ptr<Module> layer_normalization(const program::ResolvedLayer&);
std::unique_ptr<Module> leaky_relu(const program::ResolvedLayer&);
std::unique_ptr<Module> lstm(const program::ResolvedLayer&);
std::unique_ptr<Module> masking(const program::ResolvedLayer&);
std::unique_ptr<Module> max_pooling_1d(const program::ResolvedLayer&);
std::unique_ptr<Module> max_pooling_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> normalization(const program::ResolvedLayer&);
std::unique_ptr<Module> prelu(const program::ResolvedLayer&);
std::unique_ptr<Module> permute(const program::ResolvedLayer&);
std::unique_ptr<Module> relu(const program::ResolvedLayer&);
std::unique_ptr<Module> repeat_vector(const program::ResolvedLayer&);
std::unique_ptr<Module> rescaling(const program::ResolvedLayer&);
std::unique_ptr<Module> reshape(const program::ResolvedLayer&);
std::unique_ptr<Module> separable_conv_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> simple_rnn(const program::ResolvedLayer&);
std::unique_ptr<Module> softmax(const program::ResolvedLayer&);
std::unique_ptr<Module> spatial_dropout_1d(const program::ResolvedLayer&);
std::unique_ptr<Module> spatial_dropout_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> time_distributed(const program::ResolvedLayer&);
std::unique_ptr<Module> up_sampling_2d(const program::ResolvedLayer&);
std::unique_ptr<Module> zero_padding_2d(const program::ResolvedLayer&);
}  // namespace module

}  // namespace neutra::training
