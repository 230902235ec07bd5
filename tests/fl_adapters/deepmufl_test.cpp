#include "fl_adapters/tools/deepmufl.h"

#include <gtest/gtest.h>

#include <cmath>

namespace neutra::fl_adapters {
namespace {

using deepmufl::Formula;
using deepmufl::LayerResults;
using deepmufl::MutantResult;
using deepmufl::Results;
using Kind = deepmufl::Formula::Kind;

constexpr auto kPublished = ToolVariant::kAsPublished;
constexpr auto kRepaired = ToolVariant::kRepaired;

/// 5 failing, 20 passing tests. Layer 1: three mutants, one of them none; layer 4: one.
Results worked() {
  Results results;
  results.failing = 5;
  results.passing = 20;
  results.layers = {{1, {{true, 2, 6, 4}, {false, 0, 0, 0}, {true, 1, 0, 1}}, 3, 6},
                    {4, {{true, 0, 10, 5}}, 0, 10}};
  return results;
}

double of_layer(int layer, const Formula& formula, ToolVariant variant) {
  for (const evaluators::Suspect& suspect : deepmufl::ranking(worked(), formula, variant)) {
    if (suspect.layer == layer) return suspect.suspiciousness;
  }
  ADD_FAILURE();
  return -1;
}

TEST(DeepmuflFormulas, SbiAndOchiai) {
  EXPECT_DOUBLE_EQ(deepmufl::sbi(2, 6), 0.25);
  EXPECT_EQ(deepmufl::sbi(0, 0), 0);
  EXPECT_EQ(deepmufl::sbi(0, 7), 0);
  EXPECT_DOUBLE_EQ(deepmufl::ochiai(2, 6, 5), 2 / std::sqrt(40.0));
  EXPECT_DOUBLE_EQ(deepmufl::ochiai(5, 0, 5), 1);
  EXPECT_EQ(deepmufl::ochiai(0, 0, 0), 0);
  EXPECT_EQ(deepmufl::ochiai(0, 3, 0), 0);
}

TEST(DeepmuflFormulas, MetallaxisWorkedByHand) {
  // Impact of type 1: 2 of 8, none, 1 of 1. Of type 2: 4 of 10, none, 1 of 1.
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMetallaxis1, false, false}, kPublished), 1.25 / 3);
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMetallaxis1, false, false}, kRepaired), 1.25 / 2);
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMetallaxis1, false, true}, kPublished), 1);
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMetallaxis2, false, false}, kPublished), 1.4 / 3);
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMetallaxis2, false, true}, kRepaired), 1);
  const double first = 2 / std::sqrt(8.0 * 5), third = 1 / std::sqrt(5.0);
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMetallaxis1, true, false}, kPublished), (first + third) / 3);
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMetallaxis1, true, true}, kPublished), third);
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMetallaxis2, true, true}, kPublished),
                   4 / std::sqrt(10.0 * 5));
  EXPECT_EQ(of_layer(4, {Kind::kMetallaxis1, true, true}, kPublished), 0);
  EXPECT_DOUBLE_EQ(of_layer(4, {Kind::kMetallaxis2, false, false}, kPublished), 5.0 / 15);
}

TEST(DeepmuflFormulas, MuseWorkedByHand) {
  // Published: alpha = 3/5 * 6/20 = 0.18; |2/5 - 0.18 * 6/20| + 0 + 1/5, over three mutants.
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMuse, false, false}, kPublished), (0.4 - 0.054 + 0.2) / 3);
  EXPECT_DOUBLE_EQ(of_layer(4, {Kind::kMuse, false, false}, kPublished), 0);
  // MUSE's own: 3 tests fixed and 16 broken by all mutants: alpha = (3/5) / (16/20) = 0.75.
  EXPECT_DOUBLE_EQ(of_layer(1, {Kind::kMuse, false, false}, kRepaired),
                   (0.4 - 0.75 * 0.3 + 0.2) / 2);
  EXPECT_DOUBLE_EQ(of_layer(4, {Kind::kMuse, false, false}, kRepaired), -0.75 * 0.5);
}

TEST(DeepmuflFormulas, NothingFailsNothingPassesNoMutantIsOne) {
  const std::vector<LayerResults> layers{{0, {{true, 0, 3, 0}}, 0, 3},
                                         {1, {{false, 0, 0, 0}}, 0, 0}};
  for (const Results& results :
       {Results{0, 3, layers}, Results{3, 0, layers}, Results{0, 0, layers}}) {
    for (const Kind kind : {Kind::kMetallaxis1, Kind::kMetallaxis2, Kind::kMuse}) {
      for (const bool ochiai : {false, true}) {
        for (const ToolVariant variant : {kPublished, kRepaired}) {
          for (const evaluators::Suspect& suspect :
               deepmufl::ranking(results, {kind, ochiai, false}, variant)) {
            EXPECT_EQ(suspect.suspiciousness, 0);
          }
        }
      }
    }
  }
}

TEST(DeepmuflFormulas, RanksLayers) {
  const std::vector<evaluators::Suspect> list =
      deepmufl::ranking(worked(), {Kind::kMetallaxis1, false, false}, kPublished);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].layer, 1);
  EXPECT_EQ(list[0].neuron, -1);
  EXPECT_EQ(list[1].layer, 4);
}

TEST(DeepmuflVerdict, ArraysOfOneValueAlwaysAgreeAsPublished) {
  const std::vector<float> one{1}, small{0.1f}, large{0.9f}, two{0.1f, 0.9f};
  EXPECT_TRUE(deepmufl::same({one}, {small}, false, kPublished));
  EXPECT_FALSE(deepmufl::same({one}, {small}, false, kRepaired));
  EXPECT_TRUE(deepmufl::same({one}, {large}, false, kRepaired));
  // A plain number is rounded.
  EXPECT_FALSE(deepmufl::same({one, true}, {small}, false, kPublished));
  EXPECT_TRUE(deepmufl::same({one, true}, {large}, false, kPublished));
  // A class index: as a plain number, or in an array of another length than the outputs.
  EXPECT_TRUE(deepmufl::same({one, true}, {two}, false, kPublished));
  EXPECT_FALSE(deepmufl::same({one}, {two}, false, kPublished));
  EXPECT_TRUE(deepmufl::same({one}, {two}, false, kRepaired));
}

TEST(DeepmuflVerdict, RegressionsAgreeWithinDelta) {
  // In single precision, 1.001 is a little more.
  const std::vector<float> a{1}, close{std::nextafter(1.001f, 1.0f)}, far{1.001f};
  EXPECT_TRUE(deepmufl::same({a}, {close}, true, kPublished));
  EXPECT_FALSE(deepmufl::same({a}, {far}, true, kPublished));
}

}  // namespace
}  // namespace neutra::fl_adapters
