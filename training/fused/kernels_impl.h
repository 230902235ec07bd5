#pragma once

/// The kernels themselves, for scalars T in vectors of W lanes. Included by one file for each
/// instruction set (compiled with its flags) and, for double, by the tests.

#include "training/fused/kernels.h"
#include "training/fused/kernels/activations.h"
#include "training/fused/kernels/batch_normalization.h"
#include "training/fused/kernels/dropout.h"
#include "training/fused/kernels/losses.h"
#include "training/fused/kernels/moves.h"
#include "training/fused/kernels/products.h"

namespace neutra::training::fused {
namespace {

template <typename T, int W>
struct KernelsOf : Activations<T, W>,
                   BatchNormalization<T, W>,
                   Dropout<T, W>,
                   Losses<T, W>,
                   Moves<T, W>,
                   Products<T, W> {
  static constexpr KernelTable<T> table() {
    using K = KernelsOf;
    return {W,
            K::product,
            K::outer,
            K::sum_rows,
            K::row_sums,
            K::gather,
            K::to_rows,
            K::from_rows,
            K::activate,
            K::differentiate,
            K::softmax,
            K::differentiate_softmax,
            K::loss,
            K::dropout,
            K::multiply,
            K::normalise,
            K::apply_scale,
            K::differentiate_normalise};
  }
};

}  // namespace
}  // namespace neutra::training::fused
