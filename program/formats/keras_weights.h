#pragma once

#include "program/formats/keras_arrays.h"
#include "program/model_weights.h"
#include "program/program.h"

namespace neutra::program {

/// The weights for a program's layers in the arrays of `model`'s file, matched by order as Keras
/// does. `structure`: the model that says where they lie, `model` itself or another. See
/// KerasModelFile::weights().
ModelWeights keras_weights(const KerasArrays& arrays, const KerasModel& model,
                           const KerasModel& structure, const ResolvedProgram& program);

}  // namespace neutra::program
