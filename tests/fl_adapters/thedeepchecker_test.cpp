#include "fl_adapters/thedeepchecker.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "evaluators/rank_tests.h"
#include "tests/fl_adapters/next_number.h"

namespace neutra::fl_adapters::thedeepchecker {
namespace {

constexpr auto kPublished = ToolVariant::kAsPublished;
constexpr auto kRepaired = ToolVariant::kRepaired;
constexpr float kTiny = std::numeric_limits<float>::denorm_min();
constexpr float kHuge = std::numeric_limits<float>::max();
using Lines = std::vector<std::string>;

/// "text -> answer" of each message.
Lines said(const Messages& messages) {
  Lines lines;
  for (const ToolMessage& message : messages) {
    lines.push_back(message.text + " -> " + to_string(answer_of({message})));
    EXPECT_EQ(message.text.find("{}"), std::string::npos);
  }
  return lines;
}

std::vector<float> repeated(std::size_t count, float value) {
  return std::vector<float>(count, value);
}
/// `share` of `count` values are `value`, the rest `other`.
std::vector<float> mixed(std::size_t count, double share, float value, float other) {
  std::vector<float> values(count, other);
  std::fill_n(values.begin(), static_cast<std::size_t>(std::lround(share * count)), value);
  return values;
}
/// Values -a and a: their standard deviation is a.
std::vector<float> around(std::size_t count, double a) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>(i % 2 == 0 ? a : -a);
  return values;
}

const Column kNormal{0.5, 0.2, 0, 1}, kCentred{0, 0.5, -1, 1}, kStandard{0, 1, -3, 3},
    kConstant{2, 0, 2, 2}, kWide{5, 3, 0, 10};

TEST(TheDeepChecker, ConstantFeatures) {
  EXPECT_EQ(said(check_features({kConstant}, kPublished)), Lines{"Features are constant -> CPP"});
  EXPECT_EQ(said(check_features({kNormal}, kPublished)), Lines{});
  EXPECT_EQ(said(check_features({{2, above(0.0), 2, 2}}, kPublished)),
            Lines{"Features seem to be unnormalized -> CPP"});
  EXPECT_EQ(said(check_features({kWide, kConstant}, kPublished)),
            (Lines{"Feature indexed 1 is constant -> CPP",
                   "Feature indexed 0 seems to be unnormalized -> CPP"}));
}

TEST(TheDeepChecker, UnnormalizedFeatures) {
  const auto one = [](Column column) { return said(check_features({column}, kPublished)); };
  const Lines fired{"Features seem to be unnormalized -> CPP"};
  EXPECT_EQ(one(kWide), fired);
  EXPECT_EQ(one(kNormal), Lines{});
  EXPECT_EQ(one(kCentred), Lines{});
  EXPECT_EQ(one(kStandard), Lines{});
  // Within 0.01; next to 1, 1.01 is a little further away.
  EXPECT_EQ(one({0.5, 0.2, 0, below(1.01)}), Lines{});
  EXPECT_EQ(one({0.5, 0.2, 0, 1.01}), fired);
  EXPECT_EQ(one({0.5, 0.2, 0.01, 1}), Lines{});
  EXPECT_EQ(one({0.5, 0.2, above(0.01), 1}), fired);
  EXPECT_EQ(one({0.01, below(1.01), -3, 3}), Lines{});
  EXPECT_EQ(one({0.01, 1.01, -3, 3}), fired);
  EXPECT_EQ(one({above(0.01), 1, -3, 3}), fired);
}

TEST(TheDeepChecker, ANormalizedFeatureEndsTheCheckUnlessRepaired) {
  EXPECT_EQ(check_features({kNormal, kWide}, kPublished).size(), 0u);
  const Messages found = check_features({kNormal, kWide, kWide, kStandard, kWide}, kRepaired);
  EXPECT_EQ(said(found), Lines{"Feature indexed 1 seems to be unnormalized -> CPP"});
  EXPECT_EQ(found[0].detail, "3 of 5: 1-2, 4");
}

TEST(TheDeepChecker, Columns) {
  const std::vector<float> values{1, 10, 3, 10};
  const auto columns = columns_of(values, 2);
  EXPECT_EQ(columns[0].mean, 2);
  EXPECT_EQ(columns[0].stddev, 1);
  EXPECT_EQ(columns[0].max, 3);
  EXPECT_EQ(columns[1].stddev, 0);
}

Targets classes(std::vector<double> shares) {
  Targets targets;
  targets.outputs = shares.size();
  targets.shares = std::move(shares);
  return targets;
}
Targets regression(std::vector<Column> columns) {
  Targets targets;
  targets.classification = false;
  targets.outputs = columns.size();
  targets.columns = std::move(columns);
  return targets;
}

TEST(TheDeepChecker, UnbalancedLabels) {
  EXPECT_DOUBLE_EQ(classes({0.25, 0.25, 0.25, 0.25}).balance(), 1);
  EXPECT_DOUBLE_EQ(classes({1, 0}).balance(), 0);
  // Two of three classes are half of what could be.
  EXPECT_DOUBLE_EQ(classes({0.5, 0.5, 0}).balance(), 0.5);
  EXPECT_EQ(said(check_targets(classes({0.5, 0.5, 0}), kPublished)), Lines{});
  EXPECT_EQ(said(check_targets(classes({0.5000001, 0.4999999, 0}), kPublished)),
            Lines{"Groundtruth Labels are unbalanced, which requires adaptive algorithms -> TUD"});
}

TEST(TheDeepChecker, TargetsOfARegression) {
  EXPECT_EQ(said(check_targets(regression({kWide}), kPublished)),
            Lines{"Outputs seem to be unnormalized -> CPP"});
  EXPECT_EQ(said(check_targets(regression({kNormal}), kPublished)), Lines{});
  EXPECT_EQ(said(check_targets(regression({kStandard, kWide}), kPublished)),
            Lines{"Output indexed 1 seem to be unnormalized -> CPP"});
  // The published tool has the wrong words for constant targets.
  EXPECT_EQ(said(check_targets(regression({kConstant}), kPublished)),
            Lines{"Outputs seem to be unnormalized -> CPP"});
  const Column nearly{2, 0.01, 1.9, 2.1}, hardly{2, above(0.01), 1.9, 2.1};
  for (const Column& constant : {kConstant, nearly}) {
    EXPECT_EQ(said(check_targets(regression({constant}), kRepaired)),
              Lines{"Outputs are constant -> CPP"});
    EXPECT_EQ(said(check_targets(regression({kStandard, constant}), kRepaired)),
              Lines{"Output indexed 1 is constant -> CPP"});
  }
  EXPECT_EQ(said(check_targets(regression({hardly}), kRepaired)),
            Lines{"Outputs seem to be unnormalized -> CPP"});
}

TEST(TheDeepChecker, LabelsThatNameNoClass) {
  EXPECT_EQ(class_of(7), 7u);
  for (const float none : {-1.0f, std::nanf(""), 1e30f}) EXPECT_EQ(class_of(none), 0u);
}

TEST(TheDeepChecker, KindsOfTargets) {
  const std::vector<float> binary{0, 1, 1, 1}, sparse{0, 2, 2, 2}, one_hot{1, 0, 0, 1, 0, 1};
  EXPECT_EQ(targets_of(binary, 1, true, false).shares, (std::vector<double>{0.25, 0.75}));
  EXPECT_EQ(targets_of(binary, 1, true, false).outputs, 1u);
  EXPECT_EQ(targets_of(sparse, 1, true, true).shares, (std::vector<double>{0.25, 0, 0.75}));
  EXPECT_EQ(targets_of(sparse, 1, true, true).outputs, 3u);
  const Targets hot = targets_of(one_hot, 2, true, false);
  EXPECT_NEAR(hot.shares[1], 2.0 / 3, 1e-12);
  EXPECT_EQ(hot.outputs, 2u);
  EXPECT_EQ(targets_of(binary, 1, false, false).columns[0].mean, 0.75);
}

const Place kPlace{3, "dense_2/kernel:0", false};

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

TEST(TheDeepChecker, FitOfOneBatch) {
  const Lines fired{"The DNN training is unable to fit properly a single batch of data -> -"};
  EXPECT_EQ(said(check_fit({{0.5, 0.4}, {0.5, below(0.95)}, true})), fired);
  EXPECT_EQ(said(check_fit({{0.5, 0.4}, {above(0.95), 0.5}, true})), Lines{});
  EXPECT_EQ(said(check_fit({{0.5, 0.4}, {0.5, 0.001}, false})), Lines{});
}

TEST(TheDeepChecker, FitOfARegressionTakesTheLeastError) {
  const Lines fired{"The DNN training is unable to fit properly a single batch of data -> -"};
  EXPECT_EQ(said(check_fit({{0.5, 0.4}, {0.5, above(0.001)}, false})), fired);
}

TEST(TheDeepChecker, LossThatIsNoNumber) {
  const double nan = std::nan(""), infinite = std::numeric_limits<double>::infinity();
  const Messages found = check_fit({{0.5, nan}, {1, 1}, true});
  EXPECT_EQ(said(found),
            (Lines{"Loss is turning into NaN -> -",
                   "The DNN training is unable to fit properly a single batch of data -> -"}));
  EXPECT_EQ(found[0].epochs, std::vector<std::int64_t>{1});
  EXPECT_EQ(said(check_fit({{infinite}, {1}, true}))[0], "Loss is turning into +/-Inf -> -");
}

TEST(TheDeepChecker, LossThatReachesZero) {
  const Lines fired{
      "The loss is smoothly decreasing towards zero: The model may need "
      "regularization -> RRW"};
  // 100 losses that fall to `least`, with two turns for each of `bumps`.
  const auto fit = [](double least, int bumps) {
    Fit fit;
    for (int i = 0; i < 100; ++i) fit.losses.push_back(std::pow(least, i / 99.0));
    for (int i = 1; i <= bumps; ++i) fit.losses[static_cast<std::size_t>(10 * i)] *= 10;
    fit.performance.assign(100, 1);
    return fit;
  };
  EXPECT_EQ(said(check_fit(fit(1e-5, 2))), fired);
  EXPECT_EQ(said(check_fit(fit(above(1e-5), 2))), Lines{});
  EXPECT_EQ(said(check_fit(fit(1e-5, 3))), Lines{});  // not smooth
  EXPECT_EQ(said(check_fit(fit(1e-8, 3))), fired);
  EXPECT_EQ(said(check_fit(fit(above(1e-8), 3))), Lines{});
  // Four turns of a hundred are smooth, five aren't.
  Fit rising = fit(1e-6, 2);
  rising.losses.back() = 1;
  EXPECT_LE(rising.losses[98], 1e-5);
  EXPECT_EQ(said(check_fit(rising)), Lines{});
  // A loss far below zero isn't near it; the published rule asks only for a small one.
  Fit negative = fit(1e-6, 3);
  negative.losses.back() = -3e11;
  EXPECT_EQ(said(check_fit(negative)), fired);
  EXPECT_NE(check_fit(negative)[0].detail.find("far below zero"), std::string::npos);
  EXPECT_EQ(said(check_fit(negative, kRepaired)), Lines{});
}

TEST(TheDeepChecker, ShippedSettings) {
  EXPECT_EQ(message_table().threshold("perfect_error"), 1e-4);
  EXPECT_EQ(message_table().threshold("range_check"), 0);
}

TEST(TheDeepChecker, DataDependence) {
  // 0 to 99, and the same shifted by some places and a half.
  const auto said_of = [](int places) {
    std::vector<double> real, zeroed;
    for (int i = 0; i < 100; ++i) {
      real.push_back(i);
      zeroed.push_back(i + places + 0.5);
    }
    EXPECT_EQ(evaluators::mann_whitney_u(real, zeroed).p <= 0.05, places > 7);
    return said(check_data_dependence(real, zeroed));
  };
  EXPECT_EQ(said_of(7),
            Lines{"The training procedure seems to be not considering the data inputs -> -"});
  EXPECT_EQ(said_of(8), Lines{});
  // Of longer fits the last 100 losses count.
  std::vector<double> long_fit(200, 9), other(200, 1);
  std::iota(long_fit.begin() + 100, long_fit.end(), 0);
  std::iota(other.begin() + 100, other.end(), 0);
  EXPECT_EQ(said(check_data_dependence(long_fit, other)).size(), 1u);
}

/// What a check says in the last of `iterations` iterations, all with the same values.
template <typename Check, typename... Values>
Lines at_iteration(Check check, std::int64_t iterations, const Values&... values) {
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

const Place kOutput{5, "dense_3/", false};

TEST(TheDeepChecker, OutputsThatAreNoProbabilities) {
  const Lines fired{
      "The predicted outputs are not valid with respect to the target -> "
      "ACH(5)|LCN(5)"};
  const auto judged = [](std::vector<float> outputs, std::size_t width, Targets targets) {
    return at_iteration(OutputCheck(kOutput, targets), 0, outputs, width);
  };
  Targets binary = classes({0.5, 0.5});
  binary.outputs = 1;
  EXPECT_EQ(judged({0, 1}, 1, binary), Lines{});
  EXPECT_EQ(judged({0, above(1.0f)}, 1, binary), fired);
  EXPECT_EQ(judged({-kTiny, 1}, 1, binary), fired);
  // Sums above 0.95 and below 1.05, between which and their single precisions the limits lie.
  const auto summing_to = [&](float sum) {
    return judged({0, sum, 0.5f, 0.5f}, 2, classes({0.5, 0.5}));
  };
  EXPECT_EQ(summing_to(0.95f), fired);
  EXPECT_EQ(summing_to(above(0.95f)), Lines{});
  EXPECT_EQ(summing_to(1.05f), Lines{});
  EXPECT_EQ(summing_to(above(1.05f)), fired);
  EXPECT_EQ(judged({-kTiny, 1, 0.5f, 0.5f}, 2, classes({0.5, 0.5})), fired);
  EXPECT_EQ(judged({0.2f, 0.8f, 0.6f, 0.4f}, 2, classes({0.4, 0.3, 0.3})), fired);
  EXPECT_EQ(judged({1, 2, 3, 4}, 2, regression({kNormal})), fired);
}

TEST(TheDeepChecker, OutputsThatAreNoNumbers) {
  const auto judged = [](float value) {
    return at_iteration(OutputCheck(kOutput, classes({0.5, 0.5})), 0,
                        std::vector<float>{value, 0.5f}, std::size_t{1});
  };
  EXPECT_EQ(judged(std::nanf("")), Lines{"There was (a) NaN(s) in outputs -> -"});
  EXPECT_EQ(judged(-INFINITY), Lines{"There was (a) +/-Inf(s) in outputs -> -"});
  EXPECT_EQ(judged(kHuge),
            Lines{"The predicted outputs are not valid with respect to the target -> "
                  "ACH(5)|LCN(5)"});
}

TEST(TheDeepChecker, OutputsThatNeverChange) {
  const OutputCheck check(kOutput, [] {
    Targets targets = classes({0.5, 0.5});
    targets.outputs = 1;
    return targets;
  }());
  const std::vector<float> same(4, 0.5f), other{0.5f, 0.5f, above(0.5f), 0.5f};
  // The fifth check is that of iteration 40.
  EXPECT_EQ(at_iteration(check, 39, same, std::size_t{1}), Lines{});
  EXPECT_EQ(at_iteration(check, 30, same, std::size_t{1}), Lines{});
  EXPECT_EQ(at_iteration(check, 40, same, std::size_t{1}),
            Lines{"Outputs of the model are constantly unchanged -> -"});
  EXPECT_EQ(at_iteration(check, 40, other, std::size_t{1}), Lines{});
}

TEST(TheDeepChecker, OutputsOfARegressionMustReachItsTargets) {
  const auto judged = [](Column target, float low, float high, std::int64_t at = 40) {
    return at_iteration(OutputCheck(kOutput, regression({target})), at,
                        std::vector<float>{low, high}, std::size_t{1});
  };
  EXPECT_EQ(
      judged(kWide, 0, 1),
      Lines{"The model seems to be unable to predict enough high magnitude values -> ACH(5)"});
  EXPECT_EQ(judged(kWide, 0, 1, 30), Lines{});  // the fifth check is that of iteration 40
  EXPECT_EQ(judged(kWide, 0, above(1.0f)), Lines{});
  EXPECT_EQ(judged({0.5, 0.2, 0, above(1.0)}, 0, 1).size(), 1u);
  EXPECT_EQ(judged(kNormal, 0, 1), Lines{});
  EXPECT_EQ(judged(kCentred, 0, 1),
            Lines{"The model seems to be unable to predict negative values -> ACH(5)"});
  EXPECT_EQ(judged(kCentred, 0, 1, 30), Lines{});
  EXPECT_EQ(judged(kCentred, -kTiny, 1), Lines{});
  EXPECT_EQ(judged({0.5, 0.2, below(0.0), 1}, 0, 1).size(), 1u);
}

const Place kActivation{2, "dense_1/relu", false}, kFilters{2, "conv_1/relu", true};

TEST(TheDeepChecker, RangeOfActivations) {
  const auto judged = [](const std::string& activation, float value) {
    std::vector<float> values = around(100, 1);
    for (float& v : values) v = std::abs(v) * 0.5f + 0.1f;
    values[0] = value;
    Lines range;
    for (const std::string& line :
         at_iteration(ActivationCheck(kActivation, activation, true), 10, values, std::size_t{2})) {
      if (line.starts_with("Activations of")) range.push_back(line);
    }
    return range;
  };
  EXPECT_EQ(judged("relu", -kTiny),
            Lines{"Activations of dense_1/relu had values less than 0.0 -> ACH(2)"});
  EXPECT_EQ(judged("relu", 0), Lines{});
  EXPECT_EQ(judged("sigmoid", above(1.0f)),
            Lines{"Activations of dense_1/relu had values greater than 1.0 -> ACH(2)"});
  EXPECT_EQ(judged("sigmoid", 1), Lines{});
  EXPECT_EQ(judged("tanh", -1), Lines{});
  EXPECT_EQ(judged("tanh", below(-1.0f)),
            Lines{"Activations of dense_1/relu had values less than -1.0 -> ACH(2)"});
  EXPECT_EQ(judged("elu", below(-1.0f)),
            Lines{"Activations of dense_1/relu had values less than -1.0 -> ACH(2)"});
  EXPECT_EQ(judged("relu6", above(6.0f)),
            Lines{"Activations of dense_1/relu had values greater than 6.0 -> ACH(2)"});
  EXPECT_EQ(judged("elu", -1), Lines{});
  EXPECT_EQ(judged("relu6", 6), Lines{});
  EXPECT_EQ(judged("selu", -100), Lines{});
  // The shipped settings switch it off.
  EXPECT_FALSE(ActivationCheck::checks_range());
}

TEST(TheDeepChecker, ActivationsThatAreNoNumbers) {
  const auto judged = [](float value) {
    return at_iteration(ActivationCheck(kActivation, "selu"), 10, std::vector<float>{value, 1},
                        std::size_t{1});
  };
  EXPECT_EQ(judged(std::nanf("")), Lines{"There was (a) NaN(s) in activation dense_1/relu -> -"});
  EXPECT_EQ(judged(INFINITY), Lines{"There was (a) +/-Inf(s) in activation dense_1/relu -> -"});
}

/// Whether the one neuron of a layer is dead, from one batch.
Lines said_at_ten(const std::vector<float>& values) {
  ActivationCheck check(kActivation, "relu");
  Messages found;
  check.see(10, values, 1, found);
  std::erase_if(found, [](const ToolMessage& message) { return message.code != "fc_act_dead"; });
  return said(found);
}

TEST(TheDeepChecker, DeadNeurons) {
  // Ten rows of four neurons; dead ones stay at `value`.
  const auto judged = [](std::size_t dead, float value, const Place& place, std::int64_t at) {
    std::vector<float> values(40);
    for (std::size_t i = 0; i < 40; ++i) {
      values[i] = i % 4 < dead ? value : static_cast<float>(1 + i / 4 % 2);
    }
    return at_iteration(ActivationCheck(place, "relu"), at, values, std::size_t{4});
  };
  EXPECT_EQ(judged(3, 0, kActivation, 10),
            Lines{"3/4 neuron(s) of FC layer activation dense_1/relu are considered dead -> "
                  "ACH(2)|HLR|WCI(2)"});
  EXPECT_EQ(judged(3, 0, kFilters, 20)[0],
            "3/4 filter(s) of Conv. layer activation conv_1/relu are considered dead -> "
            "ACH(2)|HLR|WCI(2)");
  EXPECT_EQ(judged(2, 0, kActivation, 10), Lines{});
  EXPECT_EQ(judged(3, above(1e-5f), kActivation, 10), Lines{});
  EXPECT_EQ(judged(3, 1e-5f, kActivation, 10).size(), 1u);  // a little less than 1e-5
  EXPECT_EQ(judged(3, 0, kActivation, 9), Lines{});         // before the start
  EXPECT_EQ(judged(3, 0, kActivation, 11), Lines{});        // between checks
  // A neuron may live in one of 21 rows, not in two: the 95th percentile is the 20th of them.
  const auto alive_in = [](std::size_t rows) {
    std::vector<float> values(21);
    for (std::size_t i = 0; i < rows; ++i) values[i] = 1;
    return said_at_ten(values).size();
  };
  EXPECT_EQ(alive_in(1), 1u);
  EXPECT_EQ(alive_in(2), 0u);
}

TEST(TheDeepChecker, SaturatedNeurons) {
  // Four neurons, of which some are at `low` and 1 - `low`, the others at 0.1 and 0.9.
  const auto judged = [](std::size_t saturated, float low, const std::string& activation) {
    std::vector<float> values(400);
    for (std::size_t i = 0; i < values.size(); ++i) {
      const float at = i % 4 < saturated ? low : 0.1f;
      values[i] = i / 4 % 2 == 0 ? at : 1 - at;
    }
    return at_iteration(ActivationCheck({1, "dense_1/sigmoid", false}, activation), 10, values,
                        std::size_t{4});
  };
  // 1 - 2 * 0.075 = 0.85
  EXPECT_EQ(judged(3, 0.074999f, "sigmoid"),
            Lines{"3/4 neuron(s) of FC layer activation dense_1/sigmoid are considered saturated "
                  "-> ACH(1)|WCI(1)"});
  EXPECT_EQ(judged(3, 0.075001f, "sigmoid"), Lines{});
  EXPECT_EQ(judged(2, 0.07f, "sigmoid"), Lines{});
  EXPECT_EQ(judged(3, 0.07f, "tanh").size(), 1u);
  EXPECT_EQ(judged(3, 0.07f, "relu"), Lines{});
}

TEST(TheDeepChecker, UnstableActivations) {
  const double f = std::sqrt(2.70554);
  const auto judged = [](double stddev) {
    return at_iteration(ActivationCheck(kActivation, "selu"), 10, around(100, stddev),
                        std::size_t{2});
  };
  EXPECT_EQ(judged(2 * f * 0.999999), Lines{});
  EXPECT_EQ(judged(0.5 / f * 1.000001), Lines{});
  EXPECT_EQ(judged(4), Lines{"FC layer activation dense_1/relu are considered unstable with std of "
                             "4.0 far from [0.5, 2.0] -> ACH(2)|WCI(2)"});
  EXPECT_EQ(judged(2 * f * 1.000001).size(), 1u);
  EXPECT_EQ(judged(0.5 / f * 0.999999).size(), 1u);
}

Lines weight(const std::vector<float>& values, const Place& place = kPlace, bool bias = false,
             std::int64_t at = 10, ToolVariant variant = kPublished) {
  return at_iteration(WeightCheck(place, bias, variant), at, values);
}

TEST(TheDeepChecker, NegativeWeights) {
  EXPECT_EQ(
      weight(mixed(1000, 0.951, -1, 1)),
      Lines{"FC layer weight dense_2/kernel:0 has 0.951 as ratio of negative elements (>0.95) "
            "-> WCI(3)"});
  EXPECT_EQ(weight(mixed(1000, 0.95, -1, 1)), Lines{});
  EXPECT_EQ(weight(mixed(1000, 0.951, -1, 1), kPlace, true), Lines{});
  EXPECT_EQ(weight(mixed(1000, 0.951, -1, 1), kPlace, false, 9), Lines{});
  EXPECT_EQ(weight(mixed(1000, 1, -1, 1), {0, "c", true})[0],
            "Conv. layer weight c has 1.0 as ratio of negative elements (>0.95) -> WCI(0)");
}

TEST(TheDeepChecker, OneNegativeNumberIsNoShareUnlessPublished) {
  EXPECT_EQ(weight({-1}).size(), 1u);
  EXPECT_EQ(weight({-1}, kPlace, false, 10, kRepaired), Lines{});
}

TEST(TheDeepChecker, DeadWeights) {
  // In single precision, 1e-5 is a little less.
  EXPECT_EQ(weight(mixed(1000, 0.951, 1e-5f, 1)),
            Lines{"FC layer weight dense_2/kernel:0 has 0.951 as ratio of dead elements (<=1e-05) "
                  "-> RAW(3)|WCI(3)"});
  EXPECT_EQ(weight(mixed(1000, 0.95, 1e-5f, 1)), Lines{});
  EXPECT_EQ(weight(mixed(1000, 0.951, above(1e-5f), 1)), Lines{});
}

TEST(TheDeepChecker, WeightsThatAreNoNumbers) {
  EXPECT_EQ(weight({std::nanf("")}, kPlace, false, 1),
            Lines{"There was (a) NaN(s) in weight dense_2/kernel:0 -> -"});
  EXPECT_EQ(weight({INFINITY}, kPlace, false, 1),
            Lines{"There was (a) +/-Inf(s) in weight dense_2/kernel:0 -> -"});
  EXPECT_EQ(weight({std::nanf("")}, kPlace, true, 1),
            Lines{"There was (a) NaN(s) in bias dense_2/kernel:0 -> -"});
  EXPECT_EQ(weight({INFINITY}, kPlace, true, 1),
            Lines{"There was (a) +/-Inf(s) in bias : dense_2/kernel:0 -> -"});
  for (const bool bias : {false, true}) {
    EXPECT_EQ(weight({kHuge, -kHuge}, kPlace, bias, 1), Lines{});
  }
}

TEST(TheDeepChecker, LargeWeights) {
  EXPECT_EQ(
      weight({1.01e8f, -1.01e8f}, kPlace, false, 10, kRepaired),
      Lines{"FC layer weight are diverging until reaching abs mean of 101000000.0 > 100000000 "
            "-> HLR|WCI(3)"});
  // The published tool puts the name where the number belongs.
  EXPECT_EQ(weight({1.01e8f, -1.01e8f}),
            Lines{"FC layer weight are diverging until reaching abs mean of dense_2/kernel:0 > "
                  "101000000.0 -> HLR|WCI(3)"});
  EXPECT_EQ(weight({1e8f, -1e8f}), Lines{});
  EXPECT_EQ(weight({above(1e8f), -above(1e8f)}).size(), 1u);
  EXPECT_EQ(weight({1e8f}, kPlace, true), Lines{});
  EXPECT_EQ(weight({1.01e8f}, {4, "dense_2/bias:0", false}, true),
            Lines{"Bias dense_2/bias:0 is diverging until reaching abs mean of 101000000.0 > "
                  "100000000 -> BCI(4)|HLR"});
}

/// What is said at iteration 10 of values that grow by `factor` in the last `steps` iterations.
template <typename See>
Lines grown(double factor, int steps, See see) {
  Messages found;
  double value = 1;
  for (int i = 0; i <= 10; ++i) {
    if (i > 10 - steps) value *= factor;
    found.clear();
    see(i, static_cast<float>(value), found);
  }
  return said(found);
}

TEST(TheDeepChecker, GrowingWeights) {
  const auto judged = [](double factor, int steps, bool bias) {
    WeightCheck check(kPlace, bias, kRepaired);
    return grown(factor, steps, [&](int i, float value, Messages& found) {
      check.see(i, std::vector<float>{value, -value}, found);
    });
  };
  EXPECT_EQ(judged(2, 4, false),
            Lines{"FC layer weight are diverging with growth rate reaching 2.0 > 2 -> HLR|WCI(3)"});
  EXPECT_EQ(judged(1.999999, 4, false), Lines{});
  EXPECT_EQ(judged(2, 3, false), Lines{});
  EXPECT_EQ(judged(2, 4, true),
            Lines{"Bias dense_2/kernel:0 is diverging with growth rate reaching 2.0 > 2 -> "
                  "BCI(3)|HLR"});
}

/// A gradient check with weights of size 1 that change by `update`.
Lines gradient(double size, double update, std::int64_t at = 10) {
  return at_iteration(GradientCheck(kPlace), at, around(100, 1), around(100, 1 + update),
                      around(100, size));
}

TEST(TheDeepChecker, SizeOfUpdates) {
  EXPECT_EQ(gradient(1, 0.05), Lines{});
  EXPECT_EQ(gradient(1, 0.125),
            Lines{"FC layer weight dense_2/kernel:0 change too quickly with magnitude update ratio "
                  "of -0.903 > -1 -> HLR"});
  // 1.1f and 1.0001f are a little more.
  const auto updated = [](float after) {
    return at_iteration(GradientCheck(kPlace), 10, around(100, 1), around(100, after),
                        around(100, 1));
  };
  EXPECT_EQ(updated(below(1.1f)), Lines{});
  EXPECT_EQ(updated(1.1f).size(), 1u);
  EXPECT_EQ(updated(1.0001f), Lines{});
  EXPECT_EQ(updated(below(1.0001f)).size(), 1u);
  // The least change there is leaves no weights untrained.
  EXPECT_EQ(updated(above(1.0f)),
            Lines{"FC layer weight of dense_2/kernel:0 change too slowly with magnitude update "
                  "ratio of -6.924 < -4 -> HLR"});
  EXPECT_EQ(gradient(1, 0.00001),
            Lines{"FC layer weight of dense_2/kernel:0 change too slowly with magnitude update "
                  "ratio of -4.999 < -4 -> HLR"});
  EXPECT_EQ(gradient(1, 0),
            Lines{"The weights of dense_2/kernel:0 are untrained (no value is changing) -> "
                  "ACH(3)|HLR"});
  EXPECT_EQ(gradient(1, 0, 0), Lines{});
  EXPECT_EQ(gradient(1, 0, 9), Lines{});
}

TEST(TheDeepChecker, SmallAndLargeGradients) {
  EXPECT_EQ(gradient(1e-6, 0.01),  // in single precision a little less
            Lines{"Gradient w.r.t weight of FC layer dense_2/kernel:0 are vanishing with reaching "
                  "abs mean of 0.0 < 1e-06 -> ACH(3)|WCI(3)"});
  EXPECT_EQ(gradient(above(1e-6f), 0.01), Lines{});
  EXPECT_EQ(gradient(1e6, 0.01), Lines{});
  EXPECT_EQ(gradient(above(1e6f), 0.01).size(), 1u);
  const Lines large = gradient(1.5e6, 0.01);
  EXPECT_EQ(large, Lines{"Gradient w.r.t weight of FC layer dense_2/kernel:0 are exploding with "
                         "reaching abs mean of 1500000.0 > 1000000 -> HLR|OCG|WCI(3)"});
}

TEST(TheDeepChecker, GrowingAndFallingGradients) {
  const auto judged = [](double factor, int steps) {
    GradientCheck check(kPlace);
    const std::vector<float> before = around(10, 1), after = around(10, 1.01);
    return grown(factor, steps, [&](int i, float value, Messages& found) {
      check.see(i, before, after, std::vector<float>{value, -value}, found);
    });
  };
  EXPECT_EQ(judged(2, 4), Lines{"Gradient w.r.t weight of FC layer dense_2/kernel:0 are exploding "
                                "with growth rate reaching 2.0 > 2 -> HLR|OCG|WCI(3)"});
  EXPECT_EQ(judged(1.999999, 4), Lines{});
  EXPECT_EQ(judged(2, 3), Lines{});
  EXPECT_EQ(judged(0.5, 4),
            Lines{"Gradient w.r.t weight of FC layer dense_2/kernel:0 are vanishing "
                  "with decay rate reaching 0.5 < 0.5 -> ACH(3)|WCI(3)"});
  EXPECT_EQ(judged(0.500001, 4), Lines{});
  EXPECT_EQ(judged(0.5, 3), Lines{});
}

TEST(TheDeepChecker, GradientsThatAreNoNumbers) {
  EXPECT_EQ(gradient(std::nan(""), 0.01),
            Lines{"There was (a) NaN(s) in gradient w.r.t weight dense_2/kernel:0 -> -"});
  EXPECT_EQ(gradient(INFINITY, 0.01),
            Lines{"There was (a) +/-Inf(s) in gradient w.r.t weight dense_2/kernel:0 -> -"});
  for (const std::string& line : gradient(kHuge, 0.01)) {
    EXPECT_EQ(line.find("There was"), std::string::npos) << line;
  }
}

TEST(TheDeepChecker, OverwhelmingRegularization) {
  EXPECT_EQ(at_iteration(RegularizationCheck(kPlace), 4, 2.5),
            Lines{"The data loss is overwhelmed by regularization losses reaching 2.5 > 2. -> "
                  "RAW(3)"});
  EXPECT_EQ(at_iteration(RegularizationCheck(kPlace), 3, 2.5), Lines{});
  EXPECT_EQ(at_iteration(RegularizationCheck(kPlace), 4, below(2.0)), Lines{});
  EXPECT_EQ(at_iteration(RegularizationCheck(kPlace), 4, 2.0).size(), 1u);
}

/// What is said at the last of some checks. The mean loss of the n-th check is `losses`[n].
Lines losses(const std::vector<double>& losses, const std::vector<double>& performances = {}) {
  LossCheck check;
  Messages found;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double performance = performances.empty() ? -losses[i] : performances[i];
    const std::int64_t last = 10 * static_cast<std::int64_t>(i);
    found.clear();
    for (std::int64_t iteration = i == 0 ? 0 : last - 9; iteration <= last; ++iteration) {
      check.see(iteration, losses[i], performance, found);
    }
  }
  return said(found);
}

TEST(TheDeepChecker, LossThatHardlyFalls) {
  const auto falling = [](double share, int checks) {
    std::vector<double> curve{1};
    for (int i = 1; i < checks; ++i) curve.push_back(curve.back() * (1 - share));
    return losses(curve);
  };
  EXPECT_EQ(falling(0.05 - 1e-12, 5), Lines{"The loss is no-or-slowly decreasing -> -"});
  EXPECT_EQ(falling(0.05 + 1e-12, 5), Lines{});
  EXPECT_EQ(falling(0.05 - 1e-12, 4), Lines{});
}

TEST(TheDeepChecker, LossThatGrows) {
  EXPECT_EQ(losses({1, 2, 4, 8, 16}),
            (Lines{"The loss is no-or-slowly decreasing -> -",
                   "Loss is diverging with absolute rate reaching 2.0 -> -"}));
  EXPECT_EQ(losses({1, 2, 4, 8, 15.999999}), Lines{"The loss is no-or-slowly decreasing -> -"});
}

TEST(TheDeepChecker, LossThatFluctuates) {
  EXPECT_EQ(losses({1, 0.5, 1, 0.5, 1, 0.5}),
            Lines{"There is a lot of fluctuations, the smoothness of Loss is 0.333 > 0.5 -> -"});
  EXPECT_EQ(losses({1, 0.5, 1, 0.5}), Lines{});  // half of the values turn
  EXPECT_EQ(losses({1, 0.5, 1, 0.5, 1}),
            Lines{"There is a lot of fluctuations, the smoothness of Loss is 0.4 > 0.5 -> -"});
}

TEST(TheDeepChecker, LossThatDoesNotGoWithThePerformance) {
  EXPECT_EQ(losses({1, 0.8, 0.6, 0.4}, {0.1, 0.2, 0.2, 0.1}),
            Lines{"The loss seems to lack representativeness: the correlation magnitude between "
                  "loss and performance measures equals to 0.0 < 0.5 -> LCH"});
  // A correlation of 1/2
  EXPECT_EQ(losses({3, 2, 1}, {2, -2, 0}), Lines{});
  EXPECT_EQ(losses({3, 2, 1}, {2, -2.000001, 0}).size(), 1u);
  EXPECT_EQ(losses({1, 0.8}, {0.1, 0.1}), Lines{});
  EXPECT_EQ(losses({1, 0.8, 0.6, 0.4}, {0.5, 0.5, 0.5, 0.5}), Lines{});  // no correlation at all
}

TEST(TheDeepChecker, LossOfAnIterationThatIsNoNumber) {
  Messages found;
  LossCheck check;
  check.see(0, std::nan(""), 0, found);
  check.see(1, INFINITY, 0, found);
  EXPECT_EQ(said(found),
            (Lines{"Loss is turning into NaN -> -", "Loss is turning into +/-Inf -> -"}));
}

TEST(TheDeepChecker, SimilarityOfTheModes) {
  std::vector<float> a(40), b(40), c(40);
  for (std::size_t i = 0; i < 40; ++i) {
    const float wave = std::sin(static_cast<float>(i) * 1.7f);
    a[i] = wave;
    b[i] = wave + 0.1f * std::cos(static_cast<float>(i * i));
    c[i] = std::cos(static_cast<float>(i * i));
  }
  EXPECT_NEAR(similarity(a, a, 20), 1, 1e-9);
  EXPECT_GT(similarity(a, b, 20), 0.75);
  EXPECT_LT(similarity(a, c, 20), 0.75);
  EXPECT_TRUE(std::isnan(similarity(a, repeated(40, 1), 20)));

  EXPECT_EQ(check_modes(kActivation, false, {3}, a, b, 20, 7, kPublished).size(), 0u);
  const Messages hidden = check_modes(kActivation, false, {3}, a, c, 20, 7, kPublished);
  ASSERT_EQ(hidden.size(), 1u);
  EXPECT_EQ(hidden[0].epochs, std::vector<std::int64_t>{7});
  EXPECT_TRUE(
      said(hidden)[0].starts_with("After switch from train to eval mode, hidden "
                                  "activations have low consistency with similarity of "));
  EXPECT_TRUE(said(hidden)[0].ends_with(" < 0.75 -> RCD(3)"));
  EXPECT_TRUE(said(check_modes(kActivation, true, {3}, a, c, 20, 7, kPublished))[0].starts_with(
      "After switch from train to eval mode, outputs have low consistency with similarity of "));
}

TEST(TheDeepChecker, ModesAreUnlikeUpToTheLimit) {
  // Features that go over to other ones; just where their similarity passes 0.75.
  std::vector<float> a(40), blend(40);
  const auto mix = [&](double share) {
    for (std::size_t i = 0; i < 40; ++i) {
      a[i] = std::sin(static_cast<float>(i) * 1.7f);
      blend[i] = a[i] + static_cast<float>(share) * std::cos(static_cast<float>(i * i));
    }
    return similarity(a, blend, 20);
  };
  double alike = 0, unlike = 10;
  while (unlike - alike > 1e-6) {
    const double middle = (alike + unlike) / 2;
    (mix(middle) > 0.75 ? alike : unlike) = middle;
  }
  EXPECT_NEAR(mix(alike), 0.75, 1e-5);
  EXPECT_EQ(check_modes(kActivation, false, {3}, a, blend, 20, 0, kRepaired).size(), 0u);
  EXPECT_NEAR(mix(unlike), 0.75, 1e-5);
  const Messages found = check_modes(kActivation, false, {3}, a, blend, 20, 0, kRepaired);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].layers, std::set<int>{2});
}

