#include "fl_adapters/thedeepchecker.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "base/json.h"
#include "base/numbers.h"
#include "base/words.h"
#include "evaluators/rank_tests.h"
#include "fl_adapters/embedded.h"
#include "training/observer.h"

namespace neutra::fl_adapters::thedeepchecker {

const MessageTable& message_table() {
  static const MessageTable table(embedded::thedeepchecker_messages,
                                  "fl_adapters/messages/thedeepchecker.json");
  return table;
}

namespace {

double limit(const char* name) { return message_table().threshold(name); }
std::size_t count_limit(const char* name) { return static_cast<std::size_t>(limit(name)); }

/// A number as the tool prints it: rounded to three digits.
std::string rounded(double value) {
  if (!std::isfinite(value)) return python_repr(value);
  char text[512];
  std::snprintf(text, sizeof text, "%.3f", value);
  return python_repr(std::stod(text));
}
/// A threshold as its file has it.
std::string plain(double value) {
  if (value == std::floor(value) && std::abs(value) < 1e15) {
    return std::to_string(static_cast<std::int64_t>(value));
  }
  return shortest(value);
}

bool belongs_to_layers(const std::string& type) {
  static const std::set<std::string> kOthers{"CPP", "HBS", "HDB", "HLR", "HNE", "IWS",
                                             "LCH", "OCG", "OCH", "RCP", "TAN", "TCL",
                                             "TCO", "TRD", "TUD", "VRM"};
  return !kOthers.contains(type);
}

const std::set<int> kNowhere;

ToolMessage said(const std::string& code, std::set<int> layers = {},
                 const std::vector<std::string>& values = {}, const std::string& detail = "") {
  ToolMessage message = message_table().message(code, std::move(layers), detail);
  message.text = with_values(message.text, values);
  for (program::FaultEntry& fault : message.faults) {
    if (!belongs_to_layers(fault.type)) fault.layers.clear();
  }
  return message;
}
ToolMessage said(const std::string& code, const Place& place,
                 const std::vector<std::string>& values = {}) {
  ToolMessage message = said(code, std::set<int>{place.layer}, values);
  for (program::FaultEntry& fault : message.faults) {
    if (fault.type == "ACH" && place.activation_layer >= 0) fault.layers = {place.activation_layer};
    if (fault.type == "WCI" && place.weight_layer >= 0) fault.layers = {place.weight_layer};
  }
  return message;
}
/// The code for a convolution or for a fully connected layer.
std::string kind(const Place& place, const char* code) {
  return (place.image ? "conv_" : "fc_") + std::string(code);
}

void add(Messages& out, ToolMessage message, std::int64_t iteration) {
  message.epochs = {iteration};
  out.push_back(std::move(message));
}

bool almost_equal(double a, double b) { return std::abs(a - b) <= limit("almost"); }
bool is_normalized(const Column& column) {
  return almost_equal(column.max, limit("normalized_max")) &&
         (almost_equal(column.min, limit("normalized_min_zero")) ||
          almost_equal(column.min, limit("normalized_min_minus")));
}
bool is_standardized(const Column& column) {
  return almost_equal(column.stddev, 1) && almost_equal(column.mean, 0);
}

/// Features or targets. The message of each kind has all its columns in the detail.
Messages check_columns(const std::vector<Column>& columns, const std::string& one,
                       double constant_up_to, bool constant_is_unnormalized, bool stops) {
  std::vector<std::size_t> constant, unnormalized;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const Column& column = columns[i];
    if (column.stddev <= constant_up_to) {
      (constant_is_unnormalized ? unnormalized : constant).push_back(i);
    } else if (is_normalized(column)) {
      if (stops) break;
    } else if (!is_standardized(column)) {
      unnormalized.push_back(i);
    }
  }
  Messages messages;
  const auto say = [&](const std::string& what, const std::vector<std::size_t>& which) {
    if (which.empty()) return;
    if (columns.size() > 1) {
      messages.push_back(said(one + "_" + what, kNowhere, {std::to_string(which.front())},
                              std::to_string(which.size()) + " of " +
                                  std::to_string(columns.size()) + ": " +
                                  ranges({which.begin(), which.end()})));
      return;
    }
    const Column& column = columns.front();
    messages.push_back(said(one + "s_" + what, kNowhere, {},
                            "from " + shortest(column.min) + " to " + shortest(column.max) +
                                ", mean " + rounded(column.mean) + ", standard deviation " +
                                rounded(column.stddev)));
  };
  say("constant", constant);
  say("unnormalized", unnormalized);
  return messages;
}

}  // namespace

