// The pooling of the fused back end, against the loops of the eager one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "image_comparison.h"
#include "program/layer.h"
#include "training/fused/images.h"
#include "training/layers/windows.h"

namespace neutra::training::tests {
namespace {

/// Values with ties, both zeros, infinities and NaN.
std::vector<float> awkward(Random& random, std::size_t count) {
  constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
  std::vector<float> values(count);
  for (float& v : values) {
    v = pick(random, {-2.0f, -1.0f, -0.0f, 0.0f, 1.0f, 2.0f, 2.0f, number(random), kNaN, INFINITY,
                      -INFINITY});
  }
  return values;
}

TEST(FusedConv, PoolingIncludesARelu) {
  Random random(3);
  for (int i = 0; i < 300; ++i) {
    const std::int64_t size = 2 + below(random, 7), window = 1 + below(random, 3);
    const Json pooling =
        layer("MaxPooling2D", {{"pool_size", std::min(window, size)},
                               {"strides", 1 + below(random, 3)},
                               {"padding", below(random, 2) == 0 ? "same" : "valid"}});
    const std::int64_t channels = pick(random, {1, 3, 8, 11, 16});
    const program::ResolvedLayer resolved_layer =
        resolved(Json::array({pooling, layer("Flatten"), dense(1, "linear")}),
                 {size, size + 1, channels}, optimizer("SGD", 0.1), "mean_squared_error", {1}, 2)
            .layers.front();
    const Windows windows = sliding_windows(resolved_layer, "pool_size");
    constexpr std::int64_t kRows = 2;
    const auto inputs = static_cast<std::size_t>(kRows * size * (size + 1) * channels);
    const auto outputs =
        static_cast<std::size_t>(kRows * program::element_count(resolved_layer.output_shape));
    const std::vector<float> x = awkward(random, inputs), dy = numbers(random, outputs);
    for (const bool relu : {false, true}) {
      std::vector<float> rectified = x, y(outputs), dx(inputs), expected(outputs), slopes(inputs);
      const auto depth = static_cast<std::size_t>(channels);
      if (relu) {
        for (float& v : rectified) v = v < 0 ? 0 : v;
      }
      max_pool(windows, kRows, channels, rectified.data(), expected.data());
      max_pool_backward(windows, kRows, channels, rectified.data(), dy.data(), slopes.data());
      if (relu) {
        for (std::size_t k = 0; k < inputs; ++k) slopes[k] *= rectified[k] > 0 ? 1.0f : 0.0f;
      }
      std::vector<std::uint16_t> winners(outputs);
      fused::max_pool(windows, kRows, depth, relu, x.data(), y.data(), winners.data());
      fused::max_pool_backward(windows, kRows, depth, winners.data(), dy.data(), dx.data());
      EXPECT_TRUE(same_bits(y, expected)) << pooling << ", relu " << relu;
      EXPECT_TRUE(same_bits(dx, slopes)) << pooling << ", relu " << relu;
      fused::max_pool(windows, kRows, depth, relu, x.data(), y.data(), nullptr);
      EXPECT_TRUE(same_bits(y, expected)) << pooling << ", relu " << relu;
    }
  }
}

}  // namespace
}  // namespace neutra::training::tests
