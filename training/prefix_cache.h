#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "program/program.h"
#include "training/loop.h"

namespace neutra::training {

/// What is known of trainings that are prefixes of one another: programs that differ in their
/// epochs only, with the same seed and replica, draw the same numbers. Thread safe.
class PrefixCache {
 public:
  /// `state_bytes`: at most this much for states; the oldest are dropped first.
  explicit PrefixCache(std::uint64_t state_bytes) : limit_(state_bytes) {}

  struct Key {
    Hash program;  ///< stream_hash()
    std::uint64_t seed = 0;
    int replica = 0;
    auto operator<=>(const Key&) const = default;
  };

  void add_result(const Key& key, std::int64_t epochs, ReplicaResult result);
  std::optional<ReplicaResult> result(const Key& key, std::int64_t epochs) const;

  bool has_room(std::uint64_t bytes) const {
    return bytes <= limit_;
  }  ///< for a state of that size
  void add_state(const Key& key, std::shared_ptr<const TrainingState> state);
  /// The state with the most epochs, at most `epochs`; null where there is none.
  std::shared_ptr<const TrainingState> state(const Key& key, std::int64_t epochs) const;

 private:
  using StateKey = std::pair<Key, std::int64_t>;

  const std::uint64_t limit_;
  mutable std::mutex mutex_;
  std::map<StateKey, ReplicaResult> results_;
  std::map<StateKey, std::shared_ptr<const TrainingState>> states_;
  std::deque<StateKey> oldest_first_;
  std::uint64_t used_ = 0;
};

}  // namespace neutra::training
