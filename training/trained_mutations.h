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

/// Applies the steps that change weights to those of the trained model, in order.
void mutate_weights(const program::ResolvedProgram& program, program::ModelWeights& weights);

/// The weights that each layer of the structure has, taken from the trained model's.
program::ModelWeights weights_of(const mutators::ModelStructure& structure,
                                 const program::ModelWeights& weights);

}  // namespace neutra::training
