#include "fl_adapters/tools/thedeepchecker/initial_checks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/fl_adapters/next_number.h"
#include "tests/fl_adapters/thedeepchecker/checks.h"

namespace neutra::fl_adapters::thedeepchecker::tests {
namespace {

Lines initial(const std::string& activation, const std::vector<float>& values,
              ToolVariant variant = kPublished) {
  return said(check_initial_kernel({kPlace, 100, 50, activation}, values, variant));
}

TEST(TheDeepChecker, ConstantWeights) {
  EXPECT_EQ(
      initial("relu", repeated(5000, 0.3f)),
      Lines{"Poor initialization (unbreaking symmetry) of weight dense_2/kernel:0 -> WCI(3)"});
  EXPECT_EQ(
      initial("", around(5000, 1e-4)),  // in single precision a little less
      Lines{"Poor initialization (unbreaking symmetry) of weight dense_2/kernel:0 -> WCI(3)"});
  EXPECT_EQ(initial("", around(5000, above(1e-4f))),
            Lines{"It is recommended to choose a well-known initialization for weight "
                  "dense_2/kernel:0 -> WCI(3)"});
}

TEST(TheDeepChecker, AKernelOfOneNumberIsNotConstantIfRepaired) {
  EXPECT_EQ(initial("", {0.5f}).size(), 1u);
  EXPECT_EQ(initial("", {0.5f}, kRepaired), Lines{});
}

TEST(TheDeepChecker, RecommendedInitializers) {
  const double he = std::sqrt(2.0 / 100), glorot = std::sqrt(2.0 / 150), lecun = 0.1;
  const double f = std::sqrt(2.70554);
  const auto starts = [](const Lines& lines, const std::string& text) {
    return lines.size() == 1 && lines[0].starts_with(text);
  };
  EXPECT_EQ(initial("relu", around(5000, he * f * 0.999999)), Lines{});
  EXPECT_TRUE(starts(initial("relu", around(5000, he * f * 1.000001)),
                     "It is recommended to choose He initialization for weight dense_2/kernel:0 "
                     "with RELU: error of 0.13"));
  EXPECT_TRUE(
      starts(initial("relu", around(5000, he / f * 0.999999)), "It is recommended to choose He"));
  EXPECT_EQ(initial("relu", around(5000, he / f * 1.000001)), Lines{});
  EXPECT_EQ(initial("tanh", around(5000, glorot * f * 0.999999)), Lines{});
  EXPECT_TRUE(starts(initial("tanh", around(5000, glorot * f * 1.000001)),
                     "It is recommended to choose Glorot/Xavier initialization for weight "
                     "dense_2/kernel:0 with Tanh: error of "));
  EXPECT_EQ(initial("sigmoid", around(5000, lecun * f * 0.999999)), Lines{});
  EXPECT_TRUE(starts(initial("sigmoid", around(5000, lecun * f * 1.000001)),
                     "It is recommended to choose Lecun initialization for weight "
                     "dense_2/kernel:0 with Sigmoid: error of "));
  // Other activations: any of the three will do.
  EXPECT_EQ(initial("selu", around(5000, he * f * 0.999999)), Lines{});
  EXPECT_EQ(initial("selu", around(5000, he * f * 1.000001)),
            Lines{"It is recommended to choose a well-known initialization for weight "
                  "dense_2/kernel:0 -> WCI(3)"});
}

TEST(TheDeepChecker, ErrorOfAnInitializer) {
  // 0.5 - sqrt(1 / 100), where He's is sqrt(2 / 100).
  EXPECT_NE(initial("relu", around(5000, 0.5))[0].find("error of 0.4"), std::string::npos);
  EXPECT_NE(initial("relu", around(5000, 0.5), kRepaired)[0].find("error of 0.358578"),
            std::string::npos);
}

TEST(TheDeepChecker, InitialBiases) {
  const Targets balanced = classes({0.5, 0.5}), unbalanced = classes({0.95, 0.05});
  const Bias zero{{1, "a", false}, {0, 0}}, ones{{2, "b", false}, {1, 2}},
      last{{4, "c", false}, {2, 1}};
  EXPECT_EQ(said(check_initial_biases({}, balanced)),
            Lines{"The model missed biases. Do not consider this alert if you use batchnorm for "
                  "all layers -> WRB"});
  EXPECT_EQ(said(check_initial_biases({zero, zero}, balanced)), Lines{});
  EXPECT_EQ(said(check_initial_biases({ones, zero}, balanced)),
            Lines{"It is recommended to choose null biases (zeros) -> BCI(2)"});
  EXPECT_EQ(said(check_initial_biases({ones, zero}, unbalanced)),
            Lines{"Bias of last layer should not be zero, in case of unbalanced data -> BCI(1)"});
  EXPECT_EQ(said(check_initial_biases({zero, ones}, unbalanced)),
            Lines{"Bias of last layer should match the ratio of labels -> BCI(2)"});
  EXPECT_EQ(said(check_initial_biases({zero, last}, unbalanced)), Lines{});
  // The sum decides.
  const Bias cancels{{2, "b", false}, {1, -1}}, nearly{{2, "b", false}, {1, -below(1.0f)}};
  EXPECT_EQ(said(check_initial_biases({cancels}, balanced)), Lines{});
  EXPECT_EQ(said(check_initial_biases({nearly}, balanced)),
            Lines{"It is recommended to choose null biases (zeros) -> BCI(2)"});
  // Only of a bias for each class there is an order.
  const Bias single{{2, "b", false}, {1}};
  EXPECT_EQ(said(check_initial_biases({single}, unbalanced)), Lines{});
}

TEST(TheDeepChecker, InitialBiasOfARegression) {
  const Bias zero{{1, "a", false}, {0}}, mean{{1, "a", false}, {below(100.01f)}},
      off{{1, "a", false}, {100.01f}};  // a little more
  const auto with = [](double stddev) { return regression({{100, stddev, 90, 110}}); };
  for (const Bias& bias : {zero, off}) {
    EXPECT_EQ(said(check_initial_biases({bias}, with(0.1))),
              Lines{"Bias of last layer should start up with the mean value -> BCI(1)"});
    EXPECT_EQ(said(check_initial_biases({bias}, with(above(0.1)))), Lines{});
  }
  EXPECT_EQ(said(check_initial_biases({mean}, with(0.1))), Lines{});
}

TEST(TheDeepChecker, InitialLoss) {
  const Targets ten = classes(std::vector<double>(10, 0.1));
  const double expected = std::log(10.0);
  EXPECT_EQ(said(check_initial_loss(2 * expected, ten)),
            Lines{"Loss at cold start is considered poor and problematic: relative error of 1.0 "
                  "-> LCH|WCI"});
  EXPECT_EQ(said(check_initial_loss(below(2 * expected), ten)), Lines{});
  EXPECT_EQ(said(check_initial_loss(0.001, ten)), Lines{});
}

TEST(TheDeepChecker, ReductionOfTheLoss) {
  // Rounded ratios, halves to even: 1.5 and 2.5 are doubled, too.
  const std::vector<double> sums{2, 3, 7.5}, means{2, 2, 2}, less{2, 4, below(6.0)},
      more{2, 4, above(10.0)};
  EXPECT_EQ(said(check_reduction(sums)),
            Lines{"The reduction of the loss is poorly designed: it is recommended to use AVG "
                  "instead -> LCH"});
  EXPECT_EQ(said(check_reduction(means)), Lines{});
  EXPECT_EQ(said(check_reduction(less)), Lines{});
  EXPECT_EQ(said(check_reduction(more)), Lines{});
}

}  // namespace
}  // namespace neutra::fl_adapters::thedeepchecker::tests
