#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "fl_adapters/messages.h"

/// TheDeepChecker (Ben Braiek and Khomh, TOSEM 2023), after its public behaviour:
/// docs/methods/thedeepchecker.md has every check, what can't be checked here and why, and what
/// `repaired` mends. Each check is a function or a class of its own over plain numbers.
namespace neutra::fl_adapters::thedeepchecker {

/// messages/thedeepchecker.json.
const MessageTable& message_table();

using Messages = std::vector<ToolMessage>;

/// What a message is about.
struct Place {
  int layer = -1;      ///< over config.layers
  std::string name;    ///< the tool's: "dense_1/kernel:0", "dense_1/relu"
  bool image = false;  ///< weights of more than two extents, outputs of more than one: "Conv."
  /// Layers that hold the activation function and the weights, where they are others; -1: `layer`.
  int activation_layer = -1, weight_layer = -1;
};

// ---- Before the training.

/// Summary of one feature or target, or of all of them together.
struct Column {
  double mean = 0, stddev = 0, min = 0, max = 0;
};
/// One for each of `width` columns of row-major values. Precondition: at least one row.
std::vector<Column> columns_of(std::span<const float> values, std::size_t width);
Messages check_features(const std::vector<Column>& columns, ToolVariant variant);

struct Targets {
  bool classification = true;
  std::size_t outputs = 1;      ///< that a prediction must have
  std::vector<double> shares;   ///< of the classes; empty for a regression
  std::vector<Column> columns;  ///< of a regression
  /// (exp(entropy of the shares) - 1) / (classes - 1): 1 for equal classes, 0 for a single one.
  double balance() const;
  bool balanced() const;
};
/// The class that a label names; 0 for what names none (negative, not finite, above a million).
std::size_t class_of(float label);
/// `one_hot`: whole numbers are classes (the tool gets them as vectors of zeros and a one).
Targets targets_of(std::span<const float> values, std::size_t width, bool classification,
                   bool one_hot);
Messages check_targets(const Targets& targets, ToolVariant variant);

/// Extents of a kernel, and the activation that its layer should be initialised for.
struct Kernel {
  Place place;
  std::int64_t fan_in = 1, fan_out = 1;
  std::string activation;
};
Messages check_initial_kernel(const Kernel& kernel, std::span<const float> values,
                              ToolVariant variant);
struct Bias {
  Place place;
  std::vector<float> values;
};
/// All biases of the model in order.
Messages check_initial_biases(const std::vector<Bias>& biases, const Targets& targets);
/// `loss`: of a batch with all classes; precondition: a classification.
Messages check_initial_loss(double loss, const Targets& targets);
/// `losses`: of one batch repeated 2, 4, 8, ... times.
Messages check_reduction(std::span<const double> losses);

// ---- A training on a few rows.

/// One value for each iteration: loss, and accuracy or error.
struct Fit {
  std::vector<double> losses, performance;
  bool classification = true;
};
Messages check_fit(const Fit& fit, ToolVariant variant = ToolVariant::kAsPublished);
/// Is the loss on zeros as good as that on the rows?
Messages check_data_dependence(std::span<const double> real, std::span<const double> zeroed);

/// Outputs of the model.
class OutputCheck {
 public:
  OutputCheck(Place place, Targets targets)
      : place_(std::move(place)), targets_(std::move(targets)) {}
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
  /// `neurons`: last extent.
  void see(std::int64_t iteration, std::span<const float> values, std::size_t neurons,
           Messages& out);

 private:
  Place place_;
  std::string activation_;
  bool check_range_;
  std::deque<std::vector<float>> buffer_;
};

/// Means of magnitudes, the latest last.
using Window = std::deque<double>;

/// A kernel or a bias after each update.
class WeightCheck {
 public:
  WeightCheck(Place place, bool bias, ToolVariant variant)
      : place_(std::move(place)), bias_(bias), variant_(variant) {}
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
  explicit GradientCheck(Place place) : place_(std::move(place)) {}
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
  explicit RegularizationCheck(Place place) : place_(std::move(place)) {}
  void see(std::int64_t iteration, double ratio, Messages& out);

 private:
  Place place_;
  Window ratios_;
};

/// The curve of the loss, and whether the performance goes with it.
class LossCheck {
 public:
  void see(std::int64_t iteration, double loss, double performance, Messages& out);

 private:
  std::vector<double> step_losses_, step_performances_, losses_, performances_;
  double least_ = std::numeric_limits<double>::infinity();
};

// ---- During the training of the program.

/// `train`, `inference`: outputs of one layer in both modes, row-major, for the same rows.
/// `dropouts`: layers that make the modes differ, and are to blame.
Messages check_modes(const Place& place, bool is_output, const std::set<int>& dropouts,
                     std::span<const float> train, std::span<const float> inference,
                     std::size_t rows, std::int64_t epoch, ToolVariant variant);
Messages check_mode_losses(const std::set<int>& dropouts, double train, double inference,
                           std::int64_t epoch);

// ---- What the checks measure.

/// 1 - share of values where the curve turns.
double smoothness(std::span<const double> curve);
/// Rakitianskaia and Engelbrecht's measure of saturation over the range 0 to 1: 0 for values in its
/// middle, 1 for values at its ends.
double saturation(std::vector<float> values);
/// Centred kernel alignment (linear, debiased) of two sets of features of the same rows (Kornblith
/// et al., 2019); NaN where one doesn't vary.
double similarity(std::span<const float> a, std::span<const float> b, std::size_t rows);
/// NumPy's, with linear interpolation.
double percentile(std::vector<float> values, double percent);
/// Pearson's; NaN where one doesn't vary.
double correlation(std::span<const double> a, std::span<const double> b);

}  // namespace neutra::fl_adapters::thedeepchecker
