#include "fl_adapters/tools/thedeepchecker/output_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/json.h"
#include "base/numbers.h"
#include "fl_adapters/tools/thedeepchecker/measures.h"
#include "training/observer.h"

namespace neutra::fl_adapters::thedeepchecker {

bool OutputCheck::missing(bool holds, int& patience) {
  const int full = static_cast<int>(limit("patience"));
  if (holds || patience < 0) patience = full;
  return !holds && --patience <= 0;
}

void OutputCheck::see(std::int64_t iteration, std::span<const float> outputs, std::size_t width,
                      Messages& out) {
  if (varies_.empty()) {
    varies_.resize(width);
    large_.resize(width);
    negative_.resize(width);
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const std::size_t column = i % width;
    varies_[column] = varies_[column] || outputs[i] != outputs[column];
    large_[column] = large_[column] || std::abs(outputs[i]) > 1;
    negative_[column] = negative_[column] || outputs[i] < 0;
  }
  if (iteration % static_cast<std::int64_t>(limit("period")) != 0) return;
  for (ToolMessage& message : judge(outputs, width)) add(out, std::move(message), iteration);
}

Messages OutputCheck::judge(std::span<const float> outputs, std::size_t width) {
  const training::Statistics summary = training::statistics(outputs);
  if (summary.infinite > 0) return {make_message("out_inf", place_)};
  if (summary.nan > 0) return {make_message("out_nan", place_)};
  Messages messages;
  const auto all = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), false) == flags.end();
  };
  if (missing(all(varies_), varies_left_)) messages.push_back(make_message("out_cons", place_));
  if (targets_.classification) {
    bool valid = summary.min >= 0;
    if (width == 1) {
      valid = valid && summary.max <= 1;
    } else {
      valid = valid && width == targets_.outputs;
      for (std::size_t row = 0; row < outputs.size(); row += width) {
        double sum = 0;
        for (std::size_t i = 0; i < width; ++i) sum += outputs[row + i];
        valid = valid && sum > limit("output_sum_low") && sum < limit("output_sum_high");
      }
    }
    if (!valid) messages.push_back(make_message("output_invalid", place_));
    return messages;
  }
  if (width != targets_.outputs) {
    messages.push_back(make_message("output_invalid", place_));
    return messages;
  }
  bool large = true, negative = true;
  for (std::size_t i = 0; i < width; ++i) {
    // The tool looks at the largest target only, not at the least.
    large = large && (large_[i] || !(std::abs(targets_.columns[i].max) > 1));
    negative = negative && (negative_[i] || !(targets_.columns[i].min < 0));
  }
  if (missing(large, large_left_)) {
    messages.push_back(make_message("lack_of_magnitude_express", place_));
  }
  if (missing(negative, negative_left_)) {
    messages.push_back(make_message("lack_of_negative_express", place_));
  }
  return messages;
}

std::pair<double, double> bounds_of(const std::string& activation) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (activation == "relu") return {0, kInfinity};
  if (activation == "relu6") return {0, 6};
  if (activation == "elu") return {-1, kInfinity};
  if (activation == "sigmoid") return {0, 1};
  if (activation == "tanh") return {-1, 1};
  return {-kInfinity, kInfinity};
}

bool ActivationCheck::checks_range() { return limit("range_check") != 0; }

void ActivationCheck::see(std::int64_t iteration, std::span<const float> values,
                          std::size_t neurons, Messages& out) {
  buffer_.emplace_back(values.begin(), values.end());
  if (buffer_.size() > count_limit("buffer")) buffer_.pop_front();
  if (!is_due(iteration)) return;
  const auto say = [&](const std::string& code, const std::vector<std::string>& texts) {
    add(out, make_message(code, place_, texts), iteration);
  };
  std::vector<float> all;
  for (const std::vector<float>& batch : buffer_) all.insert(all.end(), batch.begin(), batch.end());
  const auto [low, high] = bounds_of(activation_);
  if (check_range_ &&
      std::any_of(all.begin(), all.end(), [&, low = low](float v) { return v < low; })) {
    say("act_ltn", {place_.name, python_repr(low)});
  }
  if (check_range_ &&
      std::any_of(all.begin(), all.end(), [&, high = high](float v) { return v > high; })) {
    say("act_gtn", {place_.name, python_repr(high)});
  }
  const training::Statistics now = training::statistics(values);
  if (now.infinite > 0) return say("act_inf", {place_.name});
  if (now.nan > 0) return say("act_nan", {place_.name});
  const training::Statistics recent = training::statistics(all);
  if (recent.nan > 0) return;  // of iterations before: said then

  const bool bounded = activation_ == "sigmoid" || activation_ == "tanh";
  std::size_t bad = 0;
  std::vector<float> neuron(all.size() / neurons);
  for (std::size_t i = 0; i < neurons; ++i) {
    for (std::size_t row = 0; row < neuron.size(); ++row) {
      const float value = all[row * neurons + i];
      neuron[row] = bounded ? value : std::abs(value);
    }
    bad += bounded ? saturation(neuron) > limit("saturation")
                   : percentile(neuron, limit("dead_percentile")) < limit("dead_activation");
  }
  if (static_cast<double>(bad) / static_cast<double>(neurons) >
      limit(bounded ? "saturated_neurons" : "dead_neurons")) {
    say(kind(place_, bounded ? "act_sat" : "act_dead"),
        {std::to_string(bad), std::to_string(neurons), place_.name});
  }

  const double stddev = recent.stddev;
  const double least = limit("activation_std_low"), most = limit("activation_std_high");
  if (stddev >= least && stddev <= most) return;
  const double ratio = stddev < least ? least / stddev : stddev / most;
  if (ratio * ratio > limit("f_critical")) {
    say(kind(place_, "act_unstable"),
        {place_.name, python_repr(stddev), python_repr(least), python_repr(most)});
  }
}

}  // namespace neutra::fl_adapters::thedeepchecker
