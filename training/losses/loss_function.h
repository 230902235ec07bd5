#pragma once

#include <cstdint>

namespace neutra::training {

/// The forms of losses: most have one; cross entropies have another on logits, which includes the
/// output's activation, and some have one of Keras 2.2.4.
enum class LossFunction : std::uint8_t {
  kMeanSquared,
  kMeanAbsolute,
  kMeanAbsolutePercentage,
  kMeanSquaredLogarithmic,
  kSquaredHinge,
  kHinge,
  kSquaredHingeOfLabels,  ///< targets as they are: Keras 2.2.4's
  kHingeOfLabels,         ///< likewise
  kCategoricalHinge,
  kLogCosh,
  kHuber,
  kCosineSimilarity,
  kKullbackLeibler,
  kPoisson,
  kCategoricalCrossentropy,
  kSoftmaxCrossentropy,  ///< categorical, on logits
  kSparseCrossentropy,   ///< of probabilities; targets: one class index a row
  kSparseSoftmaxCrossentropy,
  kBinaryCrossentropy,
  kBinaryCrossentropyOfClipped,  ///< Keras 2.2.4's
  kSigmoidCrossentropy           ///< binary, on logits
};

}  // namespace neutra::training
