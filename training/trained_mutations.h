#pragma once

#include "mutators/model_mutants.h"
#include "program/program.h"
#include "training/weights.h"

namespace neutra::training {

/// What trained.mutations do to a trained model (docs/mutators/index.md, "Trained models"). The
/// same steps do the same to every model of a program: their random numbers depend on their seeds
/// alone.

/// The model's structure as the steps leave it; its program has no steps any more. `resolved`: the
/// program that is trained.
mutators::ModelStructure mutated_structure(const program::Program& program,
                                           const program::ResolvedProgram& resolved);

/// Does the steps on weights, in order, to those of the trained model.
void mutate_weights(const program::ResolvedProgram& program, program::ModelWeights& weights);

/// Each layer's weights in another structure.
program::ModelWeights weights_of(const mutators::ModelStructure& structure,
                                 const program::ModelWeights& weights);

}  // namespace neutra::training
