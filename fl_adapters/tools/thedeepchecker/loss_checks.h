#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/messages.h"

/// During trainings on a few rows: losses, and how well they fit.
namespace neutra::fl_adapters::thedeepchecker {

/// One value for each iteration: loss, and accuracy or error.
struct Fit {
  std::vector<double> losses, performance;
  bool classification = true;
};
/// Does the training fit its few rows, and does the loss stay above zero?
Messages check_fit(const Fit& fit, ToolVariant variant = ToolVariant::kAsPublished);
/// Is the loss on zeros as good as that on the rows?
Messages check_data_dependence(std::span<const double> real, std::span<const double> zeroed);

/// The curve of the loss, and whether the performance (accuracy or error) goes with it.
class LossCheck {
 public:
  /// After each iteration, from 0.
  void see(std::int64_t iteration, double loss, double performance, Messages& out);

 private:
  std::vector<double> step_losses_, step_performances_, losses_, performances_;
  double least_ = std::numeric_limits<double>::infinity();
};

}  // namespace neutra::fl_adapters::thedeepchecker
