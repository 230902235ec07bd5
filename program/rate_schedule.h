#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "program/program.h"

namespace neutra::program {

/// What the learning rate is multiplied with, a function of n, the finished epochs, or steps
/// (docs/methods/training.md, "Schedules").
struct LearningRateSchedule {
  enum class Kind { kExponential, kInverseTime, kCosine, kPolynomial, kPiecewise };
  Kind kind = Kind::kExponential;
  bool every_batch = false;  ///< n counts optimiser steps, not epochs
  double decay_rate = 1;     ///< exponential: in (0, 1]; inverse time: >= 0
  double steps = 1;          ///< of n, that one decay takes, or the whole way
  bool staircase = false;    ///< whole decays alone
  double start = 1, end = 0, power = 1;
  bool cycle = false;                         ///< the cosine goes on and comes back
  std::vector<std::int64_t> boundaries = {};  ///< piecewise: from each on, the factor of its place
  std::vector<double> factors = {};

  /// Precondition: n >= 0.
  double factor(std::int64_t n) const;
  /// Is it the same for all n?
  bool is_constant() const;
};

/// The typed form of a schedule in normal form with every field.
LearningRateSchedule rate_schedule(const Json& schedule);

/// The program's schedule: ResolvedProgram::schedule, or one of another kind, which its optimiser's
/// config has as `schedule`. nullopt: the rate stays.
std::optional<LearningRateSchedule> schedule_of(const ResolvedProgram& program);

/// Notes what is wrong with a piecewise schedule in normal form: boundaries are whole numbers, each
/// greater than the one before, factors as many numbers >= 0. `path`: of the schedule.
void check_pieces(const Json& schedule, const std::string& path, std::vector<Problem>& problems);

/// LearningRateSchedule::factor() as an expression of Python in `n`, which is a whole number. That
/// of a cosine needs the module math.
std::string python_factor(const LearningRateSchedule& schedule, const std::string& n);

}  // namespace neutra::program
