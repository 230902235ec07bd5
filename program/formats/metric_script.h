#pragma once

#include <string>
#include <vector>

#include "base/json.h"

namespace neutra::program {

/// Is it one of the metrics that scripts and programs take batch by batch, as their libraries do?
/// All others are functions of all rows (metric_parts.py).
bool is_streamed(const std::string& metric);

/// The metric as a script takes it: on the scale that its rows have.
std::string metric_of_rows(const std::string& metric);

/// Python that takes a metric (MetricName), which isn't the loss, of all rows: "metric_r2(y, o)".
std::string metric_call(const std::string& metric, const std::string& targets,
                        const std::string& outputs);

/// What a metric is called where it is printed. A script knows the rows as they are trained on, so
/// it says so where the metric is meant on their original scale.
std::string metric_label(const std::string& metric);

/// compile.metrics for Keras: `given` as the document has them, or Keras's word for one that is
/// neutra's alone. `names`: their canonical names. Left out: what Keras 2.4 doesn't measure.
Json keras_metrics(const Json& given, const Json& names);

}  // namespace neutra::program
