#pragma once

#include <string>

#include "experiments/benchmark/benchmark.h"

namespace neutra::experiments {

/// The category and bug type of what an operator makes (experiments/fault_kinds.json).
FaultKind fault_kind(const mutators::MutationOperator& op);
/// In words: "the training data are wrong, or prepared wrongly (tensor and input)"; "" for none.
std::string kind_text(const FaultKind& kind);

}  // namespace neutra::experiments
