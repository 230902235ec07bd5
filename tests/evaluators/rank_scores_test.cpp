#include "evaluators/rank_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace neutra::evaluators {
namespace {

RankScore score_of(const std::string& ranking, const std::string& truth,
                   const ScoreOptions& options = {}) {
  return rank_score(parse_ranking(ranking, "test"), program::parse_fault_set(truth, "test"),
                    options);
}

TEST(AveragePrecision, OfAPlainList) {
  const std::vector<int> finds = {1, 0, 1, 0, 1};  // right at the ranks 1, 3 and 5
  const double sum = 1 + 2. / 3 + 3. / 5;
  EXPECT_DOUBLE_EQ(average_precision(finds, 3), sum / 3);
  EXPECT_DOUBLE_EQ(average_precision(finds, 4), sum / 4);
  EXPECT_DOUBLE_EQ(average_precision(finds, 4, AveragePrecision::kRetrieved), sum / 3);
  EXPECT_DOUBLE_EQ(average_precision(finds, 4, AveragePrecision::kLiteral), sum / 5);
  EXPECT_EQ(average_precision({}, 4), 0);
  EXPECT_EQ(average_precision({}, 0, AveragePrecision::kLiteral), 0);
  EXPECT_EQ(average_precision(std::vector<int>{0, 0}, 2, AveragePrecision::kRetrieved), 0);
}

TEST(RankScore, FirstRightPlaceAndPrecisions) {
  // D4: the activations of both layers, loss and rate. Right at 2 and 4; LCH isn't named.
  const RankScore score = score_of("OCH > ACH(1) > BCI(0) > HLR", "ACH(0,1), LCH, HLR");
  EXPECT_EQ(score.first, 2);
  EXPECT_DOUBLE_EQ(score.reciprocal(), 0.5);
  EXPECT_DOUBLE_EQ(score.average_precision, (1. / 2 + 2. / 4) / 3);
  EXPECT_FALSE(score.within(1));
  EXPECT_TRUE(score.within(2));
  const RankScore nothing = score_of("OCH > ACH(2)", "ACH(0,1)");
  EXPECT_EQ(nothing.first, 0);
  EXPECT_EQ(nothing.reciprocal(), 0);
  EXPECT_EQ(nothing.average_precision, 0);
  EXPECT_FALSE(nothing.within(10));
}

TEST(RankScore, AFaultOfSeveralLayersCountsOnce) {
  EXPECT_EQ(score_of("ACH(0) > ACH(1) > HLR", "ACH(0,1), HLR").average_precision, 1);
}

TEST(RankScore, PlacesAloneFindWhatLiesThere) {
  const RankScore score = score_of("(2) > (0:7) > (0) > (1)", "ACH(0), WCI(0), HLR");
  EXPECT_EQ(score.first, 2);
  EXPECT_DOUBLE_EQ(score.average_precision, 2 * (1. / 2) / 3);  // no place is a learning rate's
  EXPECT_EQ(score_of("(0) > (1)", "HLR").first, 0);
}

TEST(RankScore, OfTiedPlacesTheWrongOnesComeFirst) {
  EXPECT_EQ(score_of("(0) = (1) = (2)", "ACH(0)").first, 3);
  EXPECT_EQ(score_of("(0) = (1) = (2)", "ACH(0,1,2)").first, 1);
  EXPECT_EQ(score_of("(3) > (0) = (1)", "ACH(1)").first, 3);
}

TEST(RankScore, TiedPlacesCountTheSameInAnyOrder) {
  // (0) finds both faults of that layer, ACH(0) one of them.
  for (const char* ranking : {"(1) = (0) = ACH(0)", "ACH(0) = (0) = (1)", "ACH(0) = (1) = (0)"}) {
    EXPECT_EQ(score_of(ranking, "ACH(0), WCI(0)").average_precision, 0.5) << ranking;
  }
}

TEST(RankScore, LayersAsTheOptionsSay) {
  ScoreOptions options;
  EXPECT_EQ(score_of("HLR > ACH", "ACH(1)", options).first, 2);
  options.unlocated = Unlocated::kExclude;
  EXPECT_EQ(score_of("HLR > ACH", "ACH(1)", options).first, 0);
  options.match = Match::kType;
  EXPECT_EQ(score_of("HLR > ACH(4)", "ACH(1)", options).first, 2);
}

TEST(RankScore, TheBestOfAllGroundTruths) {
  const Ranking ranking = parse_ranking("OCH > HLR > ACH(1)", "test");
  const auto truth = [](const char* text) { return program::parse_fault_set(text, "test"); };
  const RankScore best =
      best_rank_score(ranking, {truth("ACH(1)"), truth("-"), truth("OCH, LCH, HNE")}, {});
  EXPECT_EQ(best.first, 1);
  EXPECT_DOUBLE_EQ(best.average_precision, 1. / 3);
  EXPECT_EQ(best_rank_score(ranking, {}, {}).first, 0);
}

TEST(RankSummary, OfFourReports) {
  // Ranks of the file in BugLocator's lists for four reports (Jahan, Shah and Rahman, Towards
  // understanding the challenges of bug localization in deep learning systems): texar-pytorch 313,
  // fastai 3048, mxnet 13760 and mxnet 13862.
  std::vector<RankScore> scores;
  for (const int rank : {8, 23, 47, 5}) scores.push_back({rank, 1.0 / rank});
  const RankSummary summary = summary_of(scores);
  EXPECT_EQ(summary.top1, 0);
  EXPECT_EQ(summary.top5, 0.25);
  EXPECT_EQ(summary.top10, 0.5);
  EXPECT_DOUBLE_EQ(summary.mrr, (1. / 8 + 1. / 23 + 1. / 47 + 1. / 5) / 4);
  EXPECT_DOUBLE_EQ(summary.map, summary.mrr);
  EXPECT_EQ(summary_of({}).mrr, 0);
}

TEST(RankSummary, MrrIsBoundedByTopK) {
  std::mt19937 random(7);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<RankScore> scores(1 + random() % 20);
    for (RankScore& score : scores) score.first = static_cast<int>(random() % 15);
    const RankSummary summary = summary_of(scores);
    EXPECT_GE(summary.mrr + 1e-12, summary.top1 + (summary.top5 - summary.top1) / 5 +
                                       (summary.top10 - summary.top5) / 10);
    EXPECT_LE(summary.mrr, 1);
  }
}

TEST(PerformanceDifference, AsPublishedForBugsOfDeepLearning) {
  // Table 8 of Jahan, Shah and Rahman: MAP and MRR on systems without and with deep learning, and
  // the gaps in percent that its text gives.
  struct Case {
    double without, with, gap;
  };
  for (const auto& [without, with, gap] :
       {Case{.459, .314, 31.59}, Case{.385, .257, 33.25}, Case{.539, .355, 34.14},
        Case{.595, .408, 31.43}, Case{.610, .440, 27.87}, Case{.526, .371, 29.46},
        Case{.453, .316, 30.24}, Case{.611, .423, 30.77}, Case{.617, .455, 26.25},
        Case{.660, .500, 24.24}}) {
    EXPECT_NEAR(*performance_difference(without, with), gap, 0.0101);
  }
  EXPECT_FALSE(performance_difference(0, 0.5));
  EXPECT_LT(*performance_difference(0.5, 0.6), 0);
}

}  // namespace
}  // namespace neutra::evaluators
