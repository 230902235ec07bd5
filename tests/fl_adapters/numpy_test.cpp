#include "fl_adapters/numpy.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace neutra::fl_adapters {
namespace {

std::vector<float> repeated(float value, std::size_t times) {
  return std::vector<float>(times, value);
}
using Floats = std::span<const float>;
using Doubles = std::span<const double>;

TEST(Numpy, MeanOfFewValues) {
  EXPECT_EQ(numpy_mean(Floats(std::vector<float>{1, 2, 4.5f})), 2.5f);
  EXPECT_EQ(numpy_mean(Doubles(std::vector<double>{0.1, 0.2, 0.3})), (0.1 + 0.2 + 0.3) / 3);
  EXPECT_TRUE(std::isnan(numpy_mean(Floats())));
}

/// Which sums lose small values tells the order of the additions.
TEST(Numpy, EightPartialSums) {
  // One after another, 1 would be lost beside 2^24 each time; in a partial sum of their own
  // the ones survive: lanes 1 to 7 get two each.
  std::vector<float> values = repeated(1, 16);
  values[0] = 16777216;  // 2^24
  values[8] = 0;
  EXPECT_EQ(numpy_mean(Floats(values)), (16777216.0f + 14) / 16);
  // Less than eight go one after another.
  std::vector<float> few = repeated(1, 7);
  few[0] = 16777216;
  EXPECT_EQ(numpy_mean(Floats(few)), 16777216.0f / 7);
}

TEST(Numpy, HalvesOfLongArrays) {
  // 136 = 64 + 72: the second half has a sum of its own, the first one's ones are lost in the lane
  // of the large value.
  std::vector<float> values(136);
  values[0] = 16777216;
  for (std::size_t i = 8; i < 64; i += 8) values[i] = 1;
  for (std::size_t i = 64; i < 136; i += 8) values[i] = 1;
  EXPECT_EQ(numpy_mean(Floats(values)) * 136, 16777216.0f + 8);  // nine ones, rounded to even
}

TEST(Numpy, MeansThatAreTheirMaximum) {
  EXPECT_TRUE(mean_is_max(Floats(repeated(0.5f, 5))));
  EXPECT_FALSE(mean_is_max(Floats(std::vector<float>{0.5f, 0.5f, 0.5f, 0.5f, 0.49f})));
  EXPECT_FALSE(mean_is_max(Floats(std::vector<float>{NAN, NAN})));
  EXPECT_FALSE(mean_is_max(Floats()));
  EXPECT_TRUE(mean_is_max(Doubles(std::vector<double>(20, 0.75))));
  // Five times the same, and yet NumPy's mean is another: the sum is rounded.
  int missed = 0;
  for (int i = 1; i < 1000; ++i) {
    const float value = static_cast<float>(i) / 997;
    float sum = 0;
    for (int k = 0; k < 5; ++k) sum += value;
    EXPECT_EQ(mean_is_max(Floats(repeated(value, 5))), sum / 5 == value);
    missed += sum / 5 != value;
  }
  EXPECT_GT(missed, 0);
}

TEST(Numpy, ZerosAndMeansOfZero) {
  const Mean zeros = mean_of(repeated(0, 20));
  EXPECT_EQ(zeros.value, 0);
  EXPECT_TRUE(zeros.zeros);
  const Mean cancels = mean_of(std::vector<float>{1, -1});
  EXPECT_EQ(cancels.value, 0);
  EXPECT_FALSE(cancels.zeros);
  EXPECT_TRUE(std::isnan(mean_of(std::vector<float>{1, NAN}).value));
  EXPECT_TRUE(std::isinf(mean_of(std::vector<float>{1, INFINITY}).value));
}

}  // namespace
}  // namespace neutra::fl_adapters
