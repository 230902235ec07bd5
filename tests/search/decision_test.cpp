#include "search/decision.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>

namespace neutra::search::tests {
namespace {

/// The mean of replicas that got so many of 10 rows right.
MetricMean of_ten(std::vector<std::int64_t> correct) {
  MetricMean mean;
  for (const std::int64_t right : correct) {
    training::ReplicaResult result;
    result.correct = right;
    result.total = 10;
    result.metric = static_cast<double>(right) / 10;
    mean.add(result);
  }
  return mean;
}

const MetricMean kUnusable = mean_of_level(std::numeric_limits<double>::quiet_NaN());

Criteria accuracies() {
  Criteria criteria;
  criteria.replicas = 2;
  criteria.metric_bound = 1;
  return criteria;
}

TEST(IsNeutral, ByTheRule) {
  Criteria criteria = accuracies();
  EXPECT_TRUE(is_neutral(of_ten({5, 5}), of_ten({4, 6}), criteria));
  EXPECT_FALSE(is_neutral(of_ten({5, 4}), of_ten({4, 6}), criteria));
  EXPECT_FALSE(is_neutral(kUnusable, kUnusable, criteria));
  EXPECT_TRUE(is_neutral(of_ten({0, 0}), kUnusable, criteria));
  criteria.rule = Rule::kRecorded;
  EXPECT_FALSE(is_neutral(of_ten({5, 5}), of_ten({4, 6}), criteria));
  EXPECT_TRUE(is_neutral(of_ten({5, 6}), of_ten({4, 6}), criteria));
  criteria.goal = program::Goal::kMinimize;
  EXPECT_FALSE(is_neutral(of_ten({5, 6}), of_ten({4, 6}), criteria));
}

TEST(CanRepair, ReachesTheLevelAndBeatsTheBuggyProgram) {
  Criteria criteria = accuracies();
  EXPECT_TRUE(can_repair(of_ten({0}), criteria));
  EXPECT_FALSE(can_repair(kUnusable, criteria));
  criteria.level = of_ten({6, 8});
  EXPECT_TRUE(can_repair(of_ten({7, 7}), criteria));
  EXPECT_FALSE(can_repair(of_ten({7, 6}), criteria));
  criteria.buggy = of_ten({8, 8});
  EXPECT_FALSE(can_repair(of_ten({8, 8}), criteria));
  EXPECT_TRUE(can_repair(of_ten({8, 9}), criteria));
  criteria.buggy = kUnusable;
  EXPECT_TRUE(can_repair(of_ten({8, 8}), criteria));
}

TEST(RuledOut, WhenTheOtherReplicasCannotSaveIt) {
  Criteria criteria = accuracies();
  criteria.level = of_ten({9, 9});
  const MetricMean parent = of_ten({8, 8});
  EXPECT_FALSE(ruled_out(of_ten({6}), parent, criteria));  // 6 and 10 are as good as 8 and 8
  EXPECT_TRUE(ruled_out(of_ten({5}), parent, criteria));
  EXPECT_TRUE(ruled_out(kUnusable, parent, criteria));
  criteria.level = of_ten({7, 8});
  EXPECT_FALSE(ruled_out(of_ten({5}), parent, criteria));  // it may be a repair
  criteria.level = of_ten({9, 9});
  criteria.metric_bound.reset();
  EXPECT_FALSE(ruled_out(of_ten({0}), parent, criteria));
}

TEST(Judge, TellsNeutralFromRepair) {
  Criteria criteria = accuracies();
  criteria.level = of_ten({9, 9});
  Node node;
  judge(of_ten({8, 9}), of_ten({8, 8}), criteria, {}, node);
  EXPECT_TRUE(node.neutral);
  EXPECT_FALSE(node.alternative);
  Node repair;
  judge(of_ten({9, 9}), of_ten({10, 10}), criteria, {}, repair);
  EXPECT_FALSE(repair.neutral);
  EXPECT_TRUE(repair.alternative);
  // Where the buggy program is to be beaten, a better mean that says nothing is no repair.
  criteria.buggy = of_ten({8, 9});
  Node chance;
  chance.metrics = {0.9, 0.9};
  judge(of_ten({9, 9}), of_ten({8, 9}), criteria, {0.8, 0.9}, chance);
  EXPECT_TRUE(chance.neutral);
  EXPECT_FALSE(chance.alternative);
}

}  // namespace
}  // namespace neutra::search::tests
