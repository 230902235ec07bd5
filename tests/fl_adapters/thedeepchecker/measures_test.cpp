#include "fl_adapters/tools/thedeepchecker/measures.h"

#include <gtest/gtest.h>

namespace neutra::fl_adapters::thedeepchecker::tests {
namespace {

TEST(TheDeepChecker, Percentiles) {
  EXPECT_DOUBLE_EQ(percentile({1, 2, 3, 4, 5}, 50), 3);
  EXPECT_DOUBLE_EQ(percentile({5, 1, 4, 2, 3}, 95), 4.8);  // NumPy's
  EXPECT_DOUBLE_EQ(percentile({7}, 95), 7);
}

TEST(TheDeepChecker, Smoothness) {
  EXPECT_EQ(smoothness({}), 1);
  EXPECT_EQ(smoothness(std::vector<double>{3}), 1);
  EXPECT_EQ(smoothness(std::vector<double>{4, 3, 2, 1}), 1);
  EXPECT_EQ(smoothness(std::vector<double>{4, 3, 4, 3}), 0.5);
}

TEST(TheDeepChecker, Saturation) {
  EXPECT_NEAR(saturation({0, 0, 1, 1}), 1, 1e-6);
  EXPECT_NEAR(saturation({0.5f, 0.5f}), 0, 1e-6);
  EXPECT_NEAR(saturation({0.25f, 0.75f}), 0.5, 1e-6);
}

}  // namespace
}  // namespace neutra::fl_adapters::thedeepchecker::tests
