#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/measures.h"
#include "fl_adapters/tools/thedeepchecker/messages.h"

/// During a training on a few rows: kernels, biases, their gradients and updates, regularisers.
namespace neutra::fl_adapters::thedeepchecker {

/// A kernel or a bias after each update.
class WeightCheck {
 public:
  /// `bias`: is it a bias, and not a kernel?
  WeightCheck(Place place, bool bias, ToolVariant variant)
      : place_(std::move(place)), bias_(bias), variant_(variant) {}
  /// After the update of an iteration, from 0.
  void see(std::int64_t iteration, std::span<const float> values, Messages& out);

 private:
  Place place_;
  bool bias_;
  ToolVariant variant_;
  Window means_;
};

/// A kernel's gradients and updates.
class GradientCheck {
 public:
  /// `place`: of the kernel.
  explicit GradientCheck(Place place) : place_(std::move(place)) {}
  /// The kernel before and after the update, and the gradient that made it.
  void see(std::int64_t iteration, std::span<const float> before, std::span<const float> after,
           std::span<const float> gradient, Messages& out);

 private:
  Place place_;
  Window means_;
  std::vector<double> updates_;
};

/// Gradient of a regulariser over that of the loss, by norm, for one kernel.
class RegularizationCheck {
 public:
  /// `place`: of the kernel.
  explicit RegularizationCheck(Place place) : place_(std::move(place)) {}
  /// `ratio`: in an iteration, from 0.
  void see(std::int64_t iteration, double ratio, Messages& out);

 private:
  Place place_;
  Window ratios_;
};

}  // namespace neutra::fl_adapters::thedeepchecker
