#include "training/initializers.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "base/error.h"

namespace neutra::training {
namespace {

std::vector<float> draw(const Json& initializer, const program::Shape& shape) {
  std::size_t size = 1;
  for (const std::int64_t n : shape) size *= static_cast<std::size_t>(n);
  std::vector<float> values(size, -7);
  initialize(initializer, shape, {random_key(1, {}, 0), Stream::kInit, 0, 0}, values);
  return values;
}
Json named(const char* name, Json config = Json::object()) {
  return {{"class_name", name}, {"config", std::move(config)}};
}
double stddev(const std::vector<float>& v) {
  double sum = 0;
  for (const float x : v) sum += static_cast<double>(x) * x;
  return std::sqrt(sum / static_cast<double>(v.size()));
}

TEST(Initializers, Fans) {
  EXPECT_EQ(compute_fans({7}).in, 7);
  EXPECT_EQ(compute_fans({7}).out, 7);
  EXPECT_EQ(compute_fans({3, 5}).in, 3);
  EXPECT_EQ(compute_fans({3, 5}).out, 5);
  EXPECT_EQ(compute_fans({3, 3, 4, 8}).in, 36);
  EXPECT_EQ(compute_fans({3, 3, 4, 8}).out, 72);
}

TEST(Initializers, UniformLimits) {
  for (const auto& [name, limit] :
       {std::pair{"GlorotUniform", std::sqrt(6.0 / 500)},
        std::pair{"HeUniform", std::sqrt(6.0 / 200)},
        std::pair{"LecunUniform", std::sqrt(3.0 / 200)}, std::pair{"RandomUniform", 0.05}}) {
    const auto v = draw(named(name), {200, 300});
    const auto [low, high] = std::minmax_element(v.begin(), v.end());
    EXPECT_GE(*low, -limit * 1.0001) << name;
    EXPECT_LE(*high, limit * 1.0001) << name;
    EXPECT_GT(*high, limit * 0.99) << name;
    EXPECT_NEAR(stddev(v), limit / std::sqrt(3.0), 0.01 * limit) << name;
  }
}

TEST(Initializers, NormalSpreads) {
  for (const auto& [name, wanted, bound] :
       {std::tuple{"GlorotNormal", std::sqrt(2.0 / 500), 2 / 0.87962566103423978},
        std::tuple{"HeNormal", std::sqrt(2.0 / 200), 2 / 0.87962566103423978},
        std::tuple{"LecunNormal", std::sqrt(1.0 / 200), 2 / 0.87962566103423978},
        std::tuple{"TruncatedNormal", 0.05 * 0.87962566103423978, 2 / 0.87962566103423978},
        std::tuple{"RandomNormal", 0.05, 6.0}}) {
    const auto v = draw(named(name), {200, 300});
    EXPECT_NEAR(stddev(v), wanted, 0.01 * wanted) << name;
    const float largest = *std::max_element(v.begin(), v.end());
    EXPECT_LE(largest, wanted * bound * 1.0001) << name;
    EXPECT_GT(largest, wanted * 2.1) << name;
  }
}

TEST(Initializers, VarianceScalingModes) {
  const auto uniform = draw(
      named("VarianceScaling", {{"scale", 3}, {"mode", "fan_out"}, {"distribution", "uniform"}}),
      {20, 300});
  EXPECT_LE(*std::max_element(uniform.begin(), uniform.end()), std::sqrt(9.0 / 300) * 1.0001);
  const auto normal =
      draw(named("VarianceScaling",
                 {{"scale", 2}, {"mode", "fan_avg"}, {"distribution", "untruncated_normal"}}),
           {200, 300});
  EXPECT_NEAR(stddev(normal), std::sqrt(2.0 / 250), 0.002);
}

TEST(Initializers, Constants) {
  EXPECT_EQ(draw(named("Zeros"), {3}), std::vector<float>(3, 0));
  EXPECT_EQ(draw(named("Ones"), {3}), std::vector<float>(3, 1));
  EXPECT_EQ(draw(named("Constant", {{"value", 0.25}}), {2}), std::vector<float>(2, 0.25f));
  EXPECT_EQ(draw(named("Identity", {{"gain", 2}}), {2, 3}), (std::vector<float>{2, 0, 0, 0, 2, 0}));
}

TEST(Initializers, OrthogonalRowsOrColumns) {
  for (const program::Shape& shape :
       {program::Shape{6, 4}, program::Shape{4, 6}, program::Shape{2, 3, 4}}) {
    const auto v = draw(named("Orthogonal", {{"gain", 2}}), shape);
    const auto columns = static_cast<std::size_t>(shape.back());
    const std::size_t rows = v.size() / columns;
    const bool tall = rows >= columns;
    const std::size_t count = std::min(rows, columns), length = std::max(rows, columns);
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j <= i; ++j) {
        double dot = 0;
        for (std::size_t k = 0; k < length; ++k) {
          dot += tall ? v[k * columns + i] * v[k * columns + j]
                      : v[i * columns + k] * v[j * columns + k];
        }
        EXPECT_NEAR(dot, i == j ? 4 : 0, 1e-5);
      }
    }
  }
}

TEST(Initializers, RefusesWhatKerasRefuses) {
  EXPECT_THROW(draw(named("Identity"), {3}), Error);
  EXPECT_THROW(draw(named("Orthogonal"), {3}), Error);
  EXPECT_THROW(draw(named("Fancy"), {3}), Error);
}

}  // namespace
}  // namespace neutra::training
