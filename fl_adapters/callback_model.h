#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fl_adapters/messages.h"
#include "fl_adapters/numpy.h"

/// What DeepLocalize and DeepDiagnosis, two Keras callbacks of the same authors, have in common.
namespace neutra::fl_adapters {

/// A model as the callbacks see it. The published tools read a layer's kind off its name
/// ("dense_1"), so that they don't see an activation inside a Dense layer; the repaired ones go by
/// class and function. An InputLayer isn't among the layers.
struct CallbackModel {
  /// A layer, as the tools count them from 0.
  struct Layer {
    int index = 0;      ///< over config.layers
    std::string title;  ///< for people (LayerTitles)
    std::string name;   ///< as Keras 2.2.4 has it; made of the class where the program gives none
    std::string class_name;
    std::string activation;  ///< the function that the layer ends with; "linear" if there is none
    bool dense = false;      ///< the tool takes it for a Dense layer
    bool flatten = false;    ///< the tool takes it for a Flatten layer
    /// A softmax, or what goes into one: the outputs of the one, the kernel's gradients of the
    /// other always have the same mean.
    bool softmax = false;
  };
  std::vector<Layer> layers;
  bool repaired = false;

  /// The number of the last layer; precondition: there is one.
  std::size_t last() const { return layers.size() - 1; }
  /// How messages tell the layer that the tool counts as `layer`: "2, dense_1", or where its count
  /// is another one "3, dense_1 (the tool's layer 2)". The tools may name one behind the last.
  std::string told(std::size_t layer) const;
  /// What the tool takes for zeros. A mean of 0 may be a sum that cancels.
  bool is_zero(const Mean& mean) const { return repaired ? mean.zeros : mean.value == 0; }

  /// Does the tool want the means of this layer's outputs, kernel and gradients to move?
  bool should_move(std::size_t layer) const { return !repaired || !layers[layer].softmax; }

  /// For each layer the one whose kernel gradient the tool takes for this layer's own; none where
  /// it looks for none. The published tools go through the gradients from the end, two for each
  /// layer that they take for a Dense one: right while no other layer with weights comes after
  /// those.
  std::vector<std::optional<std::size_t>> gradient_sources(
      const std::vector<bool>& has_weights) const;
};
/// Precondition: the program is valid.
CallbackModel callback_model(const program::Program& program, ToolVariant variant);

/// How the published tools fail at a layer with that many weights: they unpack them as kernel and
/// bias. Empty for layers with both or without any.
std::string unpacking_error(std::size_t weights);

/// What a look at a training brings to light. The tools stop it at the first hit.
struct Finding {
  std::vector<ToolMessage> messages;
  std::string failure;  ///< the published tool stops with this error
  /// Does it end the training?
  bool stops() const { return !messages.empty() || !failure.empty(); }
};

/// The message about a batch (DeepDiagnosis's "batch" is the epoch) and perhaps a layer, which take
/// the places of "{batch}" and "{layer}" in its text.
ToolMessage callback_message(const MessageTable& table, const std::string& code, std::int64_t epoch,
                             std::int64_t batch, const CallbackModel& model,
                             std::optional<std::size_t> layer = {});

/// Trains the program with the watcher that `watcher(finding)` makes, which leaves there what it
/// found. The published tools watch a training of Keras 2.2.4, on which they ran, the repaired ones
/// that of the program.
Localisation run_callback(
    const FaultyProgram& faulty, const LocaliseContext& context,
    const std::function<std::unique_ptr<training::Observer>(Finding&)>& watcher);

}  // namespace neutra::fl_adapters
