#pragma once

#include <string>
#include <vector>

#include "program/model_weights.h"
#include "program/program.h"

namespace neutra::program {

/// How Keras spells a model in the JSON of a model file.
enum class KerasSpelling {
  kLegacy,  ///< .h5: the first layer declares the input, objects are {class_name, config}
  kModern   ///< .keras: the model declares the input, objects name their module
};

/// The model as Keras stores it, settings that are Keras's defaults left out: so all versions read
/// it. `input`: extents of one row. Layers get Keras's own names, "dense", "dense_1", ...
/// Precondition: the program is valid.
Json keras_model_config(const Program& program, const Shape& input, KerasSpelling spelling);

/// Writes the bounds of each FanInUniform of a document into it, since Keras has no such
/// initialiser. `input`: extents of one row, {} where they are unknown. Throws input_error where
/// the layers' shapes are.
void write_initializers(Json& document, const Program& program, const Shape& input);

/// A variable of a layer as Keras has it: of two biases their sum.
struct KerasVariable {
  Shape shape;
  std::vector<float> values;
};
KerasVariable keras_variable(const ResolvedLayer& layer, std::size_t k,
                             const std::vector<float>& values);

/// The arguments `mean` and `variance` of a Normalization, in arrays of the shape that Keras wants.
/// `weights`: where they are the layer's variables, these; nullptr: such are left out.
void spell_statistics(Json& config, const ResolvedLayer& layer,
                      const std::vector<std::vector<float>>* weights);
/// The same for all layers of keras_model_config(), so that no statistics are variables in a file.
void spell_statistics(Json& model, const ResolvedProgram& resolved, const ModelWeights& weights);

/// What the model was compiled with: `training_config` (legacy) or `compile_config` (modern).
Json keras_compile_config(const Program& program, KerasSpelling spelling);

/// The settings of an optimiser without bounds of 0: a program clips nothing then, tf.keras up to
/// 2.10 would clip all gradients to nothing.
Json without_zero_clipping(Json optimizer_config);

/// The class of a loss: "binary_crossentropy" -> "BinaryCrossentropy".
std::string keras_loss_class(const std::string& word);

}  // namespace neutra::program