std::vector<Column> columns_of(std::span<const float> values, std::size_t width) {
  std::vector<Column> columns(width);
  const double rows = static_cast<double>(values.size() / width);
  for (std::size_t i = 0; i < width; ++i) columns[i].min = columns[i].max = values[i];
  for (std::size_t i = 0; i < values.size(); ++i) {
    Column& column = columns[i % width];
    column.mean += values[i] / rows;
    column.min = std::min<double>(column.min, values[i]);
    column.max = std::max<double>(column.max, values[i]);
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    Column& column = columns[i % width];
    column.stddev += (values[i] - column.mean) * (values[i] - column.mean) / rows;
  }
  for (Column& column : columns) column.stddev = std::sqrt(column.stddev);
  return columns;
}

Messages check_features(const std::vector<Column>& columns, ToolVariant variant) {
  return check_columns(columns, "feature", 0, false, variant == ToolVariant::kAsPublished);
}

double Targets::balance() const {
  if (shares.size() < 2) return 0;
  double total = 0, entropy = 0;
  for (const double share : shares) total += share;
  for (const double share : shares) {
    if (share > 0) entropy -= share / total * std::log(share / total);
    if (share < 0) return std::numeric_limits<double>::quiet_NaN();  // as the tool: no classes
  }
  return (std::exp(entropy) - 1) / static_cast<double>(shares.size() - 1);
}
bool Targets::balanced() const { return !(balance() < limit("labels_balance")); }

std::size_t class_of(float label) {
  constexpr float kMost = 1e6f;  // as preprocessing's one_hot
  return label >= 0 && label <= kMost ? static_cast<std::size_t>(std::round(label)) : 0;
}

Targets targets_of(std::span<const float> values, std::size_t width, bool classification,
                   bool one_hot) {
  Targets targets;
  targets.classification = classification;
  targets.outputs = width;
  const double rows = static_cast<double>(values.size() / width);
  if (!classification) {
    targets.columns = columns_of(values, width);
  } else if (one_hot && width == 1) {
    std::map<std::size_t, double> counts;
    std::size_t classes = 2;
    for (const float value : values) {
      const std::size_t label = class_of(value);
      counts[label] += 1 / rows;
      classes = std::max(classes, label + 1);
    }
    targets.shares.resize(classes);
    for (const auto& [label, share] : counts) targets.shares[label] = share;
    targets.outputs = classes;
  } else {
    for (const Column& column : columns_of(values, width)) targets.shares.push_back(column.mean);
    if (width == 1) targets.shares.insert(targets.shares.begin(), 1 - targets.shares.front());
  }
  return targets;
}

Messages check_targets(const Targets& targets, ToolVariant variant) {
  if (targets.classification) {
    if (targets.balanced()) return {};
    return {said("unbalanced_labels", kNowhere, {}, "balance " + rounded(targets.balance()))};
  }
  const bool published = variant == ToolVariant::kAsPublished;
  return check_columns(targets.columns, "target", limit("almost"), published, published);
}

