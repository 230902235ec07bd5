#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "program/layer_list.h"
#include "program/program.h"
#include "training/activations.h"
#include "training/random.h"
#include "training/torch.h"

namespace neutra::training {

/// What holds for one forward pass through all layers.
struct ForwardPass {
  bool training = false;
  RandomKey key;
  std::uint32_t step = 0;  ///< optimiser step: dropout masks depend on it
  /// Gets the rows of its table that each Embedding looks up, by ResolvedLayer::index.
  std::map<int, std::vector<std::int64_t>>* looked_up = nullptr;
  /// The steps of the layer's input that count, (rows, steps), of booleans; undefined: all.
  at::Tensor mask = {};
};

/// What a layer computes in the eager back end; autograd differentiates it. One file of
/// training/layers/ each, or several that belong together.
class Module {
 public:
  virtual ~Module() = default;
  /// `weights`: the layer's, in the order of ResolvedLayer::weights. Statistics among them may be
  /// updated in place.
  virtual at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                             const ForwardPass& pass) const = 0;
  /// What a kMerge layer makes of several inputs; of `masks` of their steps, undefined where all
  /// count, at least one defined.
  virtual at::Tensor merge(std::span<const at::Tensor> inputs) const { return inputs.front(); }
  virtual at::Tensor merge_masks(std::span<const at::Tensor> masks) const { return masks.front(); }
  /// Gives the activation at the layer's end away: forward() then returns what it would be applied
  /// to, so that a loss can work on logits.
  /// Returns the activation's name; "" where the layer doesn't end in one.
  virtual std::string take_activation() { return ""; }
  /// Does forward() return its input, so that the layer before makes the output?
  virtual bool is_identity() const { return false; }
  /// The mask of the output, for layers that make one of their input.
  virtual at::Tensor make_mask(const at::Tensor&) const { return {}; }
};

/// The module of a layer, whose class is one of program/layer_list.h.
std::unique_ptr<Module> make_module(const program::ResolvedLayer& layer);
/// For a layer over sequences (steps, channels): `images` makes the module of the one over images.
std::unique_ptr<Module> over_sequences(
    const program::ResolvedLayer& layer,
    std::unique_ptr<Module> (*images)(const program::ResolvedLayer&));

/// Makers, one for each class: each is defined in training/layers/.
namespace module {
#define NEUTRA_DECLARE(name) std::unique_ptr<Module> name(const program::ResolvedLayer&);
NEUTRA_LAYERS(NEUTRA_DECLARE)
#undef NEUTRA_DECLARE
}  // namespace module

}  // namespace neutra::training
