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
  const std::lock_guard lock(mutex_);
  const StateKey place{key, state->epochs};
  if (state->bytes() > limit_ || states_.contains(place)) return;
  while (used_ + state->bytes() > limit_) {
    const auto it = states_.find(oldest_first_.front());
    used_ -= it->second->bytes();
    states_.erase(it);
    oldest_first_.pop_front();
  }
  used_ += state->bytes();
  oldest_first_.push_back(place);
  states_.emplace(place, std::move(state));
}

std::shared_ptr<const TrainingState> PrefixCache::state(const Key& key, std::int64_t epochs) const {
  const std::lock_guard lock(mutex_);
  auto it = states_.upper_bound({key, epochs});
  if (it == states_.begin()) return nullptr;
  --it;
  return it->first.first == key ? it->second : nullptr;
}

}  // namespace neutra::training