Messages check_initial_kernel(const Kernel& kernel, std::span<const float> values,
                              ToolVariant variant) {
  if (variant == ToolVariant::kRepaired && values.size() == 1) return {};
  const training::Statistics summary = training::statistics(values);
  const double variance = summary.stddev * summary.stddev;
  const Place& place = kernel.place;
  if (variance <= limit("constant_weight")) return {said("poor_init", place, {place.name})};

  const auto in = static_cast<double>(kernel.fan_in), out = static_cast<double>(kernel.fan_out);
  const double lecun = 1 / in, he = 2 / in, glorot = 2 / (in + out);
  const auto fits = [&](double wanted) {
    return std::max(variance / wanted, wanted / variance) <= limit("f_critical");
  };
  // The published messages measure the error against another recipe than the one they recommend.
  const bool published = variant == ToolVariant::kAsPublished;
  const auto recommend = [&](const char* code, double wanted, double named) {
    const double error = std::abs(summary.stddev - std::sqrt(published ? named : wanted));
    return Messages{said(code, place, {place.name, python_repr(error)})};
  };
  if (kernel.activation == "relu" && !fits(he)) return recommend("need_he", he, lecun);
  if (kernel.activation == "tanh" && !fits(glorot)) return recommend("need_glorot", glorot, he);
  if (kernel.activation == "sigmoid" && !fits(lecun)) return recommend("need_lecun", lecun, glorot);
  if (!fits(lecun) && !fits(he) && !fits(glorot)) {
    return {said("need_init_well", place, {place.name})};
  }
  return {};
}

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

Messages check_initial_biases(const std::vector<Bias>& biases, const Targets& targets) {
  if (biases.empty()) return {said("need_bias")};
  const Bias& last = biases.back();
  if (targets.classification && !targets.balanced()) {
    if (sums_to_zero(last)) return {said("last_bias", last.place)};
    if (last.values.size() == targets.shares.size() &&
        order_of(last.values) != order_of(targets.shares)) {
      return {said("ineff_bias_cls", last.place)};
    }
    return {};
  }
  Messages messages;
  if (!targets.classification) {
    for (std::size_t i = 0; i < std::min(last.values.size(), targets.columns.size()); ++i) {
      const Column& column = targets.columns[i];
      if (column.stddev / column.mean <= limit("constant_coefficient") &&
          !almost_equal(last.values[i], column.mean)) {
        record(messages, said("ineff_bias_regr", last.place));
      }
    }
    return messages;
  }
  std::set<int> layers;
  for (const Bias& bias : biases) {
    if (!sums_to_zero(bias)) layers.insert(bias.place.layer);
  }
  if (!layers.empty()) messages.push_back(said("zero_bias", layers));
  return messages;
}

Messages check_initial_loss(double loss, const Targets& targets) {
  const double expected = std::log(static_cast<double>(targets.shares.size()));
  const double error = std::abs(loss - expected);
  if (!(error >= limit("initial_loss_deviation") * expected)) return {};
  return {said("poor_init_loss", kNowhere, {rounded(error / expected)},
               "loss " + rounded(loss) + ", expected " + rounded(expected))};
}

Messages check_reduction(std::span<const double> losses) {
  if (losses.size() < 2) return {};
  for (std::size_t i = 1; i < losses.size(); ++i) {
    if (std::nearbyint(losses[i] / losses[i - 1]) != limit("initial_loss_growth")) return {};
  }
  return {said("poor_reduction_loss")};
}

namespace {

/// The message for a loss that isn't a number.
std::vector<ToolMessage> check_number(double loss) {
  if (std::isnan(loss)) return {said("nan_loss")};
  if (std::isinf(loss)) return {said("inf_loss")};
  return {};
}

}  // namespace

Messages check_fit(const Fit& fit, ToolVariant variant) {
  for (std::size_t i = 0; i < fit.losses.size(); ++i) {
    Messages messages = check_number(fit.losses[i]);
    if (messages.empty()) continue;
    messages.push_back(said("underfitting_single_batch"));
    for (ToolMessage& message : messages) message.epochs = {static_cast<std::int64_t>(i)};
    return messages;
  }
  if (fit.losses.empty()) return {};
  Messages messages;
  const auto [worst, best] = std::minmax_element(fit.performance.begin(), fit.performance.end());
  if (fit.classification ? 1 - *best > limit("fit_mislabeled") : *worst > limit("fit_error")) {
    messages.push_back(said("underfitting_single_batch", kNowhere, {},
                            (fit.classification ? "best accuracy " : "least error ") +
                                rounded(fit.classification ? *best : *worst)));
  }
  const double least = *std::min_element(fit.losses.begin(), fit.losses.end());
  // The published rule takes every negative loss for one near zero.
  const bool below = least < -limit("fit_absolute_loss");
  if (below && variant == ToolVariant::kRepaired) return messages;
  if (least <= limit("fit_absolute_loss") ||
      (least <= limit("fit_loss") && smoothness(fit.losses) > limit("fit_smoothness"))) {
    messages.push_back(
        said("zero_loss", kNowhere, {},
             "least loss " + shortest(least) +
                 (below ? ", far below zero: the rule asks only for a small one" : "")));
  }
  return messages;
}

