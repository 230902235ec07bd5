#pragma once

#include <cstdint>
#include <memory>

#include "training/engine.h"

namespace neutra::training {

/// The reference back end: LibTorch tensors and autograd. Knows every layer.
std::unique_ptr<Engine> make_eager_engine(const program::ResolvedProgram& program,
                                          const Rows& training, RandomKey key);

/// About what it needs: weights, gradients and optimiser states; outputs of a batch with their
/// gradients and what autograd keeps; an evaluation; work space of convolutions.
std::uint64_t eager_bytes(const program::ResolvedProgram& program, const Rows& training);

/// Rows evaluated at once: many, within 64 MiB of outputs. A function of the program alone, since
/// the rounding of a product may depend on its size.
std::int64_t eager_evaluation_rows(const program::ResolvedProgram& program);

}  // namespace neutra::training
