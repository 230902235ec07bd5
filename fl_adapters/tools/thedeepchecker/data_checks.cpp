#include "fl_adapters/tools/thedeepchecker/data_checks.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "base/numbers.h"
#include "base/words.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

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
      messages.push_back(make_message(one + "_" + what, kNowhere, {std::to_string(which.front())},
                                      std::to_string(which.size()) + " of " +
                                          std::to_string(columns.size()) + ": " +
                                          ranges({which.begin(), which.end()})));
      return;
    }
    const Column& column = columns.front();
    messages.push_back(make_message(one + "s_" + what, kNowhere, {},
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

std::size_t label_class(float label) {
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
      const std::size_t label = label_class(value);
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
    return {
        make_message("unbalanced_labels", kNowhere, {}, "balance " + rounded(targets.balance()))};
  }
  const bool published = variant == ToolVariant::kAsPublished;
  return check_columns(targets.columns, "target", limit("almost"), published, published);
}

}  // namespace neutra::fl_adapters::thedeepchecker