Messages check_data_dependence(std::span<const double> real, std::span<const double> zeroed) {
  const auto last = [](std::span<const double> losses) {
    return losses.last(std::min(losses.size(), count_limit("fit_last_losses")));
  };
  const evaluators::RankTest test = evaluators::mann_whitney_u(last(real), last(zeroed));
  if (test.p <= limit("fit_alpha")) return {};
  return {said("data_dep", kNowhere, {}, "p " + rounded(test.p))};
}

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
  if (summary.infinite > 0) return {said("out_inf", place_)};
  if (summary.nan > 0) return {said("out_nan", place_)};
  Messages messages;
  const auto all = [](const std::vector<bool>& flags) {
    return std::find(flags.begin(), flags.end(), false) == flags.end();
  };
  if (missing(all(varies_), varies_left_)) messages.push_back(said("out_cons", place_));
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
    if (!valid) messages.push_back(said("output_invalid", place_));
    return messages;
  }
  if (width != targets_.outputs) {
    messages.push_back(said("output_invalid", place_));
    return messages;
  }
  bool large = true, negative = true;
  for (std::size_t i = 0; i < width; ++i) {
    // The tool looks at the largest target only, not at the least.
    large = large && (large_[i] || !(std::abs(targets_.columns[i].max) > 1));
    negative = negative && (negative_[i] || !(targets_.columns[i].min < 0));
  }
  if (missing(large, large_left_)) messages.push_back(said("lack_of_magnitude_express", place_));
  if (missing(negative, negative_left_)) {
    messages.push_back(said("lack_of_negative_express", place_));
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
  if (static_cast<double>(iteration) < limit("start") ||
      iteration % static_cast<std::int64_t>(limit("period")) != 0) {
    return;
  }
  const auto say = [&](const std::string& code, const std::vector<std::string>& texts) {
    add(out, said(code, place_, texts), iteration);
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

namespace {

void remember(Window& window, double value) {
  window.push_back(value);
  if (window.size() > count_limit("buffer")) window.pop_front();
}

/// Ratios of successive values in the last `window`; empty while there are too few.
std::vector<double> growth(const Window& values) {
  const std::size_t window = count_limit("window");
  std::vector<double> ratios;
  if (values.size() < window) return ratios;
  for (std::size_t i = values.size() - window + 1; i < values.size(); ++i) {
    ratios.push_back(values[i] / values[i - 1]);
  }
  return ratios;
}

bool all_at_least(const std::vector<double>& values, double bound) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [&](double v) { return v >= bound; });
}
bool all_at_most(const std::vector<double>& values, double bound) {
  return !values.empty() &&
         std::all_of(values.begin(), values.end(), [&](double v) { return v <= bound; });
}
double greatest(const std::vector<double>& values) {
  return *std::max_element(values.begin(), values.end());
}

bool is_due(std::int64_t iteration) {
  return static_cast<double>(iteration) >= limit("start") &&
         iteration % static_cast<std::int64_t>(limit("period")) == 0;
}

double mean_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace

void WeightCheck::see(std::int64_t iteration, std::span<const float> values, Messages& out) {
  const auto say = [&](const std::string& code, const std::vector<std::string>& texts) {
    add(out, said(code, place_, texts), iteration);
  };
  const training::Statistics summary = training::statistics(values);
  if (summary.infinite > 0) return say(bias_ ? "b_inf" : "w_inf", {place_.name});
  if (summary.nan > 0) return say(bias_ ? "b_nan" : "w_nan", {place_.name});
  remember(means_, summary.mean_abs);
  if (!is_due(iteration)) return;
  // One number is all negative or not at all.
  const bool counts = variant_ == ToolVariant::kAsPublished || values.size() > 1;
  if (!bias_ && counts) {
    const auto share = [&](auto holds) {
      return static_cast<double>(std::count_if(values.begin(), values.end(), holds)) /
             static_cast<double>(values.size());
    };
    const double negative = share([](float v) { return v < 0; });
    if (negative > limit("negative_weights")) {
      say(kind(place_, "w_sign"),
          {place_.name, rounded(negative), plain(limit("negative_weights"))});
    }
    const double dead = share([](float v) { return std::abs(v) < limit("dead_weight"); });
    if (dead > limit("dead_weights")) {
      say(kind(place_, "w_dead"), {place_.name, rounded(dead), plain(limit("dead_weight"))});
    }
  }
  // The published texts of kernels have no braces for the name that they are given.
  const auto diverges = [&](const char* code, double value, double bound) {
    std::vector<std::string> texts{rounded(value), plain(bound)};
    if (bias_ || variant_ == ToolVariant::kAsPublished) texts.insert(texts.begin(), place_.name);
    say(bias_ ? std::string("b_") + code : kind(place_, (std::string("w_") + code).c_str()), texts);
  };
  const std::vector<double> ratios = growth(means_);
  if (means_.back() > limit("weight_mean")) {
    diverges("div_1", means_.back(), limit("weight_mean"));
  } else if (all_at_least(ratios, limit("weight_growth"))) {
    diverges("div_2", greatest(ratios), limit("weight_growth"));
  }
}

void GradientCheck::see(std::int64_t iteration, std::span<const float> before,
                        std::span<const float> after, std::span<const float> gradient,
                        Messages& out) {
  const auto say = [&](const std::string& code, const std::vector<std::string>& texts) {
    add(out, said(code, place_, texts), iteration);
  };
  const training::Statistics summary = training::statistics(gradient);
  if (summary.infinite > 0) return say("gw_inf", {place_.name});
  if (summary.nan > 0) return say("gw_nan", {place_.name});
  remember(means_, summary.mean_abs);

  const double size = training::statistics(before).mean_abs;
  if (size != 0) {
    double update = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
      update += std::abs(static_cast<double>(after[i]) - before[i]);
    }
    update /= static_cast<double>(after.size()) * size;
    updates_.push_back(update > 0 ? std::log10(update) : 0);
    if (iteration > 0 && iteration % static_cast<std::int64_t>(limit("period")) == 0) {
      const double mean = mean_of(std::exchange(updates_, {}));
      if (mean == 0) {
        say("w_untrained", {place_.name});
      } else if (mean > limit("update_high")) {
        say(kind(place_, "w_fast"), {place_.name, rounded(mean), plain(limit("update_high"))});
      } else if (mean < limit("update_low")) {
        say(kind(place_, "w_slow"), {place_.name, rounded(mean), plain(limit("update_low"))});
      }
    }
  }

  if (!is_due(iteration)) return;
  const std::vector<double> ratios = growth(means_);
  const double mean = means_.back();
  if (mean < limit("gradient_low")) {
    say(kind(place_, "gw_van_1"), {place_.name, rounded(mean), plain(limit("gradient_low"))});
  } else if (all_at_most(ratios, limit("gradient_decay"))) {
    say(kind(place_, "gw_van_2"),
        {place_.name, rounded(*std::min_element(ratios.begin(), ratios.end())),
         plain(limit("gradient_decay"))});
  }
  if (mean > limit("gradient_high")) {
    say(kind(place_, "gw_exp_1"), {place_.name, python_repr(mean), plain(limit("gradient_high"))});
  } else if (all_at_least(ratios, limit("gradient_growth"))) {
    say(kind(place_, "gw_exp_2"),
        {place_.name, rounded(greatest(ratios)), plain(limit("gradient_growth"))});
  }
}

