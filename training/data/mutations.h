#pragma once

#include "base/json.h"
#include "training/data/array.h"
#include "training/data/table.h"

namespace neutra::training {

/// Steps of `data.mutations` (docs/formats/data.md), on the training rows as a program gets them.
/// Throws input_error with the step's place: an unknown operation or field, rows that it can't work
/// on, none left.
void mutate(const Json& steps, Part& train);

/// Is a class of these targets (of a regression: one of the buckets of
/// docs/mutators/delete_training_data.md) smaller than the mean of all? Where targets are NaN this
/// isn't known and the answer is true: loading says more.
bool has_small_class(const Array& targets, bool regression);

}  // namespace neutra::training
