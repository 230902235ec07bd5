#pragma once

#include "training/fused/kernels/simd.h"
#include "training/losses/binary_crossentropy.h"
#include "training/losses/categorical_crossentropy.h"
#include "training/losses/categorical_hinge.h"
#include "training/losses/cosine_similarity.h"
#include "training/losses/hinge.h"
#include "training/losses/huber.h"
#include "training/losses/kullback_leibler_divergence.h"
#include "training/losses/logcosh.h"
#include "training/losses/mean_absolute_error.h"
#include "training/losses/mean_absolute_percentage_error.h"
#include "training/losses/mean_squared_error.h"
#include "training/losses/mean_squared_logarithmic_error.h"
#include "training/losses/poisson.h"
#include "training/losses/sparse_categorical_crossentropy.h"
#include "training/losses/squared_hinge.h"

namespace neutra::training::fused {
namespace {

/// The losses of training/losses/ over the rows of a batch.
template <typename T, int W>
struct Losses {
  using K = Simd<T, W>;
  using V = typename K::V;
  using Input = losses::LossInput<K>;

  /// Losses that are a mean over features.
  template <typename Element>
  static NEUTRA_INLINE double pointwise(const Input& r, Lanes lanes, Element element) {
    const T share = T(1) / static_cast<T>(lanes.rows * r.features);
    if (r.dx) {
      for (std::size_t i = 0; i < r.features * lanes.stride; i += W) {
        K::store(r.dx + i, element.slope(K::load(r.x + i), K::load(r.y + i)) * share);
      }
    }
    double total = 0;
    if (r.with_value) {
      for (std::size_t v = 0; v < K::vectors(lanes); ++v) {
        V sum = K::zero();
        for (std::size_t f = 0; f < r.features; ++f) {
          sum += element.value(r.output(f, v * W), r.target(f, v * W));
        }
        total += K::horizontal_double(K::masked(sum, K::valid(lanes, v)));
      }
    }
    return total / static_cast<double>(r.features);
  }

  /// Losses that look at a whole row.
  template <typename Row>
  static NEUTRA_INLINE double by_row(const Input& r, Lanes lanes) {
    double total = 0;
    for (std::size_t v = 0; v < K::vectors(lanes); ++v) {
      const V value = Row::row(r, v * W);
      if (r.with_value) total += K::horizontal_double(K::masked(value, K::valid(lanes, v)));
    }
    return total;
  }

  template <typename Loss>
  static NEUTRA_INLINE double of(const Input& r, Lanes lanes) {
    if constexpr (losses::kPointwise<Loss>) {
      return pointwise(r, lanes, typename Loss::template Element<K>{});
    } else {
      return by_row<typename Loss::template Row<K>>(r, lanes);
    }
  }

  static double loss(LossFunction function, std::size_t features, const T* x, const T* y, T* dx,
                     bool with_value, Lanes lanes) {
    using namespace losses;
    const T share = T(1) / static_cast<T>(lanes.rows);
    const Input r{features, lanes.stride, lanes.rows, x, y, dx, with_value, share};
    switch (function) {
      case LossFunction::kMeanSquared:
        return of<MeanSquaredError>(r, lanes);
      case LossFunction::kMeanAbsolute:
        return of<MeanAbsoluteError>(r, lanes);
      case LossFunction::kMeanAbsolutePercentage:
        return of<MeanAbsolutePercentageError>(r, lanes);
      case LossFunction::kMeanSquaredLogarithmic:
        return of<MeanSquaredLogarithmicError>(r, lanes);
      case LossFunction::kSquaredHinge:
        return pointwise(r, lanes, SquaredHinge::Element<K>{Labels<K>(r)});
      case LossFunction::kHinge:
        return pointwise(r, lanes, Hinge::Element<K>{Labels<K>(r)});
      case LossFunction::kSquaredHingeOfLabels:
        return of<SquaredHingeOfLabels>(r, lanes);
      case LossFunction::kHingeOfLabels:
        return of<HingeOfLabels>(r, lanes);
      case LossFunction::kCategoricalHinge:
        return of<CategoricalHinge>(r, lanes);
      case LossFunction::kLogCosh:
        return of<LogCosh>(r, lanes);
      case LossFunction::kHuber:
        return of<Huber>(r, lanes);
      case LossFunction::kCosineSimilarity:
        return of<CosineSimilarity>(r, lanes);
      case LossFunction::kKullbackLeibler:
        return of<KullbackLeiblerDivergence>(r, lanes);
      case LossFunction::kPoisson:
        return of<Poisson>(r, lanes);
      case LossFunction::kCategoricalCrossentropy:
        return of<CategoricalCrossentropy>(r, lanes);
      case LossFunction::kSoftmaxCrossentropy:
        return of<SoftmaxCrossentropy>(r, lanes);
      case LossFunction::kSparseCrossentropy:
        return of<SparseCategoricalCrossentropy>(r, lanes);
      case LossFunction::kSparseSoftmaxCrossentropy:
        return of<SparseSoftmaxCrossentropy>(r, lanes);
      case LossFunction::kBinaryCrossentropy:
        return of<BinaryCrossentropy>(r, lanes);
      case LossFunction::kBinaryCrossentropyOfClipped:
        return of<BinaryCrossentropyOfClipped>(r, lanes);
      case LossFunction::kSigmoidCrossentropy:
        return of<SigmoidCrossentropy>(r, lanes);
    }
    return 0;
  }
};

}  // namespace
}  // namespace neutra::training::fused
