#pragma once

#include <span>
#include <string>
#include <vector>

#include "program/program.h"
#include "training/random.h"

namespace neutra::training {

/// Fills a variable of `shape` as the Keras initialiser {class_name, config} does (tf.keras 2.4,
/// init_ops_v2). Throws input_error where Keras would refuse (identity or orthogonal for a vector).
void initialize(const Json& initializer, const program::Shape& shape, const RandomStream& stream,
                std::span<float> values);

/// Canonical class names that initialize() knows.
std::vector<std::string> initializer_names();

/// Fans of a variable: vector n: n and n; matrix: rows and columns; kernels: channels times
/// receptive field.
struct Fans {
  double in = 1, out = 1;
};
Fans compute_fans(const program::Shape& shape);

}  // namespace neutra::training
