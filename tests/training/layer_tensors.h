#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "image_programs.h"
#include "training/layers/module.h"

/// What tests of layers of the eager back end share.
namespace neutra::training::tests {

/// Values of that shape.
inline at::Tensor tensor(const Json& values, const std::vector<std::int64_t>& extents) {
  auto floats = values.get<std::vector<float>>();
  return at::from_blob(floats.data(), extents, at::kFloat).clone();
}

/// Each element within `tolerance`, relative to those above 1.
inline void expect_near(const at::Tensor& actual, const Json& expected, double tolerance,
                        const std::string& what) {
  const at::Tensor flat = actual.detach().contiguous().view(-1);
  ASSERT_EQ(flat.numel(), static_cast<std::int64_t>(expected.size())) << what;
  const float* values = flat.data_ptr<float>();
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double wanted = expected[i];
    ASSERT_NEAR(values[i], wanted, tolerance * std::max(1.0, std::abs(wanted)))
        << what << ", element " << i;
  }
}

/// A program whose first layer is tested; the Dense layer behind it makes a program of it.
inline program::ResolvedProgram with_layer(const Json& tested, const program::Shape& input) {
  return resolved(Json::array({tested, layer("Flatten", Json::object()), dense(1, "linear")}),
                  input, optimizer("SGD", 0.1), "mean_squared_error", {1}, 2);
}
/// The first layer of such a program.
inline program::ResolvedLayer single(const Json& tested, const program::Shape& input) {
  return with_layer(tested, input).layers.front();
}

}  // namespace neutra::training::tests
