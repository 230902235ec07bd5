#pragma once

#include <string>

#include "experiments/benchmark/benchmark.h"

namespace neutra::experiments {

/// What a fault is by published taxonomies: a category of gDefects4DL and a bug type of Shah, words
/// of experiments/fault_kinds.json; "" where that file has none.
struct FaultKind {
  std::string category, bug_type;  ///< "training_data", "T"
};
/// The kind of the faults that an operator makes.
FaultKind fault_kind(const mutators::MutationOperator& op);
/// The kind of an entry's fault: that of its first operator, or of a symptom that most of its runs
/// show (numeric errors).
FaultKind fault_kind(const BenchmarkEntry& entry);
/// A kind in words: "the training data are wrong, or prepared wrongly (tensor and input)"; "" for
/// none.
std::string kind_text(const FaultKind& kind);

}  // namespace neutra::experiments
