#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "training/backend.h"
#include "training/data/array.h"
#include "training/weights.h"

namespace neutra::training {

/// The parts of a program's data: what it trains on and what it validates on, its test rows, and
/// those of them that give the metric.
enum class DataPart { kTraining, kValidation, kTest, kHoldout };

/// Rows of a program's data. Arrays are row-major.
struct DataRows {
  std::int64_t count = 0;
  program::Shape row;     ///< extents of one row of features
  program::Shape target;  ///< extents of one row's target; {} where the source holds a plain vector
  std::span<const float> features, targets;
  std::shared_ptr<const void> owner;  ///< of the arrays
};

/// Asks a model with any weights for its outputs, as in inference: no dropout, moving averages. A
/// program whose loop knows no inference mode (LoopStyle::eval_mode) is asked as it evaluates, with
/// dropout and the statistics of the rows of the question; questions about whole batches, in order
/// from row 0, give its own evaluation. For one thread at a time.
class Predictor {
 public:
  virtual ~Predictor() = default;
  /// All zero at first; may be changed between questions. Layers are counted as in the model that
  /// is asked.
  virtual Weights& weights() = 0;
  virtual std::int64_t rows() const = 0;      ///< that there are
  virtual std::int64_t max_rows() const = 0;  ///< that one question may be about
  /// The model's outputs for rows begin .. begin + count - 1, row-major; valid until the next
  /// question.
  virtual std::span<const float> outputs(std::int64_t begin, std::int64_t count) = 0;
  /// Each layer's outputs for the rows of the last question, row-major; valid until the next.
  virtual std::vector<std::span<const float>> activations() = 0;
};

/// The outputs of a program's model with these weights for rows of inputs, in inference mode.
/// Needs no data of the program. Precondition: weights and inputs have the program's shapes.
Array predict(const program::ResolvedProgram& program, const program::ModelWeights& weights,
              const Array& inputs, Backend backend);

}  // namespace neutra::training
