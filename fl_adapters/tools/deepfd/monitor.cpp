#include "fl_adapters/tools/deepfd/monitor.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace neutra::fl_adapters::deepfd {
namespace {

double limit(const char* name) { return message_table().threshold(name); }

bool finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

double norm(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return std::sqrt(sum);
}

struct Moments {
  float mean, stddev;  ///< in single precision, as the tool compares them
};
Moments moments(std::span<const float> values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const float v : values) sum += v;
  const double mean = sum / n;
  for (const float v : values) squares += (v - mean) * (v - mean);
  return {static_cast<float>(mean), static_cast<float>(std::sqrt(squares / n))};
}

/// Largest change of a variable, as a share of its size before.
double largest_change(const Variables& now, const std::vector<std::vector<float>>& last) {
  double largest = 0;
  for (std::size_t i = 0; i < now.size(); ++i) {
    double change = 0;
    for (std::size_t k = 0; k < now[i].size(); ++k) {
      const double step = static_cast<double>(now[i][k]) - last[i][k];
      change += step * step;
    }
    const double before = norm(last[i]);
    if (change > 0) largest = std::max(largest, std::sqrt(change) / before);
  }
  return largest;
}

/// Did the accuracy go up and down often? The n-th local maximum is compared with the n-th local
/// minimum.
bool unstable(std::span<const Record> history) {
  std::vector<double> maxima, minima;
  for (std::size_t i = 1; i + 1 < history.size(); ++i) {
    const double before = history[i - 1].accuracy, here = history[i].accuracy,
                 after = history[i + 1].accuracy;
    if (here >= before && here >= after) maxima.push_back(here);
    if (here <= before && here <= after) minima.push_back(here);
  }
  int swings = 0;
  for (std::size_t i = 0; i < std::min(maxima.size(), minima.size()); ++i) {
    swings += maxima[i] - minima[i] >= limit("unstable_gap");
  }
  return swings >= limit("unstable_share") * static_cast<double>(history.size());
}

/// Did the training loss fall while the validation loss rose, at the last step that tells?
bool turns_bad(std::span<const Record> history) {
  for (std::size_t i = history.size() - 1; i > 0; --i) {
    const Record &before = history[i - 1], &after = history[i];
    if (after.loss - before.loss >= -limit("turn_bad")) return false;
    if (before.val_loss && after.val_loss) {
      return *after.val_loss - *before.val_loss > limit("turn_bad");
    }
  }
  return false;
}

/// Largest and last value, and largest rise, of one accuracy.
struct Course {
  double largest, rise = 0;
};
template <typename Value>
Course course(std::span<const Record> history, Value value) {
  Course result{value(history.front())};
  for (std::size_t i = 1; i < history.size(); ++i) {
    result.largest = std::max(result.largest, value(history[i]));
    result.rise = std::max(result.rise, value(history[i]) - value(history[i - 1]));
  }
  return result;
}

}  // namespace

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("deepfd");
  return table;
}

std::string_view series_name(std::size_t series) {
  static constexpr std::string_view kNames[kAllSeries] = {"not_converge",
                                                          "unstable_loss",
                                                          "nan_loss",
                                                          "test_not_well",
                                                          "test_turn_bad",
                                                          "sc_accuracy",
                                                          "died_relu",
                                                          "vanish_gradient",
                                                          "explode_gradient",
                                                          "nan_gradient",
                                                          "large_weight",
                                                          "nan_weight",
                                                          "weight_change_little",
                                                          "decrease_acc",
                                                          "increase_loss",
                                                          "cons_mean_weight",
                                                          "cons_std_weight",
                                                          "nan_acc",
                                                          "loss",
                                                          "acc",
                                                          "val_loss",
                                                          "val_acc"};
  return kNames[series];
}

void check_gradients(std::span<const Variables> layers, Row& row) {
  std::size_t zeros = 0, size = 0;
  for (const Variables& layer : layers) {
    for (const std::span<const float> gradient : layer) {
      if (!finite(gradient)) {
        row[kNanGradient] = 1;
        return;
      }
      zeros += static_cast<std::size_t>(std::count(gradient.begin(), gradient.end(), 0.0f));
      size += gradient.size();
    }
  }
  if (layers.empty()) return;
  const double first = norm(layers.front().front()), last = norm(layers.back().front());
  const double ratio = first / last;  // NaN or infinite: no or every comparison with a limit holds
  row[kVanishGradient] += ratio < limit("gradient_ratio_low") && first < limit("gradient_norm_low");
  row[kExplodeGradient] += ratio > limit("gradient_ratio_high");
  row[kDiedRelu] +=
      static_cast<double>(zeros) >= limit("zero_gradients") * static_cast<double>(size);
}

