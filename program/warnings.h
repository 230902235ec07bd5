#pragma once

#include <string>
#include <vector>

#include "program/program.h"

namespace neutra::program {

/// A compiled metric as Keras's logs have it.
struct MetricLog {
  std::string name;    ///< "acc"; with "val_" before it where it is of the validation rows
  std::string metric;  ///< canonical: "accuracy"
};
/// Those of a document, in the order of compile.metrics. A metric given by a word is logged under
/// that word (tf.keras 2.4, compile_utils.py: MetricsContainer).
std::vector<MetricLog> metric_logs(const Json& document);

/// Something that Keras trains without an error, but not as its author must have meant it.
struct Warning {
  std::string path;  ///< JSON pointer: "/fit/callbacks/0/config/monitor"
  std::string text;  ///< one line
};

/// Callbacks that do nothing, or the opposite of what they are for: an EarlyStopping whose monitor
/// is not in the logs, that waits for longer than the training takes, or that takes a good metric
/// for a bad one; test rows that are the training rows; a MinMaxNorm whose rate is no share; class
/// weights that are all 0. None of a document that is not valid.
std::vector<Warning> warnings_of(const Program& program);

}  // namespace neutra::program
