#include "evaluators/ranking.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"

namespace neutra::evaluators {
namespace {

Ranking ranking(const std::string& text) { return parse_ranking(text, "test"); }

TEST(Ranking, TextReadsBack) {
  for (const char* text : {"ACH(2) > (0) = (1) > (3:17) > LCH", "HLR", "(0) = (1)", ""}) {
    EXPECT_EQ(to_string(ranking(text)), text);
  }
  const Ranking read = ranking(" ACH(2)>(0:5) = LCH ");
  ASSERT_EQ(read.size(), 3U);
  EXPECT_EQ(read[0].type, "ACH");
  EXPECT_EQ(read[0].layer, 2);
  EXPECT_EQ(read[0].suspiciousness, 2);
  EXPECT_EQ(read[1].type, "");
  EXPECT_EQ(read[1].neuron, 5);
  EXPECT_EQ(read[2].layer, -1);
  EXPECT_EQ(read[2].suspiciousness, 1);
}

TEST(Ranking, MistakesNameThePlace) {
  for (const char* text : {"ABC", "ACH(", "ACH(x)", "(-1)", "(1:)", "ACH > ", "> ACH", "ACH(1) LCH",
                           "ACH(1,2)", "()"}) {
    try {
      ranking(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      EXPECT_NE(std::string(error.what()).find("test: found '"), std::string::npos) << error.what();
    }
  }
}

TEST(Ranking, NeuronsAreTakenForTheirLayer) {
  EXPECT_EQ(to_string(distinct_places(ranking("(3:17) > (0:1) > (3:2) > ACH(3) > (0)"))),
            "(3) > (0) > ACH(3)");
}

TEST(Ranking, TheFirstPlacesWithThoseThatTie) {
  const Ranking read = ranking("(3:17) > (3:2) > (0) = ACH(1) > LCH");
  EXPECT_EQ(to_string(top_places(read, 1)), "(3)");
  EXPECT_EQ(to_string(top_places(read, 2)), "(0), (3), ACH(1)");
  EXPECT_EQ(to_string(top_places(read, 9)), "(0), (3), ACH(1), LCH");
  EXPECT_EQ(to_string(top_places(ranking("(1)"), 1)), "(1)");
  EXPECT_EQ(to_string(top_places(ranking("(1) = (0) = (2)"), 2)), "-");  // nothing stands out
  EXPECT_TRUE(top_places({}, 1).items.empty());
}

TEST(Ranking, RunsAreMergedByMeanSuspiciousness) {
  const Ranking first = {{0, -1, "", 0.9}, {1, -1, "", 0.5}};
  const Ranking second = {{1, -1, "", 0.7}, {2, -1, "", 0.6}, {0, -1, "", 0.1}};
  const Ranking both = merged({first, second});
  EXPECT_EQ(to_string(both), "(1) > (0) > (2)");
  EXPECT_DOUBLE_EQ(both[0].suspiciousness, 0.6);
  EXPECT_DOUBLE_EQ(both[2].suspiciousness, 0.3);  // 0 in the first
  EXPECT_TRUE(merged({}).empty());
}

TEST(Ranking, TheOrderOfRunsMakesNoDifference) {
  // 0.1, 0.2 and 0.3 have another sum from the other end.
  std::vector<Ranking> runs = {{{2, -1, "", 0.1}, {0, -1, "LCH", 0.1}, {0, -1, "ACH", 0.1}},
                               {{0, -1, "ACH", 0.2}, {2, -1, "", 0.2}},
                               {{0, -1, "LCH", 0.5}, {0, -1, "ACH", 0.3}, {2, -1, "", 0.3}}};
  ASSERT_NE((0.1 + 0.2) + 0.3, (0.3 + 0.2) + 0.1);
  const Ranking first = merged(runs);
  EXPECT_EQ(to_string(first), "ACH(0) = (2) > LCH(0)");
  std::vector<int> order = {0, 1, 2};
  while (std::next_permutation(order.begin(), order.end())) {
    std::vector<Ranking> permuted;
    for (const int run : order) permuted.push_back(runs[static_cast<std::size_t>(run)]);
    const Ranking again = merged(permuted);
    ASSERT_EQ(to_string(again), to_string(first));
    for (std::size_t i = 0; i < again.size(); ++i) {
      EXPECT_EQ(again[i].suspiciousness, first[i].suspiciousness);
    }
  }
}

TEST(Ranking, TiedPlacesComeByLayerAndType) {
  EXPECT_EQ(to_string(distinct_places(ranking("(4) > LCH = (2:7) = ACH(2) = HLR = (1) > (0)"))),
            "(4) > HLR = LCH = (1) = (2) = ACH(2) > (0)");
}

}  // namespace
}  // namespace neutra::evaluators