void RegularizationCheck::see(std::int64_t iteration, double ratio, Messages& out) {
  ratios_.push_back(ratio);
  if (ratios_.size() > count_limit("window")) ratios_.pop_front();
  if (ratios_.size() < count_limit("window")) return;
  const double bound = limit("regularization_growth");
  if (!std::all_of(ratios_.begin(), ratios_.end(), [&](double r) { return r >= bound; })) return;
  add(out, said("overwhelm_reg_loss", place_, {rounded(ratios_.front()), plain(bound)}), iteration);
}

void LossCheck::see(std::int64_t iteration, double loss, double performance, Messages& out) {
  step_losses_.push_back(loss);
  step_performances_.push_back(performance);
  Messages messages = check_number(loss);
  if (!messages.empty()) return add(out, std::move(messages.front()), iteration);
  if (iteration % static_cast<std::int64_t>(limit("period")) != 0) return;
  losses_.push_back(mean_of(std::exchange(step_losses_, {})));
  performances_.push_back(mean_of(std::exchange(step_performances_, {})));
  least_ = std::min(least_, losses_.back());

  const std::size_t window = count_limit("window");
  if (losses_.size() >= window) {
    std::vector<double> falls, rises;
    for (std::size_t i = losses_.size() - window + 1; i < losses_.size(); ++i) {
      falls.push_back((losses_[i - 1] - losses_[i]) / losses_[i - 1]);
      rises.push_back((losses_[i] / least_) / (losses_[i - 1] / least_));
    }
    if (std::all_of(falls.begin(), falls.end(),
                    [](double fall) { return fall < limit("loss_decrease"); })) {
      add(out, said("stagnated_loss"), iteration);
    }
    if (all_at_least(rises, limit("loss_growth"))) {
      add(out, said("div_loss", kNowhere, {rounded(greatest(rises))}), iteration);
    }
  }
  const std::span<const double> curve(losses_);
  const double smooth =
      smoothness(curve.last(std::min(curve.size(), count_limit("smoothness_window"))));
  if (smooth < limit("smoothness")) {
    add(out, said("fluctuated_loss", kNowhere, {rounded(smooth), plain(limit("smoothness"))}),
        iteration);
  }
  if (losses_.size() > 2) {
    const double together = std::abs(correlation(losses_, performances_));
    if (together < limit("correlation")) {
      add(out,
          said("non_representative_loss", kNowhere,
               {rounded(together), plain(limit("correlation"))}),
          iteration);
    }
  }
}

