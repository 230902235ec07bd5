#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace neutra::program {

/// A compiled metric as Keras's logs have it.
struct MetricLog {
  std::string name;    ///< "acc"; with "val_" before it where it is of the validation rows
  std::string metric;  ///< canonical: "accuracy"
};
/// Those of a document, in the order of compile.metrics. A metric given by a word is logged under
/// that word (tf.keras 2.4, compile_utils.py: MetricsContainer).
std::vector<MetricLog> metric_logs(const Json& document);

/// Drops the callbacks that Keras ignores from `normal`, a document in normal form, which may have
/// problems: an EarlyStopping whose monitor is not in the logs of `document`. Names the monitors of
/// the others canonically.
void keep_effective_callbacks(Json& normal, const Json& document);

}  // namespace neutra::program
