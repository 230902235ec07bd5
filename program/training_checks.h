#pragma once

#include <vector>

#include "program/shapes.h"

namespace neutra::program {

/// Appends the problems that a program has as a whole: outputs that don't fit the targets in the
/// loss or the metric (as tf.keras 2.4 compares them), class weights, a split that leaves no rows,
/// clipping with embeddings, layers that fit.loop and trained.mutations name. What an earlier
/// problem leaves unknown is not checked.
void check_training(const Inference& known, std::vector<Problem>& problems);

}  // namespace neutra::program
