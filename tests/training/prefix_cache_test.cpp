#include "training/prefix_cache.h"

#include <gtest/gtest.h>

namespace neutra::training {
namespace {

std::shared_ptr<const TrainingState> state(std::int64_t epochs, std::size_t weights = 10) {
  TrainingState made;
  made.epochs = epochs;
  made.weights.resize(weights);
  return std::make_shared<const TrainingState>(std::move(made));
}

const PrefixCache::Key kKey{{1, 2}, 3, 4};

TEST(PrefixCache, ResultsByKeyAndEpochs) {
  PrefixCache cache(0);
  EXPECT_EQ(cache.result(kKey, 5), std::nullopt);
  ReplicaResult result;
  result.metric = 0.25;
  cache.add_result(kKey, 5, result);
  ASSERT_TRUE(cache.result(kKey, 5));
  EXPECT_EQ(cache.result(kKey, 5)->metric, 0.25);
  EXPECT_EQ(cache.result(kKey, 4), std::nullopt);
  EXPECT_EQ(cache.result({{1, 3}, 3, 4}, 5), std::nullopt);
  EXPECT_EQ(cache.result({{1, 2}, 4, 4}, 5), std::nullopt);
  EXPECT_EQ(cache.result({{1, 2}, 3, 5}, 5), std::nullopt);
  result.metric = 0.5;
  cache.add_result(kKey, 5, result);
  EXPECT_EQ(cache.result(kKey, 5)->metric, 0.5);
}

TEST(PrefixCache, TheLongestStateThatIsNotTooLong) {
  PrefixCache cache(1 << 20);
  EXPECT_EQ(cache.state(kKey, 100), nullptr);
  for (const std::int64_t epochs : {7, 3, 5}) cache.add_state(kKey, state(epochs));
  EXPECT_EQ(cache.state(kKey, 2), nullptr);
  EXPECT_EQ(cache.state(kKey, 3)->epochs, 3);
  EXPECT_EQ(cache.state(kKey, 4)->epochs, 3);
  EXPECT_EQ(cache.state(kKey, 7)->epochs, 7);
  EXPECT_EQ(cache.state(kKey, 100)->epochs, 7);
  // Neighbours in the order of keys.
  EXPECT_EQ(cache.state({{1, 2}, 3, 5}, 100), nullptr);
  EXPECT_EQ(cache.state({{1, 2}, 3, 3}, 100), nullptr);
  EXPECT_EQ(cache.state({{1, 1}, 3, 4}, 100), nullptr);
}

TEST(PrefixCache, TheLeastRecentlyUsedStatesAreDroppedFirst) {
  const std::uint64_t one = state(1)->bytes();
  PrefixCache cache(3 * one);
  auto key = [](int replica) { return PrefixCache::Key{{1, 2}, 3, replica}; };
  for (int replica = 0; replica < 3; ++replica) cache.add_state(key(replica), state(1));
  cache.add_state(key(0), state(1));  // known: neither kept twice nor younger now
  for (int replica = 0; replica < 3; ++replica) EXPECT_NE(cache.state(key(replica), 2), nullptr);
  cache.add_state(key(3), state(1));
  EXPECT_EQ(cache.state(key(0), 2), nullptr);
  for (int replica = 1; replica < 4; ++replica) EXPECT_NE(cache.state(key(replica), 2), nullptr);
  // A larger one takes the place of two.
  cache.add_state(key(4), state(1, 10 + static_cast<std::size_t>(one) / sizeof(float)));
  EXPECT_EQ(cache.state(key(1), 2), nullptr);
  EXPECT_EQ(cache.state(key(2), 2), nullptr);
  EXPECT_NE(cache.state(key(3), 2), nullptr);
  EXPECT_NE(cache.state(key(4), 2), nullptr);
}

TEST(PrefixCache, AStateThatNeverFitsDropsNothing) {
  PrefixCache cache(2 * state(1)->bytes());
  cache.add_state(kKey, state(1));
  cache.add_state(kKey, state(2, 10000));
  EXPECT_EQ(cache.state(kKey, 100)->epochs, 1);
  // Whoever holds one may go on with it after it was dropped.
  const auto held = cache.state(kKey, 100);
  for (std::int64_t epochs = 3; epochs < 9; ++epochs) cache.add_state(kKey, state(epochs));
  EXPECT_EQ(cache.state(kKey, 2), nullptr);
  EXPECT_EQ(held->epochs, 1);
}

TEST(PrefixCache, BytesCountWeightsAndAccumulators) {
  TrainingState made;
  const std::size_t empty = made.bytes();
  made.weights.resize(100);
  made.optimizer.accumulators = {std::vector<float>(10), std::vector<float>(20)};
  EXPECT_EQ(made.bytes(), empty + 130 * sizeof(float));
}

}  // namespace
}  // namespace neutra::training
