#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/data_checks.h"
#include "fl_adapters/tools/thedeepchecker/messages.h"

/// During a training on a few rows: outputs of the model and of its activation functions.
namespace neutra::fl_adapters::thedeepchecker {

/// Outputs of the model.
class OutputCheck {
 public:
  /// `place`: of the last layer; `targets`: what its outputs must be able to reach.
  OutputCheck(Place place, Targets targets)
      : place_(std::move(place)), targets_(std::move(targets)) {}
  /// After each iteration, from 0: outputs for all rows, row-major, `width` of each row.
  void see(std::int64_t iteration, std::span<const float> outputs, std::size_t width,
           Messages& out);

 private:
  Messages judge(std::span<const float> outputs, std::size_t width);
  /// Counts down while `holds` is false; true: long enough.
  static bool missing(bool holds, int& patience);
  Place place_;
  Targets targets_;
  std::vector<bool> varies_, large_, negative_;  ///< seen so far, by output
  int varies_left_ = -1, large_left_ = -1, negative_left_ = -1;
};

/// Values that an activation function may have.
std::pair<double, double> bounds_of(const std::string& activation);

/// Outputs of a layer's activation function.
class ActivationCheck {
 public:
  /// `activation`: that the tool takes the function for. `check_range`: are values compared with
  /// what it may have? The shipped settings say no.
  ActivationCheck(Place place, std::string activation, bool check_range = checks_range())
      : place_(std::move(place)), activation_(std::move(activation)), check_range_(check_range) {}
  static bool checks_range();  ///< as the settings say
  /// After each iteration, from 0. `neurons`: last extent of the values.
  void see(std::int64_t iteration, std::span<const float> values, std::size_t neurons,
           Messages& out);

 private:
  Place place_;
  std::string activation_;
  bool check_range_;
  std::deque<std::vector<float>> buffer_;
};

}  // namespace neutra::fl_adapters::thedeepchecker
