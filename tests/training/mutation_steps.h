#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "training/data/mutations.h"

// What tests of steps of data.mutations share.

namespace neutra::training {

using Numbers = std::vector<double>;

/// Rows whose one feature is their number.
inline Part numbered(Numbers y) {
  const auto rows = static_cast<std::int64_t>(y.size());
  Part part{{{rows, 1}, {}}, {{rows}, std::move(y)}};
  for (std::int64_t i = 0; i < rows; ++i) part.x.values.push_back(static_cast<double>(i));
  return part;
}

inline Json step(const char* op, double percentage, std::uint64_t seed = 1) {
  return {{"op", op}, {"percentage", percentage}, {"seed", seed}};
}
inline Json on_values(Json step) {
  step["targets"] = "values";
  return step;
}

inline Part mutated(Part part, const Json& steps) {
  mutate(steps.is_array() ? steps : Json::array({steps}), part);
  EXPECT_EQ(part.x.rows(), part.y.rows());
  EXPECT_EQ(part.x.values.size(), static_cast<std::size_t>(part.x.rows() * part.x.row_size()));
  EXPECT_EQ(part.y.values.size(), static_cast<std::size_t>(part.y.rows() * part.y.row_size()));
  return part;
}

/// The message of the refusal.
inline std::string message(Part part, const Json& step) {
  try {
    mutate(Json::array({step}), part);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    return error.what();
  }
  return "accepted";
}

inline double deviation_of(const Numbers& values) {
  double mean = 0, sum = 0;
  for (const double v : values) mean += v / static_cast<double>(values.size());
  for (const double v : values) sum += (v - mean) * (v - mean);
  return std::sqrt(sum / static_cast<double>(values.size()));
}

}  // namespace neutra::training
