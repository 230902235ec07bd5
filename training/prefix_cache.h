#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "base/lru_cache.h"
#include "program/program.h"
#include "training/loop.h"

namespace neutra::training {

/// What is known of trainings that are prefixes of one another: programs that differ in their
/// epochs only, with the same seed and replica, draw the same numbers. Thread safe.
class PrefixCache {
 public:
  /// `state_bytes`: at most this much for states.
  explicit PrefixCache(std::uint64_t state_bytes) : limit_(state_bytes), states_(state_bytes) {}

  /// A training without its epochs.
  struct Key {
    Hash program;  ///< stream_hash()
    std::uint64_t seed = 0;
    int replica = 0;
    auto operator<=>(const Key&) const = default;
  };

  /// What the training gives after so many epochs.
  void add_result(const Key& key, std::int64_t epochs, ReplicaResult result);
  /// nullopt where it isn't known.
  std::optional<ReplicaResult> result(const Key& key, std::int64_t epochs) const;

  /// Is there room for a state of that size?
  bool has_room(std::uint64_t bytes) const { return bytes <= limit_; }
  /// One that has no room is not kept.
  void add_state(const Key& key, std::shared_ptr<const TrainingState> state);
  /// The state with the most epochs, at most `epochs`; null where there is none.
  std::shared_ptr<const TrainingState> state(const Key& key, std::int64_t epochs);

 private:
  using StateKey = std::pair<Key, std::int64_t>;  ///< with epochs

  const std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::map<StateKey, ReplicaResult> results_;
  LruCache<StateKey, std::shared_ptr<const TrainingState>> states_;
};

}  // namespace neutra::training
