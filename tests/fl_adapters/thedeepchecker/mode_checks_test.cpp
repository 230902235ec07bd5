#include "fl_adapters/tools/thedeepchecker/mode_checks.h"

#include <gtest/gtest.h>

#include <cmath>

#include "fl_adapters/tools/thedeepchecker/measures.h"
#include "tests/fl_adapters/next_number.h"
#include "tests/fl_adapters/thedeepchecker/checks.h"

namespace neutra::fl_adapters::thedeepchecker::tests {
namespace {

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

TEST(TheDeepChecker, LossesOfTheModes) {
  EXPECT_EQ(said(check_mode_losses({1}, 2.01, 1, 0)),
            Lines{"After switch from train to eval mode, the loss is no longer consistent (train "
                  "mode:2.01 =/= eval mode:1.0) -> RCD(1)"});
  EXPECT_EQ(said(check_mode_losses({1}, 2, 1, 0)), Lines{});
  EXPECT_EQ(said(check_mode_losses({1}, above(2.0), 1, 0)).size(), 1u);
  EXPECT_EQ(said(check_mode_losses({1}, 1, 2.01, 0)).size(), 1u);
}

}  // namespace
}  // namespace neutra::fl_adapters::thedeepchecker::tests
