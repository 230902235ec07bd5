#pragma once

#include <optional>
#include <span>
#include <vector>

#include "evaluators/kill_test.h"

namespace neutra::evaluators {

/// Scores of a test set by mutation operator (Humbatova, Jahangirova and Tonella, DeepCrime, ISSTA
/// 2021, section 4; docs/methods/killing.md).
struct OperatorScore {
  /// Share of what the training set kills that the test set kills, in [0, 1]; nullopt: the training
  /// set kills nothing that could be compared, and the operator is left out.
  std::optional<double> score;
  /// How far kills by the test set are from being certain: 0 where all have enough power, and
  /// where there are none. A mutation score counts operators without instability only.
  double instability = 0;
};

/// Of an operator with a range: how near to the harmless end the test set still kills, compared
/// with the training set. Both searches used `range`.
OperatorScore range_score(const SearchRange& range, KillVariant variant, const BinarySearch& train,
                          const BinarySearch& test);

/// One configuration of an operator without a range.
struct ConfigurationVerdict {
  KillVerdict train, test;
};
/// Of an operator without a range: shares over its configurations.
OperatorScore list_score(std::span<const ConfigurationVerdict> verdicts, KillVariant variant);

/// Mean over the operators that have a score and no instability; nullopt: there are none (the
/// published tool says 0).
std::optional<double> mutation_score(std::span<const OperatorScore> operators);

/// How often each test input tells a mutant from the original: run i of both, the original right
/// and the mutant wrong.
struct KillCounts {
  std::size_t runs = 0;
  std::vector<std::size_t> inputs;  ///< runs that an input kills the mutant in, for each input
};
/// `original`, `mutant`: for each run, for each input, is the prediction right? Equal numbers of
/// runs and of inputs.
KillCounts kill_counts(std::span<const std::vector<bool>> original,
                       std::span<const std::vector<bool>> mutant);

/// Expected share of inputs that kill: the mean of the inputs' killing probabilities. 0 without
/// inputs.
double triviality(const KillCounts& counts);
inline constexpr double kTrivial = 0.9;  ///< from there on a mutant is trivial

/// For each mutant: is it redundant? One is, if some other mutant's inputs all kill it, too: on
/// the inputs that tell the two apart (Wilson intervals of level 0.1 that don't overlap) the
/// other's killing probability is never larger. The share of such inputs must be known to +-0.05.
std::vector<bool> redundant(std::span<const KillCounts> mutants);

}  // namespace neutra::evaluators
