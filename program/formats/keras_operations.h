#pragma once

#include <optional>
#include <string>

#include "base/json.h"

namespace neutra::program {

/// An operation on tensors in a functional model of Keras, `a + b` or `1 - x` for example, which is
/// no layer. Sources: TFOpLambda of tf.keras 2.4 to 2.15; keras.ops.numpy of Keras 3.
struct KerasOperation {
  /// "Add", "Concatenate", ...: the merge layer that does it, or "Divide", "Negative". "": none.
  std::string kind;
  Json axis;                       ///< of a concatenation of tf; null: none is given
  std::optional<double> constant;  ///< one of two operands
  bool constant_first = false;     ///< `1 - x`, not `x - 1`
};

/// What an entry of a model's layers is; its operands are in its calls.
KerasOperation operation_of(const Json& layer);

/// Takes a number that a call has in the place of a tensor. false: it is none, or the operation has
/// no such form.
bool take_constant(KerasOperation& operation, const Json& value, bool first);

/// The layer of neutra that does an operation with so many tensors: a merge layer, or a Rescaling
/// for one with a constant. nullopt: none.
std::optional<Json> layer_for(const KerasOperation& operation, const std::string& name,
                              std::size_t tensors);

}  // namespace neutra::program
