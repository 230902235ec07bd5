#pragma once

#include <cstdint>
#include <vector>

namespace neutra::evaluators {

/// Settings that were tried and what came out, as levels: the third value of the second setting is
/// rows[i][1] == 2.
struct FanovaTable {
  /// A setting.
  struct Factor {
    int levels = 0;        ///< at least 1
    bool ordered = false;  ///< the levels are numbers in their order, else names
  };
  std::vector<Factor> factors;
  std::vector<std::vector<int>> rows;  ///< of each trial the level of each factor
  std::vector<double> values;          ///< what came out: finite
};

/// How much of the variance a setting explains by itself.
struct FanovaShare {
  double share = 0;   ///< mean over the trees, from 0 to 1
  double spread = 0;  ///< standard deviation over the trees
};

/// Functional ANOVA of a random forest (Hutter, Hoos and Leyton-Brown, "An efficient approach for
/// assessing hyperparameter importance", ICML 2014, Algorithm 2): the forest is fitted to the
/// trials; of each tree, the variance of the mean over all other factors, by the tree's variance,
/// both over all combinations of the levels, each with the same weight. The forest is that of
/// Optuna's FanovaImportanceEvaluator: 64 trees, trials drawn with replacement (here at most
/// 1,000), every factor at every split, leaves down to one trial, depth at most 64; a split of an
/// unordered factor parts one level from the others. What the shares lack to 1 is due to factors
/// together. All zero where nothing varies. The same table gives the same shares.
std::vector<FanovaShare> fanova(const FanovaTable& table, int trees = 64);

}  // namespace neutra::evaluators
