#pragma once

#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "program/vocabulary.h"

namespace neutra::program {

/// Fills in the metric of a document in normal form: the first of compile.metrics, else the loss;
/// its goal and its options by its name. `compiled`: the options that the first of compile.metrics
/// has as a class. Appends problems with options that the metric doesn't have.
void complete_metric(Json& document, const Json& compiled, Defaults defaults,
                     std::vector<Problem>& problems);

/// The first option of a metric given as a class with which Keras computes another number than
/// neutra does (tf.keras 2.4, metrics.py); its path is the option. nullopt: none, unknown metric.
std::optional<Problem> unusual_metric_option(const std::string& name, const Json& config);

}  // namespace neutra::program
