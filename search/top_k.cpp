#include "search/top_k.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace neutra::search {

std::vector<std::int64_t> TopK::choose(std::vector<Neighbour> neutral) {
  sort(neutral);
  const auto most = static_cast<std::size_t>(config_.top_k);
  std::vector<std::int64_t> chosen;
  for (auto first = neutral.begin(); first != neutral.end() && chosen.size() < most;) {
    if (!spreads()) {
      chosen.push_back(first++->node->id);
      continue;
    }
    const auto end = std::find_if(first, neutral.end(), [&](const Neighbour& other) {
      return compare_means(*first->score, *other.score, goal_) != 0;
    });
    spread({first, end}, chosen);
    first = end;
  }
  return chosen;
}

/// The best means first; ties by the parameter string where TieOrder::kParameters says so, else by
/// id, as the records have them.
void TopK::sort(std::vector<Neighbour>& neutral) const {
  const bool by_id = config_.rule == Rule::kRecorded || spreads();
  std::stable_sort(neutral.begin(), neutral.end(), [&](const Neighbour& a, const Neighbour& b) {
    const int order = compare_means(*a.score, *b.score, goal_);
    if (order != 0 || by_id) return order > 0;
    return program::to_string(a.node->parameters) < program::to_string(b.node->parameters);
  });
}

/// Chooses among neighbours with equal means, until there are enough: first those that make an
/// unusual value usual, then one of each kind of hyperparameter in turn: the kinds and then the
/// keys that the fewest chosen programs changed, in the order of their likelihood.
void TopK::spread(std::vector<Neighbour> ties, std::vector<std::int64_t>& chosen) {
  struct Tie {
    const Node* node = nullptr;
    mutators::Likelihood likelihood;
    std::int64_t recorded_place = 0;
  };
  std::vector<Tie> left;
  for (const Neighbour& tie : ties) {
    left.push_back({tie.node, space_.likelihood(tie.node->mutation),
                    space_.recorded_place(tie.node->parameters).value_or(0)});
  }
  std::set<std::string> made_usual;  // one value of each key
  while (!left.empty() && chosen.size() < static_cast<std::size_t>(config_.top_k)) {
    const auto rank = [&](const Tie& tie) {
      const auto& [op, key, before, after] = tie.node->mutation;
      const bool makes_usual = tie.likelihood.makes_usual && made_usual.count(key) == 0;
      return std::tuple{tie.recorded_place,  !makes_usual,      chosen_kinds_[op],
                        tie.likelihood.kind, chosen_keys_[key], tie.likelihood.value,
                        tie.node->id};
    };
    const auto first = std::min_element(
        left.begin(), left.end(), [&](const Tie& a, const Tie& b) { return rank(a) < rank(b); });
    const mutators::Mutation& mutation = first->node->mutation;
    made_usual.insert(mutation.key);
    ++chosen_kinds_[mutation.op];
    ++chosen_keys_[mutation.key];
    chosen.push_back(first->node->id);
    left.erase(first);
  }
}

}  // namespace neutra::search