TEST(TheDeepChecker, FeaturesThatDoNotVaryDifferUnlessRepaired) {
  const std::vector<float> same(40, 1);
  EXPECT_EQ(check_modes(kActivation, false, {3}, same, same, 20, 0, kPublished).size(), 1u);
  EXPECT_EQ(check_modes(kActivation, false, {3}, same, same, 20, 0, kRepaired).size(), 0u);
}

TEST(TheDeepChecker, WithoutDropoutNoneIsToBlame) {
  const Messages found = check_mode_losses({}, 3, 1, 0);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(found[0].faults.empty());
  EXPECT_FALSE(found[0].ignored.empty());
}

TEST(TheDeepChecker, FaultsLieWhereActivationAndWeightsAre) {
  const Place kernel{6, "dense_3/kernel:0", false, 7, -1},
      output{7, "activation_3/relu", false, -1, 6};
  EXPECT_EQ(at_iteration(GradientCheck(kernel), 10, around(10, 1), around(10, 1), around(10, 0)),
            (Lines{"The weights of dense_3/kernel:0 are untrained (no value is changing) -> "
                   "ACH(7)|HLR",
                   "Gradient w.r.t weight of FC layer dense_3/kernel:0 are vanishing with reaching "
                   "abs mean of 0.0 < 1e-06 -> ACH(7)|WCI(6)"}));
  EXPECT_EQ(at_iteration(ActivationCheck(output, "relu"), 10, repeated(10, 0), std::size_t{2})[0],
            "2/2 neuron(s) of FC layer activation activation_3/relu are considered dead -> "
            "ACH(7)|HLR|WCI(6)");
}

