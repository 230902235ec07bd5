#pragma once

#include "mutators/model_mutants.h"
#include "program/program.h"
#include "training/weights.h"

namespace neutra {

/// What trained.mutations do to a trained model (docs/mutators/index.md, "Trained models"). The
/// same steps do the same to every model of a program: their random numbers depend on their seeds
/// alone.

/// The model's structure as the steps leave it; its program has no steps any more. `resolved`: the
/// program that is trained.
ModelStructure mutated_structure(const Program& program, const ResolvedProgram& resolved);

/// Does the steps on weights, in order, to those of the trained model.
void mutate_weights(const ResolvedProgram& program, ModelWeights& weights);

/// Each layer's weights in another structure.
ModelWeights weights_of(const ModelStructure& structure, const ModelWeights& weights);

}  // namespace neutra
