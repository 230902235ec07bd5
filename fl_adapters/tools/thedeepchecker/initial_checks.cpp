#include "fl_adapters/tools/thedeepchecker/initial_checks.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "base/json.h"
#include "base/numbers.h"
#include "training/observer.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

/// Positions in ascending order of the values.
template <typename T>
std::vector<std::size_t> order_of(const std::vector<T>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  return order;
}

bool sums_to_zero(const Bias& bias) {
  return std::accumulate(bias.values.begin(), bias.values.end(), 0.0) == 0;
}

}  // namespace

Messages check_initial_kernel(const Kernel& kernel, std::span<const float> values,
                              ToolVariant variant) {
  if (variant == ToolVariant::kRepaired && values.size() == 1) return {};
  const training::Statistics summary = training::statistics(values);
  const double variance = summary.stddev * summary.stddev;
  const Place& place = kernel.place;
  if (variance <= limit("constant_weight")) return {make_message("poor_init", place, {place.name})};

  const auto in = static_cast<double>(kernel.fan_in), out = static_cast<double>(kernel.fan_out);
  const double lecun = 1 / in, he = 2 / in, glorot = 2 / (in + out);
  const auto fits = [&](double wanted) {
    return std::max(variance / wanted, wanted / variance) <= limit("f_critical");
  };
  // The published messages measure the error against another recipe than the one they recommend.
  const bool published = variant == ToolVariant::kAsPublished;
  const auto recommend = [&](const char* code, double wanted, double named) {
    const double error = std::abs(summary.stddev - std::sqrt(published ? named : wanted));
    return Messages{make_message(code, place, {place.name, python_repr(error)})};
  };
  if (kernel.activation == "relu" && !fits(he)) return recommend("need_he", he, lecun);
  if (kernel.activation == "tanh" && !fits(glorot)) return recommend("need_glorot", glorot, he);
  if (kernel.activation == "sigmoid" && !fits(lecun)) return recommend("need_lecun", lecun, glorot);
  if (!fits(lecun) && !fits(he) && !fits(glorot)) {
    return {make_message("need_init_well", place, {place.name})};
  }
  return {};
}

Messages check_initial_biases(const std::vector<Bias>& biases, const Targets& targets) {
  if (biases.empty()) return {make_message("need_bias")};
  const Bias& last = biases.back();
  if (targets.classification && !targets.balanced()) {
    if (sums_to_zero(last)) return {make_message("last_bias", last.place)};
    if (last.values.size() == targets.shares.size() &&
        order_of(last.values) != order_of(targets.shares)) {
      return {make_message("ineff_bias_cls", last.place)};
    }
    return {};
  }
  Messages messages;
  if (!targets.classification) {
    for (std::size_t i = 0; i < std::min(last.values.size(), targets.columns.size()); ++i) {
      const Column& column = targets.columns[i];
      if (column.stddev / column.mean <= limit("constant_coefficient") &&
          !almost_equal(last.values[i], column.mean)) {
        record(messages, make_message("ineff_bias_regr", last.place));
      }
    }
    return messages;
  }
  std::set<int> layers;
  for (const Bias& bias : biases) {
    if (!sums_to_zero(bias)) layers.insert(bias.place.layer);
  }
  if (!layers.empty()) messages.push_back(make_message("zero_bias", layers));
  return messages;
}

Messages check_initial_loss(double loss, const Targets& targets) {
  const double expected = std::log(static_cast<double>(targets.shares.size()));
  const double error = std::abs(loss - expected);
  if (!(error >= limit("initial_loss_deviation") * expected)) return {};
  return {make_message("poor_init_loss", kNowhere, {rounded(error / expected)},
                       "loss " + rounded(loss) + ", expected " + rounded(expected))};
}

Messages check_reduction(std::span<const double> losses) {
  if (losses.size() < 2) return {};
  for (std::size_t i = 1; i < losses.size(); ++i) {
    if (std::nearbyint(losses[i] / losses[i - 1]) != limit("initial_loss_growth")) return {};
  }
  return {make_message("poor_reduction_loss")};
}

}  // namespace neutra::fl_adapters::thedeepchecker
