#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <utility>

namespace neutra {

/// An LRU cache: values by key, of which the least recently used ones are dropped first. Not thread
/// safe. Pointers and references to values are valid until the next add(), erase() or drop().
template <typename Key, typename Value>
class LruCache {
 public:
  /// `limit`: of the sum of all values' costs. One value is kept whatever it costs.
  explicit LruCache(std::uint64_t limit) : limit_(limit) {}

  /// Null where there is none. The value counts as used now.
  const Value* find(const Key& key) { return use(index_.find(key)); }
  /// The value with the largest key in [least, most], likewise.
  const Value* find_last(const Key& least, const Key& most) {
    auto place = index_.upper_bound(most);
    if (place == index_.begin() || (--place)->first < least) return nullptr;
    return use(place);
  }
  /// Adds a value unless the key has one. Returns the value that the key has now.
  const Value& add(const Key& key, Value value, std::uint64_t cost = 1) {
    if (const auto known = index_.find(key); known != index_.end()) return known->second->value;
    index_[key] = entries_.insert(entries_.end(), {key, std::move(value), cost});
    cost_ += cost;
    while (cost_ > limit_ && size() > 1) drop();
    return entries_.back().value;
  }
  void erase(const Key& key) {
    if (const auto place = index_.find(key); place != index_.end()) remove(place->second);
  }
  /// Drops the least recently used value and returns it. Precondition: there is one.
  Value drop() { return remove(entries_.begin()); }
  std::size_t size() const { return index_.size(); }

 private:
  struct Entry {
    Key key;
    Value value;
    std::uint64_t cost;
  };
  using Place = typename std::list<Entry>::iterator;
  using Index = std::map<Key, Place>;

  const Value* use(typename Index::iterator place) {
    if (place == index_.end()) return nullptr;
    entries_.splice(entries_.end(), entries_, place->second);
    return &place->second->value;
  }
  Value remove(Place entry) {
    Value value = std::move(entry->value);
    cost_ -= entry->cost;
    index_.erase(entry->key);
    entries_.erase(entry);
    return value;
  }

  const std::uint64_t limit_;
  std::list<Entry> entries_;  ///< the most recently used one at the end
  Index index_;
  std::uint64_t cost_ = 0;
};

}  // namespace neutra
