#pragma once

#include "training/losses/hinge.h"

namespace neutra::training::losses {
namespace {

/// Mean of max(1 - y o, 0)^2, where labels of 0 and 1 stand for -1 and 1.
struct SquaredHinge {
  static constexpr LossFunction kFunction = LossFunction::kSquaredHinge;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return square(positive_part(1 - signed_labels(y) * o)).mean(-1);
  }

  template <typename K>
  struct Element {
    using V = typename K::V;
    Labels<K> labels;
    NEUTRA_INLINE V value(V o, V t) const {
      const V margin = 1 - (labels.scale * t - labels.shift) * o;
      return margin < 0 ? K::zero() : margin * margin;
    }
    NEUTRA_INLINE V slope(V o, V t) const {
      const V label = labels.scale * t - labels.shift, margin = 1 - label * o;
      return margin >= 0 ? -2 * label * margin : K::zero();
    }
  };
};

/// Keras 2.2.4's: labels as they are.
struct SquaredHingeOfLabels {
  static constexpr LossFunction kFunction = LossFunction::kSquaredHingeOfLabels;

  template <typename Tensor>
  static Tensor values(const Tensor& o, const Tensor& y) {
    return square(positive_part(1 - y * o)).mean(-1);
  }

  template <typename K>
  using Element = SquaredHinge::Element<K>;
};

}  // namespace
}  // namespace neutra::training::losses
