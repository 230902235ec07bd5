#pragma once

#include <string>

#include "program/model_weights.h"
#include "program/program.h"

namespace neutra::program {

/// The bytes of a .keras file: model, what it was compiled with, weights. Keras 3 and tf.keras 2.13
/// to 2.15 read it with load_model. Layout: keras/saving/saving_lib.py.
/// Precondition: the program is valid; `resolved` is its typed form with all shapes, `weights` fit
/// it.
std::string keras_file(const Program& program, const ResolvedProgram& resolved,
                       const ModelWeights& weights);

}  // namespace neutra::program
