#pragma once

#include <string>
#include <vector>

#include "program/layer.h"

/// Fields, weights and rules that several layers have in common.
namespace neutra::program {

/// "activation", linear by default.
Field activation_field();
/// An initialiser whose default is the word `fallback`.
Field initializer_field(const std::string& name, const std::string& fallback);
/// A regulariser, none by default.
Field regularizer_field(const std::string& name);
/// A constraint, none by default.
Field constraint_field(const std::string& name);
/// "data_format": other orders than channels last are refused.
Field channels_last_field();
/// Appends initialisers, regularisers and constraints of the kernels ("kernel_initializer") and the
/// bias, use_bias and activation.
std::vector<Field> with_kernel_fields(std::vector<Field> fields,
                                      const std::vector<std::string>& kernels = {"kernel"});
/// kernel of `kernel` extents and, if used, a bias of its last extent.
std::vector<Weight> kernel_weights(const Json& config, Shape kernel);
/// Refuses an input for its rank. `allowed`: what the layer takes, "(steps, channels)".
Refusal wrong_rank(const Shape& input, const std::string& allowed);
/// Layer::output_shape of a layer that keeps the shape and whose `axis` must be the last one.
std::variant<Shape, Refusal> along_last_axis(const Json& config, const Shape& input);
/// Layer::output_shape of a layer that takes any input and keeps its shape.
std::variant<Shape, Refusal> same_shape(const Json& config, const Shape& input);
/// Layer::masks_output of a layer that hands the mask on.
bool keep_mask(const Json& config, bool masked);

}  // namespace neutra::program