namespace {

/// Blames dropout for a message.
ToolMessage blaming(ToolMessage message, const std::set<int>& dropouts) {
  for (program::FaultEntry& fault : message.faults) fault.layers = dropouts;
  if (dropouts.empty()) {
    message.faults.clear();
    message.ignored = "there is no dropout";
  }
  return message;
}

}  // namespace

Messages check_modes(const Place& place, bool is_output, const std::set<int>& dropouts,
                     std::span<const float> train, std::span<const float> inference,
                     std::size_t rows, std::int64_t epoch, ToolVariant variant) {
  double alike = similarity(train, inference, rows);
  // The published tool takes features that don't vary for different ones.
  if (std::isnan(alike) && variant == ToolVariant::kAsPublished) alike = 0;
  if (!(alike <= limit("mode_similarity"))) return {};
  Messages messages;
  add(messages,
      blaming(said(is_output ? "switch_mode_out_consistency" : "switch_mode_act_consistency", place,
                   {python_repr(alike), plain(limit("mode_similarity"))}),
              dropouts),
      epoch);
  return messages;
}

Messages check_mode_losses(const std::set<int>& dropouts, double train, double inference,
                           std::int64_t epoch) {
  if (!(std::abs(train - inference) / std::max(train, inference) > limit("mode_loss"))) return {};
  Messages messages;
  add(messages,
      blaming(said("switch_mode_loss_consistency", dropouts, {rounded(train), rounded(inference)}),
              dropouts),
      epoch);
  return messages;
}

double smoothness(std::span<const double> curve) {
  if (curve.empty()) return 1;
  std::size_t turns = 0;
  for (std::size_t i = 2; i < curve.size(); ++i) {
    turns += (curve[i] / curve[i - 1] > 1) != (curve[i - 1] / curve[i - 2] > 1);
  }
  return static_cast<double>(curve.size() - turns) / static_cast<double>(curve.size());
}

