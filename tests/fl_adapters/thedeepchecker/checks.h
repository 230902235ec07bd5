#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "fl_adapters/tools/thedeepchecker/data_checks.h"
#include "fl_adapters/tools/thedeepchecker/messages.h"

/// What tests of checks of all kinds use.
namespace neutra::fl_adapters::thedeepchecker::tests {

inline constexpr auto kPublished = ToolVariant::kAsPublished;
inline constexpr auto kRepaired = ToolVariant::kRepaired;
inline constexpr float kTiny = std::numeric_limits<float>::denorm_min();
inline constexpr float kHuge = std::numeric_limits<float>::max();
using Lines = std::vector<std::string>;

/// "text -> answer" of each message.
inline Lines said(const Messages& messages) {
  Lines lines;
  for (const ToolMessage& message : messages) {
    lines.push_back(message.text + " -> " + to_string(answer_of({message})));
    EXPECT_EQ(message.text.find("{}"), std::string::npos);
  }
  return lines;
}

inline std::vector<float> repeated(std::size_t count, float value) {
  return std::vector<float>(count, value);
}
/// `share` of `count` values are `value`, the rest `other`.
inline std::vector<float> mixed(std::size_t count, double share, float value, float other) {
  std::vector<float> values(count, other);
  std::fill_n(values.begin(), static_cast<std::size_t>(std::lround(share * count)), value);
  return values;
}
/// Values -a and a: their standard deviation is a.
inline std::vector<float> around(std::size_t count, double a) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 2 == 0 ? a : -a);
  return values;
}

inline const Column kNormal{0.5, 0.2, 0, 1}, kCentred{0, 0.5, -1, 1}, kStandard{0, 1, -3, 3},
    kConstant{2, 0, 2, 2}, kWide{5, 3, 0, 10};

inline Targets classes(std::vector<double> shares) {
  Targets targets;
  targets.outputs = shares.size();
  targets.shares = std::move(shares);
  return targets;
}
inline Targets regression(std::vector<Column> columns) {
  Targets targets;
  targets.classification = false;
  targets.outputs = columns.size();
  targets.columns = std::move(columns);
  return targets;
}

inline const Place kPlace{3, "dense_2/kernel:0", false};
inline const Place kActivation{2, "dense_1/relu", false}, kFilters{2, "conv_1/relu", true};

/// What a check says in the last of `iterations` iterations, all with the same values.
template <typename Check, typename... Values>
inline Lines at_iteration(Check check, std::int64_t iterations, const Values&... values) {
  Messages found;
  for (std::int64_t i = 0; i <= iterations; ++i) {
    found.clear();
    check.see(i, values..., found);
  }
  for (const ToolMessage& message : found) {
    EXPECT_EQ(message.epochs, std::vector<std::int64_t>{iterations});
  }
  return said(found);
}

}  // namespace neutra::fl_adapters::thedeepchecker::tests