TEST(TheDeepChecker, LossesOfTheModes) {
  EXPECT_EQ(said(check_mode_losses({1}, 2.01, 1, 0)),
            Lines{"After switch from train to eval mode, the loss is no longer consistent (train "
                  "mode:2.01 =/= eval mode:1.0) -> RCD(1)"});
  EXPECT_EQ(said(check_mode_losses({1}, 2, 1, 0)), Lines{});
  EXPECT_EQ(said(check_mode_losses({1}, above(2.0), 1, 0)).size(), 1u);
  EXPECT_EQ(said(check_mode_losses({1}, 1, 2.01, 0)).size(), 1u);
}

/// Of weights and outputs of images; the limits are those of the tests above.
TEST(TheDeepChecker, WordsAboutConvolutions) {
  const Place kernel{4, "conv/kernel:0", true}, outputs{4, "conv/relu", true};
  const auto of_weights = [&](const std::vector<float>& values) {
    return weight(values, kernel, false, 10, kRepaired);
  };
  EXPECT_EQ(of_weights(mixed(1000, 0.951, -1, 1)),
            Lines{"Conv. layer weight conv/kernel:0 has 0.951 as ratio of negative elements (>0.95)"
                  " -> WCI(4)"});
  EXPECT_EQ(of_weights(mixed(1000, 0.951, 0, 1)),
            Lines{"Conv. Layer weight conv/kernel:0 has 0.951 as ratio of dead elements (<=1e-05) "
                  "-> RAW(4)|WCI(4)"});
  EXPECT_EQ(of_weights({2e8f, -2e8f}),
            Lines{"Conv. layer weight are diverging until reaching abs mean of 200000000.0 > "
                  "100000000 -> HLR|WCI(4)"});
  WeightCheck growing(kernel, false, kRepaired);
  EXPECT_EQ(grown(3, 4,
                  [&](int i, float value, Messages& found) {
                    growing.see(i, std::vector<float>{value, -value}, found);
                  }),
            Lines{"Conv. layer weight are diverging with growth rate reaching 3.0 > 2 -> "
                  "HLR|WCI(4)"});

  const auto of_gradients = [&](double size, double update) {
    return at_iteration(GradientCheck(kernel), 10, around(100, 1), around(100, 1 + update),
                        around(100, size));
  };
  EXPECT_EQ(of_gradients(1, 0.125),
            Lines{"Conv. layer weight conv/kernel:0 change too quickly with magnitude update ratio "
                  "of -0.903 > -1 -> HLR"});
  EXPECT_EQ(of_gradients(1, 0.00001),
            Lines{"Conv. layer weight conv/kernel:0 change too slowly with magnitude update ratio "
                  "of -4.999 < -4 -> HLR"});
  EXPECT_EQ(of_gradients(0, 0.01),
            Lines{"Gradient w.r.t weight of Conv. layer conv/kernel:0 are vanishing with reaching "
                  "abs mean of 0.0 < 1e-06 -> ACH(4)|WCI(4)"});
  EXPECT_EQ(of_gradients(1.5e6, 0.01),
            Lines{"Gradient w.r.t weight of Conv. layer conv/kernel:0 are exploding with reaching "
                  "abs mean of 1500000.0 > 1000000 -> HLR|OCG|WCI(4)"});
  const auto of_course = [&](double factor) {
    GradientCheck check(kernel);
    const std::vector<float> before = around(10, 1), after = around(10, 1.01);
    return grown(factor, 4, [&](int i, float value, Messages& found) {
      check.see(i, before, after, std::vector<float>{value, -value}, found);
    });
  };
  EXPECT_EQ(of_course(3), Lines{"Gradient w.r.t weight of Conv. layer conv/kernel:0 are exploding "
                                "with growth rate reaching 3.0 > 2 -> HLR|OCG|WCI(4)"});
  EXPECT_EQ(of_course(0.25), Lines{"Gradient w.r.t weight of Conv. layer conv/kernel:0 are "
                                   "vanishing with decay rate reaching 0.25 < 0.5 -> "
                                   "ACH(4)|WCI(4)"});

  const auto of_outputs = [&](const std::string& activation, std::vector<float> values) {
    return at_iteration(ActivationCheck(outputs, activation), 10, values, std::size_t{2});
  };
  EXPECT_EQ(of_outputs("relu", mixed(100, 1, 0, 0))[0],
            "2/2 filter(s) of Conv. layer activation conv/relu are considered dead -> "
            "ACH(4)|HLR|WCI(4)");
  EXPECT_EQ(of_outputs("sigmoid", mixed(100, 0.5, 0, 1)),
            Lines{"2/2 filter(s) of Conv. layer activation conv/relu are considered saturated -> "
                  "ACH(4)|WCI(4)"});
  EXPECT_EQ(of_outputs("selu", around(100, 4)),
            Lines{"Conv. layer activation conv/relu are considered unstable with std of 4.0 far "
                  "from [0.5, 2.0] -> ACH(4)|WCI(4)"});
}

TEST(TheDeepChecker, MessagesNameTheirLayer) {
  const float nan = std::nanf("");
  const std::vector<float> one{nan};
  Messages found;
  WeightCheck(kPlace, false, kPublished).see(1, one, found);
  WeightCheck(kPlace, true, kPublished).see(1, one, found);
  GradientCheck(kPlace).see(1, one, one, one, found);
  RegularizationCheck regularization(kPlace);
  for (int i = 0; i < 5; ++i) regularization.see(i, 3, found);
  ActivationCheck(Place{3, "a", false}, "relu").see(10, one, 1, found);
  OutputCheck({3, "out", false}, classes({0.5, 0.5})).see(10, one, 1, found);
  EXPECT_EQ(found.size(), 6u);
  for (const ToolMessage& message : found) EXPECT_EQ(message.layers, std::set<int>{3});
}

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
}  // namespace neutra::fl_adapters::thedeepchecker
