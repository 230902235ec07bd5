#pragma once

#include <memory>
#include <optional>
#include <string>

#include "training/engine.h"

namespace neutra::training {

/// Why the fused back end doesn't train the program on targets of that shape; nullopt: it does.
std::optional<std::string> fused_refusal(const program::ResolvedProgram& program,
                                         const Rows& training);

/// A program as a compiled plan: a flat list of steps over one block of memory, with hand-written
/// gradients (docs/methods/fused_training.md). Precondition: no fused_refusal().
std::unique_ptr<Engine> make_fused_engine(const program::ResolvedProgram& program,
                                          const Rows& training, RandomKey key);

/// Bytes of its memory: weights, gradients, optimiser states and the plan's block.
std::uint64_t fused_bytes(const program::ResolvedProgram& program, const Rows& training);

/// What its results depend on besides the program.
std::string fused_fingerprint();

}  // namespace neutra::training
