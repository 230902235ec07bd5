#pragma once

#include <vector>

#include "program/shapes.h"

namespace neutra::program {

/// Appends the problems that a program has as a whole: targets that the output's shape or values
/// don't fit in the loss or the metric (as tf.keras 2.4 compares them), class weights, a split that
/// leaves no rows, clipping with embeddings, layers that the loop and steps on the trained model
/// name. What a problem before makes unknown is not looked at.
void check_training(const Inference& known, std::vector<Problem>& problems);

}  // namespace neutra::program
