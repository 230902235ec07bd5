#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/data_checks.h"
#include "fl_adapters/tools/thedeepchecker/messages.h"

/// Before the training: initial weights, biases and losses.
namespace neutra::fl_adapters::thedeepchecker {

/// Extents of a kernel, and the activation that its layer should be initialised for.
struct Kernel {
  Place place;
  std::int64_t fan_in = 1, fan_out = 1;
  std::string activation;
};
/// A constant kernel, or one with another variance than He, Glorot or LeCun recommend for the
/// activation.
Messages check_initial_kernel(const Kernel& kernel, std::span<const float> values,
                              ToolVariant variant);
/// A bias before the training.
struct Bias {
  Place place;
  std::vector<float> values;
};
/// All biases of the model in order: do they fit the balance of the classes, or the targets?
Messages check_initial_biases(const std::vector<Bias>& biases, const Targets& targets);
/// Is the loss that of a model that knows nothing, the logarithm of the number of classes?
/// `loss`: of a batch with all classes; precondition: a classification.
Messages check_initial_loss(double loss, const Targets& targets);
/// Does the loss add up over rows, and not take their mean? `losses`: of one batch repeated 2, 4,
/// 8, ... times.
Messages check_reduction(std::span<const double> losses);

}  // namespace neutra::fl_adapters::thedeepchecker
