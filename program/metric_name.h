#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace neutra::program {

/// A metric with its options. ResolvedProgram::metric, and whatever names a metric, is its text:
/// the canonical name of program/keras_names.json, followed by the options that differ from the
/// default: "accuracy", "top_k_categorical_accuracy(k=3)", "mae(scale=original)",
/// "binary_crossentropy(from_logits=true)", "binary_accuracy(threshold=0)".
struct MetricName {
  std::string name;             ///< canonical: "accuracy"
  std::int64_t k = 0;           ///< of the top-k accuracies; 0: the default
  bool original_scale = false;  ///< computed on the scale before data.preprocess
  bool from_logits = false;     ///< of the cross entropies: outputs are logits
  double threshold = 0.5;       ///< of binary_accuracy: what an output of 1 is above
};
/// The name, and in brackets the options that differ from the default.
std::string to_string(const MetricName& metric);
/// Of to_string()'s texts; any other is a name.
MetricName parse_metric_name(std::string_view text);

}  // namespace neutra::program
