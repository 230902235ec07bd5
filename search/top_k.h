#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "search/metric_mean.h"
#include "search/network.h"
#include "search/options.h"
#include "search/space.h"

namespace neutra::search {

/// Chooses which of a parent's neutral neighbours are queued, and in which order: the best means
/// first, ties as SearchConfig::ties says (docs/methods/search.md, "Ties"). It remembers what it
/// chose, since kSpread goes by what is queued already.
class TopK {
 public:
  /// A neutral one, with all its replicas.
  struct Neighbour {
    const Node* node = nullptr;
    const MetricMean* score = nullptr;
  };
  /// Keeps references to all but `goal`.
  TopK(const SearchSpace& space, const SearchConfig& config, program::Goal goal)
      : space_(space), config_(config), goal_(goal) {}

  /// Ids of at most SearchConfig::top_k of the neighbours, which come in the order of their ids.
  std::vector<std::int64_t> choose(std::vector<Neighbour> neutral);

 private:
  void sort(std::vector<Neighbour>& neutral) const;
  void spread(std::vector<Neighbour> ties, std::vector<std::int64_t>& chosen);
  bool spreads() const {
    return config_.rule != Rule::kRecorded && config_.ties == TieOrder::kSpread;
  }

  const SearchSpace& space_;
  const SearchConfig& config_;
  const program::Goal goal_;
  /// How many chosen programs changed a hyperparameter of this kind (operator), and this one (key).
  std::map<std::string, std::int64_t> chosen_kinds_, chosen_keys_;
};

}  // namespace neutra::search