void check_weights(const Variables& weights, const std::vector<std::vector<float>>& last,
                   ToolVariant variant, Row& row) {
  if (!std::all_of(weights.begin(), weights.end(), finite)) {
    row[kNanWeight] = 1;
    return;
  }
  const double largest = limit("large_weight");
  row[kLargeWeight] += std::any_of(weights.begin(), weights.end(), [&](const auto& variable) {
    return std::any_of(variable.begin(), variable.end(),
                       [&](float w) { return std::abs(w) > largest; });
  });
  if (last.empty()) return;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const Moments now = moments(weights[i]), before = moments(last[i]);
    row[kConsMeanWeight] += now.mean == before.mean;
    row[kConsStdWeight] += now.stddev == before.stddev;
  }
  // The published tool has the threshold, but never looks.
  if (variant == ToolVariant::kRepaired) {
    row[kWeightChangeLittle] += largest_change(weights, last) < limit("weight_change");
  }
}

void check_history(std::span<const Record> history, std::int64_t epochs, Row& row) {
  if (history.empty()) return;
  const Record& last = history.back();
  row[kLoss] = last.loss;
  row[kAcc] = last.accuracy;
  row[kValLoss] = last.val_loss.value_or(0);
  row[kValAcc] = last.val_accuracy.value_or(0);

  // A list that starts without a value has none for the tool.
  const bool validated = history.front().val_loss && history.front().val_accuracy;
  const auto any = [&](auto broken) { return std::any_of(history.begin(), history.end(), broken); };
  const auto bad = [&](const std::optional<double>& v) {
    return validated && v && !std::isfinite(*v);
  };
  if (any([&](const Record& r) { return !std::isfinite(r.loss) || bad(r.val_loss); }) ||
      (last.val_loss && *last.val_loss >= limit("loss"))) {
    ++row[kNanLoss];
    return;
  }
  if (any([&](const Record& r) { return !std::isfinite(r.accuracy) || bad(r.val_accuracy); })) {
    ++row[kNanAcc];
    return;
  }
  if (static_cast<double>(history.size()) < limit("judgment_point") * static_cast<double>(epochs)) {
    return;
  }
  if (last.val_accuracy) {
    const double gap = last.accuracy - *last.val_accuracy;
    const bool low = last.accuracy <= limit("gap_accuracy");
    row[kTestNotWell] += gap >= limit(low ? "gap_low" : "gap_high");
  }
  row[kTestTurnBad] = turns_bad(history);
  if (unstable(history)) row[kUnstableLoss] = 1;
  if (validated) {
    const Course train = course(history, [](const Record& r) { return r.accuracy; });
    const Course test = course(history, [](const Record& r) {
      return r.val_accuracy.value_or(-std::numeric_limits<double>::infinity());
    });
    const double satisfied = limit("satisfied_accuracy"), stuck = limit("stuck");
    if (train.largest < satisfied || test.largest < satisfied) row[kNotConverge] = 1;
    if (train.rise < stuck && test.rise < stuck) row[kScAccuracy] = 1;
  }
  if (history.size() > 1) {
    const Record& before = history[history.size() - 2];
    row[kIncreaseLoss] += last.loss > before.loss;
    row[kDecreaseAcc] += last.accuracy < before.accuracy;
  }
}

void Monitor::batch_end(double loss, double accuracy) {
  // Repaired: the history is that of the epochs, whose validation values the rules are about.
  if (variant_ == ToolVariant::kAsPublished) history_.push_back({loss, accuracy, {}, {}});
}

void Monitor::sample(std::span<const training::LayerView> layers) {
  std::vector<Variables> gradients;
  Variables weights;
  for (const training::LayerView& layer : layers) {
    weights.insert(weights.end(), layer.weights.begin(), layer.weights.end());
    if (!layer.gradients.empty()) gradients.push_back(layer.gradients);
  }
  check_gradients(gradients, row_);
  check_weights(weights, last_, variant_, row_);
  check_history(history_, epochs_, row_);
  last_.clear();
  for (const auto& variable : weights) last_.emplace_back(variable.begin(), variable.end());
  rows_.push_back(row_);
}

