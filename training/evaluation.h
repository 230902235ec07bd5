#pragma once

#include <cstdint>
#include <string>

#include "training/data/array.h"

namespace neutra::training {

/// What a model with given weights gives on rows of a program's data, as Keras's evaluate() does.
struct Evaluation {
  std::int64_t rows = 0;
  double loss = 0;            ///< with regularisers; NaN where no loss is known
  double metric = 0;          ///< the program's
  std::int64_t correct = -1;  ///< accuracies: correct / total exactly; -1 for other metrics
  std::int64_t total = -1;
  std::string backend;  ///< "eager", "fused", "torchscript"
  Array outputs;        ///< the model's, a row for each row
};

}  // namespace neutra::training
