#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/messages.h"

/// Before the training: features and targets.
namespace neutra::fl_adapters::thedeepchecker {

/// Summary of one feature or target, or of all of them together.
struct Column {
  double mean = 0, stddev = 0, min = 0, max = 0;
};
/// One for each of `width` columns of row-major values. Precondition: at least one row.
std::vector<Column> columns_of(std::span<const float> values, std::size_t width);
/// Features of the training rows: constant ones, and those neither normalised nor standardised.
Messages check_features(const std::vector<Column>& columns, ToolVariant variant);

/// What the targets of the training rows are like.
struct Targets {
  bool classification = true;
  std::size_t outputs = 1;      ///< that a prediction must have
  std::vector<double> shares;   ///< of the classes; empty for a regression
  std::vector<Column> columns;  ///< of a regression
  /// (exp(entropy of the shares) - 1) / (classes - 1): 1 for equal classes, 0 for a single one.
  double balance() const;
  bool balanced() const;  ///< by the threshold "labels_balance"
};
/// The class that a label names; 0 for what names none (negative, not finite, above a million).
std::size_t label_class(float label);
/// `one_hot`: whole numbers are classes (the tool gets them as vectors of zeros and a one).
Targets targets_of(std::span<const float> values, std::size_t width, bool classification,
                   bool one_hot);
/// Unbalanced classes; of a regression constant or unnormalised targets.
Messages check_targets(const Targets& targets, ToolVariant variant);

}  // namespace neutra::fl_adapters::thedeepchecker
