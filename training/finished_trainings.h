#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/lru_cache.h"
#include "program/model_weights.h"
#include "program/program.h"
#include "training/trainer.h"

namespace neutra::training {

/// A training that came to its end, and the weights that it ended with.
struct FinishedTraining {
  ReplicaResult result;  ///< without a metric
  program::ModelWeights weights;
  std::int64_t epochs = 0;  ///< that were finished

  /// Of the weights.
  std::uint64_t bytes() const {
    std::uint64_t floats = 0;
    for (const auto& layer : weights) {
      for (const std::vector<float>& values : layer) floats += values.size();
    }
    return floats * sizeof(float);
  }
};

/// The models that trainings ended with, for what trained.mutations make of them: the mutants of
/// one model come one behind the other. Keeps those used last. Thread safe.
class FinishedTrainings {
 public:
  /// Of the streams, study seed, replica, epochs.
  using Key = std::tuple<Hash, std::uint64_t, int, std::int64_t>;
  using Pointer = std::shared_ptr<const FinishedTraining>;

  /// Null where it isn't known.
  Pointer find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const Pointer* known = entries_.find(key);
    return known == nullptr ? nullptr : *known;
  }
  /// Unless it is known already.
  void add(const Key& key, const Pointer& training) {
    const std::lock_guard lock(mutex_);
    entries_.add(key, training, training->bytes());
  }

 private:
  static constexpr std::uint64_t kBytes = std::uint64_t{64} << 20;

  std::mutex mutex_;
  LruCache<Key, Pointer> entries_{kBytes};
};

}  // namespace neutra::training
