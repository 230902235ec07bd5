#pragma once

#include <string>

#include "program/model_weights.h"
#include "program/program.h"

namespace neutra::program {

/// The bytes of a Keras .h5 file: model, what it was compiled with, weights. Keras 2 and tf.keras
/// up to 2.15 read it with load_model. Layout: keras/saving/hdf5_format.py.
/// Precondition: the program is valid; `resolved` is its typed form with all shapes, `weights` fit
/// it.
std::string keras_h5(const Program& program, const ResolvedProgram& resolved,
                     const ModelWeights& weights);

}  // namespace neutra::program
