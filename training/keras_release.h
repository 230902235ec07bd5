#pragma once

#include <optional>
#include <string>

namespace neutra::training {

/// The Keras release whose losses and accuracy a training has; all else is tf.keras 2.4's. Programs
/// train with kTf24. Tools that ran on another Keras may watch a training with that one's.
enum class KerasRelease {
  kTf24,
  /// Standalone Keras 2.2.4 on TensorFlow 1: cross entropies are of clipped probabilities, never of
  /// what went into the softmax or sigmoid, and hinge losses take labels as they are
  /// (keras/losses.py, keras/backend/tensorflow_backend.py).
  k224
};

/// The name that losses/list.h has for a release's loss; no program can say it.
/// nullopt: the release has no such loss.
std::optional<std::string> loss_of(KerasRelease release, const std::string& loss);
/// Likewise the name that metrics.h has for a release's metric beside this loss: Keras 2.2.4
/// chooses by the loss which accuracy the word stands for.
std::string metric_of(KerasRelease release, const std::string& metric, const std::string& loss);
/// Are a loss's targets class indices? For names of every release.
bool takes_class_indices(const std::string& loss);

}  // namespace neutra::training
