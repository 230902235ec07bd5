#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "program/program.h"
#include "program/vocabulary.h"

namespace neutra::program {

/// Weights and rows stay below this number of elements, so that 32-bit indices reach all of them.
constexpr std::int64_t kMaxElements = (std::int64_t{1} << 31) - 1;

/// How many elements an array of this shape has, at most kMaxElements + 1 (saturating): exact for
/// outputs and weights of programs that have no problems. Extents are not negative.
std::int64_t element_count(const Shape& shape);

/// Why a layer cannot take an input.
struct Refusal {
  std::string field;    ///< of its config, which is to blame; "": the layer itself
  std::string found;    ///< as a message shows it
  std::string allowed;  ///< what it would take instead
};

/// What a layer does with its input. Code that treats layers alike asks for this, or for another
/// property of Layer, not for the name of a class.
enum class LayerKind {
  kInput,          ///< declares the model's input and computes nothing
  kDense,          ///< a matrix product along the last axis
  kConvolution,    ///< slides a kernel over an image or a sequence
  kRecurrent,      ///< goes through the steps of a sequence; its activation isn't what it ends with
  kEmbedding,      ///< looks up rows of a table by index: no gradient goes back through it
  kPooling,        ///< one number for each window, or for the whole input
  kNormalization,  ///< by statistics of the input, with trainable scale and offset
  kScaling,        ///< by numbers that training does not change
  kActivation,     ///< an activation function alone
  kDropout,        ///< drops or scales values at random in training; has a `rate`
  kNoise,          ///< adds random numbers in training
  kReshape,        ///< the same values in the same order, in another shape
  kRearrange,      ///< repeats, pads or reorders values
  kMasking,        ///< marks the steps that do not count
  kMerge,          ///< makes one value of several layers' outputs
  kWrapper         ///< runs another layer, its field "layer"
};

/// A layer class: all that distinguishes it. One function in program/layers/ defines it;
/// program/layer_list.h lists it. Functions get a `config` in normal form.
struct Layer {
  std::string class_name;            ///< Keras's: "Dense"
  LayerKind kind;                    ///< what it does
  std::vector<std::string> aliases;  ///< names in other Keras versions
  std::vector<Field> fields;         ///< of the config, besides those that all layers have
  /// Output shape for an input of any rank (without the batch), or why the layer refuses it.
  std::variant<Shape, Refusal> (*output_shape)(const Json& config, const Shape& input) = nullptr;
  /// The same for a kMerge layer, which has no `output_shape`: of two inputs or more. `masked`:
  /// which of them have a mask of steps.
  std::variant<Shape, Refusal> (*merged_shape)(const Json& config, const std::vector<Shape>& inputs,
                                               const std::vector<bool>& masked) = nullptr;
  /// Does a kMerge layer take just two?
  bool two_inputs = false;
  /// Weights in Keras's order; nullptr: none. Called for inputs that output_shape accepts.
  std::vector<Weight> (*weights)(const Json& config, const Shape& input) = nullptr;
  /// Has the layer's output a mask of steps (docs/methods/training.md, "Masks")? `masked`: its
  /// input has one. nullptr: no, whatever the input.
  bool (*masks_output)(const Json& config, bool masked) = nullptr;
  /// Does the output depend on the input's mask?
  bool uses_mask = false;
  /// Why the layer cannot take an input with a mask; nullptr: it can.
  std::optional<Refusal> (*refuse_mask)(const Json& config) = nullptr;
  /// Of a kActivation layer without settings, its function: "softmax"; "" for others.
  std::string activation = {};
  /// Does training move its statistics of the batch, unless the layer is frozen?
  bool updates_statistics = false;
  /// Are its statistics taken from the data before training? Model files hold them as settings.
  bool adapts_to_data = false;
  /// Is its kernel (..., outputs, inputs), where others have (..., inputs, outputs)?
  bool transposed_kernel = false;
  /// Is it a convolution by channel (variable 0) and behind that one over single cells (the
  /// others)?
  bool separable = false;
  /// Do mutations of the trained model change its kernel, (..., inputs, neurons or filters)?
  bool kernel_mutates = false;
  /// Does it run the layer that it wraps on each step alone?
  bool wraps_steps = false;
  /// Takes settings that say the same as others out of a config, which may have problems, after
  /// its fields have their normal form. nullptr: nothing to do.
  void (*simplify)(Json& config, Defaults defaults) = nullptr;
};

/// All layer classes, in the order of program/layer_list.h: sorted by name.
const std::vector<const Layer*>& layers();
/// By class name or alias; nullptr for an unknown class.
const Layer* find_layer(std::string_view class_name);
/// The class of a layer of a document, {class_name, config}, which may have problems; nullptr for
/// an unknown class, or none.
const Layer* layer_of(const Json& layer);
/// What a layer of a resolved program does.
LayerKind kind_of(const ResolvedLayer& layer);
/// Does the layer return its input as it is: an input layer or a linear activation?
bool is_identity(const ResolvedLayer& layer);
/// The activation function in the layer's config, or that the layer itself is (Softmax): "linear",
/// "relu", ...; "" for layers without one. For recurrent layers, the one applied at each step.
std::string last_activation(const ResolvedLayer& layer);

/// The config's field for a weight's constraint: "kernel_constraint" beside "kernel_initializer".
std::string constraint_name(const Weight& weight);
/// The constraint of a weight, {class_name, config}; null where there is none.
Json constraint_of(const Json& config, const Weight& weight);

/// The layers that a wrapper (TimeDistributed, Bidirectional) runs, each with its own shapes and
/// variables and the wrapper's index: Bidirectional has two, the second is the backward one. Empty
/// for other layers.
std::vector<ResolvedLayer> wrapped_layers(const ResolvedLayer& layer);
/// Does the layer, or one that it wraps, at any depth, compute something else in training than
/// afterwards: dropout, noise, statistics of the batch?
bool has_training_mode(const ResolvedLayer& layer);
/// JSON pointer within a layer's config to the settings of a variable: "" or, in wrappers, to the
/// wrapped layer's config ("/layer/config").
std::string settings_path(const Json& config, const Weight& weight);
/// The config there: it has the variable's initialiser and regulariser.
const Json& variable_settings(const Json& config, const Weight& weight);
/// For each layer: has its output a mask?
std::vector<bool> masked_outputs(const std::vector<ResolvedLayer>& layers);
/// Has any of a layer's inputs one? `masked`: which layers' outputs have one.
bool takes_mask(const ResolvedLayer& layer, const std::vector<bool>& masked);

}  // namespace neutra::program
