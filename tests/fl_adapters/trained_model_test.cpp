#include "fl_adapters/trained_model.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace neutra::fl_adapters {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

bool classes_match(std::vector<float> expected, std::vector<float> actual) {
  return same_class({expected, false}, {actual, false});
}

TEST(Verdict, ClassesAreTheLargestOutputOrTheRoundedOne) {
  EXPECT_TRUE(classes_match({0, 0, 1}, {0.2f, 0.3f, 0.5f}));
  EXPECT_FALSE(classes_match({0, 0, 1}, {0.5f, 0.3f, 0.2f}));
  EXPECT_TRUE(classes_match({2}, {0.2f, 0.3f, 0.5f}));  // a class index
  EXPECT_TRUE(classes_match({1}, {0.51f}));
  EXPECT_FALSE(classes_match({1}, {0.5f}));  // rounds to even
  EXPECT_TRUE(classes_match({0}, {0.5f}));
  EXPECT_FALSE(classes_match({1}, {kNan}));
  EXPECT_TRUE(classes_match({1, 0}, {kNan, kNan}));  // nothing is larger than the first
  EXPECT_TRUE(classes_match({0, 1}, {kNan, -3}));
  EXPECT_TRUE(classes_match({1, 0}, {0.5f, 0.5f}));  // the first of equal ones
}

TEST(Verdict, NumbersAreEqualWithinDelta) {
  const std::vector<float> a{1, 2}, close{1.0005f, 2}, far{1, 2.002f}, nan{1, kNan}, one{1};
  EXPECT_TRUE(same_values({a}, {close}, 1e-3));
  EXPECT_FALSE(same_values({a}, {far}, 1e-3));
  EXPECT_FALSE(same_values({nan}, {nan}, 1e-3));
  EXPECT_FALSE(same_values({a}, {one}, 1e-3));
}

TEST(Ranking, LayersThenNeuronsEachByValueThenPlace) {
  const double inf = std::numeric_limits<double>::infinity();
  std::vector<evaluators::Suspect> list{
      {1, 4, "", 9}, {1, -1, "", 2}, {0, -1, "", 2}, {2, 0, "", inf}, {2, -1, "", inf}};
  sort_ranking(list);
  std::vector<std::pair<int, std::int64_t>> places;
  for (const evaluators::Suspect& suspect : list) {
    places.emplace_back(suspect.layer, suspect.neuron);
  }
  EXPECT_EQ(places,
            (std::vector<std::pair<int, std::int64_t>>{{2, -1}, {0, -1}, {1, -1}, {2, 0}, {1, 4}}));
  EXPECT_EQ(first_layers(list), std::set<int>{2});
}

TEST(Ranking, FirstPlaceMayBeSharedButNotByAll) {
  EXPECT_EQ(first_layers({{3, -1, "", 0.5}, {5, -1, "", 0.5}, {1, -1, "", 0.1}}),
            (std::set<int>{3, 5}));
  EXPECT_EQ(first_layers({{3, -1, "", 0.5}, {5, -1, "", 0.5}}), std::set<int>{});
  EXPECT_EQ(first_layers({{3, -1, "", 0.5}, {3, 0, "", 0.5}}), std::set<int>{3});
  EXPECT_EQ(first_layers({{3, -1, "", 0}, {4, -1, "", -1}}), std::set<int>{});
  EXPECT_EQ(first_layers({}), std::set<int>{});
}

TEST(SharedWork, DoneOnceForAKey) {
  SharedWork<int> work;
  int done = 0;
  const auto make = [&] { return std::pair(++done, true); };
  EXPECT_EQ(*work.get("a", make), 1);
  EXPECT_EQ(*work.get("a", make), 1);
  EXPECT_EQ(*work.get("b", make), 2);
  for (int i = 0; i < 64; ++i) work.get("more " + std::to_string(i), make);
  EXPECT_EQ(done, 66);
  work.get("a", make);  // forgotten meanwhile
  EXPECT_EQ(done, 67);
}

TEST(SharedWork, FailuresAndWhatIsNotToBeKeptAreTriedAgain) {
  SharedWork<int> work;
  EXPECT_THROW(work.get("a", []() -> std::pair<int, bool> { throw std::runtime_error("no"); }),
               std::runtime_error);
  EXPECT_EQ(*work.get("a", [] { return std::pair(1, false); }), 1);
  EXPECT_EQ(*work.get("a", [] { return std::pair(2, true); }), 2);
  EXPECT_EQ(*work.get("a", [] { return std::pair(3, true); }), 2);
}

}  // namespace
}  // namespace neutra::fl_adapters
