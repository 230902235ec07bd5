#include "evaluators/fanova.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <random>
#include <utility>

namespace neutra::evaluators {
namespace {

constexpr int kDeepest = 64;
/// Trials that a tree is fitted to at most: more make it slower, and no share more certain.
constexpr std::size_t kMostTrials = 1000;

/// A tree that is grown and summed up at once: of a leaf, only what it adds is kept.
class Tree {
 public:
  explicit Tree(const FanovaTable& table) : table_(table) {
    for (const FanovaTable::Factor& factor : table.factors) {
      const auto levels = static_cast<std::size_t>(factor.levels);
      box_.emplace_back(levels, char{1});
      marginals_.emplace_back(levels, 0.0);
      sizes_.push_back(factor.levels);
    }
  }

  void grow(std::vector<std::size_t> trials) { split(trials.begin(), trials.end(), 0); }

  /// Of each factor; all zero where the tree is one leaf.
  std::vector<double> shares() const {
    std::vector<double> shares(table_.factors.size(), 0.0);
    const double variance = squares_ - mean_ * mean_;
    if (!(variance > 1e-12 * squares_)) return shares;
    for (std::size_t f = 0; f < shares.size(); ++f) {
      double sum = 0;
      for (const double mean : marginals_[f]) sum += (mean - mean_) * (mean - mean_);
      shares[f] = sum / static_cast<double>(marginals_[f].size()) / variance;
    }
    return shares;
  }

 private:
  using Trial = std::vector<std::size_t>::iterator;
  struct Level {
    double sum = 0;
    int count = 0;
  };
  /// Of an ordered factor the levels up to `level` go left, else `level` alone.
  struct Split {
    double gain = 0;
    std::size_t factor = 0;
    int level = -1;
  };

  bool goes_left(const Split& split, int level) const {
    return table_.factors[split.factor].ordered ? level <= split.level : level == split.level;
  }

  void split(Trial begin, Trial end, int depth) {
    double sum = 0, squares = 0;
    for (Trial trial = begin; trial != end; ++trial) {
      sum += table_.values[*trial];
      squares += table_.values[*trial] * table_.values[*trial];
    }
    const auto count = static_cast<double>(end - begin);
    Split best;
    best.gain = 1e-9 * squares;  // less is rounding
    if (end - begin > 1 && depth < kDeepest && squares - sum * sum / count > best.gain) {
      for (std::size_t f = 0; f < table_.factors.size(); ++f) try_factor(f, begin, end, sum, best);
    }
    if (best.level < 0) return add_leaf(sum / count);
    const Trial middle = std::partition(begin, end, [&](std::size_t trial) {
      return goes_left(best, table_.rows[trial][best.factor]);
    });
    const std::vector<char> whole = box_[best.factor];
    const int size = sizes_[best.factor];
    for (const bool is_left : {true, false}) {
      std::vector<char>& part = box_[best.factor];
      for (std::size_t level = 0; level < part.size(); ++level) {
        part[level] = whole[level] && goes_left(best, static_cast<int>(level)) == is_left;
      }
      sizes_[best.factor] = static_cast<int>(std::count(part.begin(), part.end(), char{1}));
      is_left ? split(begin, middle, depth + 1) : split(middle, end, depth + 1);
    }
    box_[best.factor] = whole;
    sizes_[best.factor] = size;
  }

  /// The best split of one factor, if it is better than `best`.
  void try_factor(std::size_t f, Trial begin, Trial end, double sum, Split& best) {
    if (sizes_[f] < 2) return;
    levels_.assign(box_[f].size(), {});
    for (Trial trial = begin; trial != end; ++trial) {
      Level& level = levels_[static_cast<std::size_t>(table_.rows[*trial][f])];
      level.sum += table_.values[*trial];
      ++level.count;
    }
    const bool ordered = table_.factors[f].ordered;
    const auto all = static_cast<double>(end - begin);
    int last = -1;  // the level before, of those that trials here have
    double left_sum = 0, left_count = 0;
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      const Level& level = levels_[i];
      if (level.count == 0) continue;
      if (!ordered) left_sum = left_count = 0;
      // Of numbers: what is before this level, cut in the middle between both.
      const int cut = ordered ? (last + static_cast<int>(i)) / 2 : static_cast<int>(i);
      if (!ordered) {
        left_sum = level.sum;
        left_count = level.count;
      }
      if (left_count > 0 && left_count < all) {
        const double right_sum = sum - left_sum;
        const double gain = left_sum * left_sum / left_count +
                            right_sum * right_sum / (all - left_count) - sum * sum / all;
        if (gain > best.gain) best = {gain, f, cut};
      }
      last = static_cast<int>(i);
      if (ordered) {
        left_sum += level.sum;
        left_count += level.count;
      }
    }
  }

  void add_leaf(double value) {
    double weight = 1;
    for (std::size_t f = 0; f < box_.size(); ++f) {
      weight *= static_cast<double>(sizes_[f]) / static_cast<double>(box_[f].size());
    }
    mean_ += weight * value;
    squares_ += weight * value * value;
    for (std::size_t f = 0; f < box_.size(); ++f) {
      const double of_level =
          weight * static_cast<double>(box_[f].size()) / static_cast<double>(sizes_[f]) * value;
      for (std::size_t level = 0; level < box_[f].size(); ++level) {
        if (box_[f][level]) marginals_[f][level] += of_level;
      }
    }
  }

  const FanovaTable& table_;
  std::vector<std::vector<char>> box_;          ///< levels that can come to the node in hand
  std::vector<int> sizes_;                      ///< how many those are
  std::vector<std::vector<double>> marginals_;  ///< mean of the tree at each level of a factor
  std::vector<Level> levels_;                   ///< of try_factor()
  double mean_ = 0, squares_ = 0;
};

}  // namespace

std::vector<FanovaShare> fanova(const FanovaTable& table, int trees) {
  std::vector<FanovaShare> result(table.factors.size());
  if (table.rows.empty() || trees < 1) return result;
  // Around their mean, so that differences of large values are kept.
  FanovaTable centred = table;
  double mean = 0;
  for (const double value : table.values) mean += value / static_cast<double>(table.values.size());
  for (double& value : centred.values) value -= mean;
  // The engine's numbers are fixed by the standard; those of its distributions are not.
  std::mt19937_64 random(20140621);
  std::vector<double> sums(result.size(), 0.0), squares(result.size(), 0.0);
  for (int i = 0; i < trees; ++i) {
    std::vector<std::size_t> drawn(std::min(table.rows.size(), kMostTrials));
    for (std::size_t& trial : drawn) trial = random() % table.rows.size();
    Tree tree(centred);
    tree.grow(std::move(drawn));
    const std::vector<double> shares = tree.shares();
    for (std::size_t f = 0; f < shares.size(); ++f) {
      sums[f] += shares[f];
      squares[f] += shares[f] * shares[f];
    }
  }
  for (std::size_t f = 0; f < result.size(); ++f) {
    result[f].share = sums[f] / trees;
    result[f].spread =
        std::sqrt(std::max(0.0, squares[f] / trees - result[f].share * result[f].share));
  }
  return result;
}

}  // namespace neutra::evaluators