std::string_view to_string(ToolVariant variant) {
  return variant == ToolVariant::kRepaired ? "repaired" : "as-published";
}

const std::vector<std::string>& feature_names(ToolVariant variant) {
  static const auto names = [](bool repaired) {
    std::vector<std::string> list{"ft_val_loss", "ft_val_accuracy", "ft_loss", "ft_accuracy"};
    for (std::size_t s = 0; s < (repaired ? kAllSeries : kNamedSeries); ++s) {
      for (const char* statistic : {"mean", "std", "skew", "median", "var", "sem", "max", "min"}) {
        list.push_back("ft_" + std::string(series_name(s)) + "_" + statistic);
      }
    }
    return list;
  };
  static const std::vector<std::string> published = names(false), repaired = names(true);
  return variant == ToolVariant::kRepaired ? repaired : published;
}

std::array<double, 8> statistics_of(std::vector<double> values) {
  const auto n = static_cast<double>(values.size());
  if (values.empty()) return {};
  std::sort(values.begin(), values.end());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double m2 = 0, m3 = 0;
  for (const double v : values) {
    m2 += (v - mean) * (v - mean);
    m3 += (v - mean) * (v - mean) * (v - mean);
  }
  const double variance = n > 1 ? m2 / (n - 1) : 0;
  // pandas: adjusted Fisher-Pearson; sums below 1e-14 are rounding.
  const bool skewed = n > 2 && m2 >= 1e-14 && std::abs(m3) >= 1e-14;
  const double skew = skewed ? n * std::sqrt(n - 1) / (n - 2) * m3 / std::pow(m2, 1.5) : 0;
  const std::size_t half = values.size() / 2;
  const double median =
      values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return {mean,     std::sqrt(variance),     skew,          median,
          variance, std::sqrt(variance / n), values.back(), values.front()};
}

std::vector<float> features(std::span<const Row> rows, const Finals& finals, ToolVariant variant) {
  std::vector<float> result;
  const auto add = [&](double value) {
    const auto narrow = static_cast<float>(value);
    result.push_back(std::isfinite(narrow) ? narrow : 0);
  };
  for (const double value : finals) add(value);
  // As published, a table of 22 columns has 18 names: its reader takes the first four columns for
  // row labels, so each name gets the series four places on.
  const bool shifted = variant == ToolVariant::kAsPublished;
  for (std::size_t s = shifted ? kAllSeries - kNamedSeries : 0; s < kAllSeries; ++s) {
    std::vector<double> values;
    for (const Row& row : rows) values.push_back(std::isnan(row[s]) ? 0 : row[s]);
    for (const double value : statistics_of(std::move(values))) add(value);
  }
  return result;
}

void Watcher::begin(const training::DataView& data, training::Probe&) {
  monitors_.clear();
  for (const ToolVariant variant : variants_) monitors_.emplace_back(data.epochs, variant);
  const std::int64_t width =
      std::accumulate(data.row.begin(), data.row.end(), std::int64_t{1}, std::multiplies<>());
  const std::int64_t rows = static_cast<std::int64_t>(data.training.size()) / width;
  steps_per_epoch_ = (rows + data.batch_size - 1) / data.batch_size;
  first_batch_.resize(static_cast<std::size_t>(std::min(rows, data.batch_size)));
  std::iota(first_batch_.begin(), first_batch_.end(), std::int64_t{0});
}

void Watcher::batch_end(const training::BatchEvent& event) {
  for (Monitor& monitor : monitors_) monitor.batch_end(event.loss, event.logs.at("accuracy"));
  const std::int64_t batch = event.step - event.epoch * steps_per_epoch_;
  if (batch % static_cast<std::int64_t>(limit("sample_every")) != 0) return;
  const training::Probe::Answer answer = event.probe->backward(first_batch_);
  for (Monitor& monitor : monitors_) monitor.sample(answer.layers);
}

void Watcher::epoch_end(const training::EpochEvent& event) {
  const auto& logs = event.logs;
  finals_ = {logs.at("val_loss"), logs.at("val_accuracy"), logs.at("loss"), logs.at("accuracy")};
  for (Monitor& monitor : monitors_) {
    monitor.epoch_end(
        {logs.at("loss"), logs.at("accuracy"), logs.at("val_loss"), logs.at("val_accuracy")});
  }
}

}  // namespace neutra::fl_adapters::deepfd
