#pragma once

#include <optional>
#include <string>

#include "experiments/catalog.h"
#include "search/options.h"

namespace neutra::experiments {

/// The metric of a program's runs, as the search sees it.
struct MetricInfo {
  std::string name;  ///< "accuracy"
  program::Goal goal = program::Goal::kMaximize;
  std::optional<double> bound;  ///< best possible value
};
/// The metric of a program. Throws input_error listing the problems when the program is not valid;
/// `file` is for messages.
MetricInfo metric_of(const program::Program& program, const std::string& file);

/// What to search: the repairs of a fault, which must outlive the task. Throws like metric_of().
search::SearchTask search_task(const Fault& fault);

/// The value of SearchConfig::fingerprint for a search: the trainer's, with the data of both
/// programs. Reads the data.
std::string search_fingerprint(const Fault& fault, training::Trainer& trainer);

}  // namespace neutra::experiments
