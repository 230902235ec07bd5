#include "training/prefix_cache.h"

#include <utility>

namespace neutra::training {

void PrefixCache::add_result(const Key& key, std::int64_t epochs, ReplicaResult result) {
  const std::lock_guard lock(mutex_);
  results_.insert_or_assign({key, epochs}, std::move(result));
}

std::optional<ReplicaResult> PrefixCache::result(const Key& key, std::int64_t epochs) const {
  const std::lock_guard lock(mutex_);
  const auto it = results_.find({key, epochs});
  if (it == results_.end()) return std::nullopt;
  return it->second;
}

void PrefixCache::add_state(const Key& key, std::shared_ptr<const TrainingState> state) {
  const std::uint64_t bytes = state->bytes();
  if (!has_room(bytes)) return;
  const StateKey place{key, state->epochs};
  const std::lock_guard lock(mutex_);
  states_.add(place, std::move(state), bytes);
}

std::shared_ptr<const TrainingState> PrefixCache::state(const Key& key, std::int64_t epochs) {
  const std::lock_guard lock(mutex_);
  const auto* known = states_.find_last({key, 0}, {key, epochs});
  return known == nullptr ? nullptr : *known;
}

}  // namespace neutra::training
