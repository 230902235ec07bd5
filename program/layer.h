#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "program/program.h"
#include "program/vocabulary.h"

namespace neutra::program {

/// Weights and rows stay below this number of elements, so that 32-bit indices reach all of them.
constexpr std::int64_t kMaxElements = (std::int64_t{1} << 31) - 1;

/// Product of the extents, at most kMaxElements + 1 (saturating). Extents are not negative.
std::int64_t element_count(const Shape& shape);

/// Why a layer cannot take an input. `field`: the field of its config to blame, "" for the layer.
struct Refusal {
  std::string field;
  std::string found;
  std::string allowed;
};

/// A layer class: one file under program/layers/ each.
struct Layer {
  std::string class_name;
  std::vector<std::string> aliases;
  std::vector<Field> fields;  ///< of the config, besides those that all layers have
  /// Output shape for an input of rank 0 or more (without the batch). `config` is in normal form.
  std::variant<Shape, Refusal> (*output_shape)(const Json& config, const Shape& input) = nullptr;
  /// Weights in Keras's order; nullptr: none. Called for inputs that output_shape accepts.
  std::vector<Weight> (*weights)(const Json& config, const Shape& input) = nullptr;
  bool recurrent = false;  ///< goes through steps: its activation isn't what it ends with
  /// Has the layer's output a mask of steps (docs/methods/training.md, "Masks")? `masked`: its
  /// input has one. nullptr: no, whatever the input.
  bool (*masks_output)(const Json& config, bool masked) = nullptr;
  /// Does the output depend on the input's mask?
  bool uses_mask = false;
  /// Why the layer cannot take an input with a mask; nullptr: it can.
  std::optional<Refusal> (*refuse_mask)(const Json& config) = nullptr;
};

/// All layer classes, sorted by name.
const std::vector<const Layer*>& layers();
/// By class name or alias; nullptr for an unknown class.
const Layer* find_layer(std::string_view class_name);
/// Dropout, SpatialDropout1D, SpatialDropout2D or GaussianDropout? They have a `rate`.
bool is_dropout(std::string_view class_name);

// What several layers share.

Field activation_field();
Field initializer_field(const std::string& name, const std::string& fallback);
Field regularizer_field(const std::string& name);
Field constraint_field(const std::string& name);
Field channels_last_field();
/// The config's field for a weight's constraint: "kernel_constraint" beside "kernel_initializer".
std::string constraint_name(const Weight& weight);
/// What it holds; null where there is none.
Json constraint_of(const Json& config, const Weight& weight);
/// Appends initialisers, regularisers and constraints of the kernels ("kernel_initializer") and the
/// bias, use_bias and activation.
std::vector<Field> with_kernel_fields(std::vector<Field> fields,
                                      const std::vector<std::string>& kernels = {"kernel"});
/// kernel of `kernel` extents and, if used, a bias of its last extent.
std::vector<Weight> kernel_weights(const Json& config, Shape kernel);
Refusal wrong_rank(const Shape& input, const std::string& allowed);
/// The input's shape for a layer whose `axis` must be the last one.
std::variant<Shape, Refusal> along_last_axis(const Json& config, const Shape& input);
/// Layer::masks_output of a layer that hands the mask on.
bool keep_mask(const Json& config, bool masked);

/// The layers that a wrapper (TimeDistributed, Bidirectional) runs, each with its own shapes and
/// variables and the wrapper's index: Bidirectional has two, the second is the backward one. Empty
/// for other layers.
std::vector<ResolvedLayer> wrapped_layers(const ResolvedLayer& layer);
/// Does it, or a layer that it wraps, at any depth, compute something else in training than
/// afterwards: dropout, noise, statistics of the batch?
bool has_training_mode(const ResolvedLayer& layer);
/// Where in a layer's config the settings of a variable are: "" or, in wrappers, the path of the
/// wrapped layer's config ("/layer/config").
std::string settings_path(const Json& config, const Weight& weight);
/// The config there: it has the variable's initialiser and regulariser.
const Json& variable_settings(const Json& config, const Weight& weight);
/// For each layer, and at the end for the model's output: has it a mask?
std::vector<bool> masked_inputs(const std::vector<ResolvedLayer>& layers);

}  // namespace neutra::program