double saturation(std::vector<float> values) {
  const double bins = limit("saturation_bins");
  std::map<double, std::pair<double, double>> sums;  // bin -> count, sum
  for (const float value : values) {
    auto& [count, sum] = sums[std::clamp<double>(std::floor(value * bins), -1, bins - 1)];
    ++count;
    sum += value;
  }
  double total = 0;
  for (const auto& [bin, entry] : sums) {
    const auto& [count, sum] = entry;
    total += std::abs(2 * sum / count - 1) * count;
  }
  return total / static_cast<double>(values.size());
}

namespace {

using Matrix = std::vector<double>;

/// Row-major features with the mean of each column taken off.
Matrix centred(std::span<const float> values, std::size_t rows) {
  const std::size_t width = values.size() / rows;
  Matrix centred(values.begin(), values.end());
  for (std::size_t column = 0; column < width; ++column) {
    double mean = 0;
    for (std::size_t row = 0; row < rows; ++row) mean += centred[row * width + column];
    mean /= static_cast<double>(rows);
    for (std::size_t row = 0; row < rows; ++row) centred[row * width + column] -= mean;
  }
  return centred;
}

/// Products of all pairs of rows.
Matrix gram(const Matrix& features, std::size_t rows) {
  const std::size_t width = features.size() / rows;
  Matrix products(rows * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = i; j < rows; ++j) {
      products[i * rows + j] = products[j * rows + i] =
          std::inner_product(features.begin() + static_cast<std::ptrdiff_t>(i * width),
                             features.begin() + static_cast<std::ptrdiff_t>((i + 1) * width),
                             features.begin() + static_cast<std::ptrdiff_t>(j * width), 0.0);
    }
  }
  return products;
}

/// Hilbert-Schmidt independence criterion of two Gram matrices, debiased as in the tool.
double independence(const Matrix& a, const Matrix& b, std::size_t rows) {
  const auto n = static_cast<double>(rows);
  const double dot = std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  double squares = 0, trace_a = 0, trace_b = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    squares += a[i * rows + i] * b[i * rows + i];
    trace_a += a[i * rows + i];
    trace_b += b[i * rows + i];
  }
  return dot - n / (n - 2) * squares + trace_a * trace_b / ((n - 1) * (n - 2));
}

}  // namespace

double similarity(std::span<const float> a, std::span<const float> b, std::size_t rows) {
  const Matrix x = gram(centred(a, rows), rows), y = gram(centred(b, rows), rows);
  const double scale = std::sqrt(independence(x, x, rows)) * std::sqrt(independence(y, y, rows));
  return independence(x, y, rows) / scale;
}

double percentile(std::vector<float> values, double percent) {
  const double place = percent / 100 * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(place);
  std::nth_element(values.begin(), values.begin() + below, values.end());
  const double low = values[static_cast<std::size_t>(below)];
  if (place == static_cast<double>(below)) return low;
  const double high = *std::min_element(values.begin() + below + 1, values.end());
  return low + (high - low) * (place - static_cast<double>(below));
}

double correlation(std::span<const double> a, std::span<const double> b) {
  const std::vector<double> va(a.begin(), a.end()), vb(b.begin(), b.end());
  const double mean_a = mean_of(va), mean_b = mean_of(vb);
  double ab = 0, aa = 0, bb = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    ab += (a[i] - mean_a) * (b[i] - mean_b);
    aa += (a[i] - mean_a) * (a[i] - mean_a);
    bb += (b[i] - mean_b) * (b[i] - mean_b);
  }
  // Means of equal values differ by roundings.
  const auto varies = [&](double squares, double mean) {
    return squares > 1e-24 * mean * mean * static_cast<double>(a.size());
  };
  if (!varies(aa, mean_a) || !varies(bb, mean_b)) return std::numeric_limits<double>::quiet_NaN();
  return ab / std::sqrt(aa * bb);
}

}  // namespace neutra::fl_adapters::thedeepchecker
