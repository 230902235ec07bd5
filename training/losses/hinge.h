#pragma once

#include "training/losses/common.h"

namespace neutra::training::losses {
namespace {

/// Targets of 0 and 1 become -1 and 1, if the whole batch is made of them.
template <typename Tensor>
Tensor signed_labels(const Tensor& y) {
  const Tensor dense = y.contiguous();
  const float* values = dense.template data_ptr<float>();
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    if (values[i] != 0 && values[i] != 1) return y;
  }
  return 2 * y - 1;
}

/// The same, as what takes a target to its label: scale * target - shift.
template <typename K>
struct Labels {
  using T = typename K::T;
  T scale = 1, shift = 0;

  /// Targets as they are.
  Labels() = default;
  /// Of a batch.
  explicit Labels(const LossInput<K>& rows) {
    for (std::size_t f = 0; f < rows.features; ++f) {
      for (std::size_t b = 0; b < rows.rows; ++b) {
        const T value = rows.y[f * rows.stride + b];
        if (value != 0 && value != 1) return;
      }
    }
    scale = 2;
    shift = 1;
  }
};

/// Mean of max(1 - y o, 0), where labels of 0 and 1 stand for -1 and 1.
struct Hinge {
  static constexpr LossFunction kFunction = LossFunction::kHinge;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return positive_part(1 - signed_labels(y) * o).mean(-1);
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    Labels<K> labels;
    NEUTRA_INLINE V value(V o, V t) const {
      const V margin = 1 - (labels.scale * t - labels.shift) * o;
      return margin < 0 ? K::zero() : margin;
    }
    NEUTRA_INLINE V slope(V o, V t) const {
      const V label = labels.scale * t - labels.shift;
      return -label * (1 - label * o >= 0 ? K::all(1) : K::zero());
    }
  };
};

/// Keras 2.2.4's: labels as they are.
struct HingeOfLabels {
  static constexpr LossFunction kFunction = LossFunction::kHingeOfLabels;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return positive_part(1 - y * o).mean(-1);
  }

  template <typename K>
  using Element = Hinge::Element<K>;
};

}  // namespace
}  // namespace neutra::training::losses
