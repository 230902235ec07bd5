#pragma once

#include <functional>
#include <string>

#include "base/json.h"

namespace neutra::program {

/// What a program has instead of a schedule of Keras's optimisers.
struct ImportedSchedule {
  Json learning_rate;  ///< the first; null: there is a problem
  Json schedule;       ///< fit.schedule; null for none
  Json decay;          ///< the optimiser's; null for none
};

/// Notes a problem: place, what was found, what is allowed.
using RefuseSetting = std::function<void(const std::string& place, const std::string& found,
                                         const std::string& allowed)>;

/// `schedule`: {class_name, config} of a tf.keras.optimizers.schedules class: ExponentialDecay,
/// InverseTimeDecay, PiecewiseConstantDecay; CosineDecay without warm-up; PolynomialDecay without
/// cycle. All others are refused, and settings that they don't have.
ImportedSchedule import_schedule(const Json& schedule, const RefuseSetting& refuse);

}  // namespace neutra::program
