#pragma once

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

namespace neutra::training::losses {
namespace {

/// A loss by its Keras name: its form on the model's output and, for those that can be computed
/// from the input of an activation, that activation and the form on its input.
template <typename OnOutput, typename OnLogits = OnOutput>
struct Named {
  using Output = OnOutput;
  using Logits = OnLogits;
  const char* name;
  const char* activation = nullptr;
};

/// Calls visit(Named) for every loss. Names with a slash are those of keras_release.h:
/// Keras 2.2.4's losses that differ (losses.py, backend/tensorflow_backend.py).
template <typename Visit>
void for_each_loss(Visit visit) {
  visit(Named<BinaryCrossentropy, SigmoidCrossentropy>{"binary_crossentropy", "sigmoid"});
  visit(Named<CategoricalCrossentropy, SoftmaxCrossentropy>{"categorical_crossentropy", "softmax"});
  visit(Named<CategoricalHinge>{"categorical_hinge"});
  visit(Named<CosineSimilarity>{"cosine_similarity"});
  visit(Named<Hinge>{"hinge"});
  visit(Named<Huber>{"huber"});
  visit(Named<KullbackLeiblerDivergence>{"kullback_leibler_divergence"});
  visit(Named<LogCosh>{"logcosh"});
  visit(Named<MeanAbsoluteError>{"mean_absolute_error"});
  visit(Named<MeanAbsolutePercentageError>{"mean_absolute_percentage_error"});
  visit(Named<MeanSquaredError>{"mean_squared_error"});
  visit(Named<MeanSquaredLogarithmicError>{"mean_squared_logarithmic_error"});
  visit(Named<Poisson>{"poisson"});
  visit(Named<SparseCategoricalCrossentropy, SparseSoftmaxCrossentropy>{
      "sparse_categorical_crossentropy", "softmax"});
  visit(Named<SquaredHinge>{"squared_hinge"});
  visit(Named<BinaryCrossentropyOfClipped>{"keras-2.2.4/binary_crossentropy"});
  visit(Named<CategoricalCrossentropy>{"keras-2.2.4/categorical_crossentropy"});
  visit(Named<HingeOfLabels>{"keras-2.2.4/hinge"});
  visit(Named<SparseCategoricalCrossentropy>{"keras-2.2.4/sparse_categorical_crossentropy"});
  visit(Named<SquaredHingeOfLabels>{"keras-2.2.4/squared_hinge"});
}

}  // namespace
}  // namespace neutra::training::losses
