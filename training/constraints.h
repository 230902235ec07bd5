#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/weights.h"

namespace neutra::training {

/// Keras's constraints of variables, applied after each update: MaxNorm, MinMaxNorm, NonNeg,
/// UnitNorm. Norms are taken along the constraint's axes, and each vector is scaled to an allowed
/// norm, with 1e-7 added to the divisor. Source: tf.keras 2.4, constraints.py,
/// optimizer_v2.py.
class Constraints {
 public:
  /// Of the variables that the optimiser updates.
  Constraints(const program::ResolvedProgram& program, const Weights& weights);
  /// `weights`: Weights::all(), or updated() alone.
  void apply(std::span<float> weights);

 private:
  struct Norm {
    double least = 0, most = 0;  ///< that are allowed
    double rate = 1;             ///< the share of the way there that a step goes
  };
  struct One {
    Extent extent;
    bool not_negative = false;  ///< that alone; else:
    Norm norm;
    std::vector<std::uint32_t> vector;  ///< of each element
    std::size_t vectors = 0;
  };
  std::vector<One> all_;
  std::vector<double> squares_;  ///< of the vectors of one variable
  std::vector<float> scales_;
};

}  // namespace neutra::training
