#include "training/random.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

namespace neutra::training {
namespace {

constexpr RandomKey kKey{0x12345678, 0x9abcdef0};

double mean_of(const std::vector<float>& v) {
  return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}
double stddev_of(const std::vector<float>& v) {
  const double m = mean_of(v);
  double sum = 0;
  for (const float x : v) sum += (x - m) * (x - m);
  return std::sqrt(sum / static_cast<double>(v.size()));
}

// Known answers published with the Random123 library for philox4x32-10.
TEST(Random, KnownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}),
            (PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}),
            (PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Random, WordsAreTheBlocksInOrder) {
  std::vector<std::uint32_t> words(150);
  fill_words({kKey, Stream::kDropout, 3, 7}, words);
  for (std::uint32_t e = 0; e < words.size(); ++e) {
    const PhiloxCounter block =
        philox({e / 4, 7, 3, static_cast<std::uint32_t>(Stream::kDropout)}, kKey);
    EXPECT_EQ(words[e], block[e % 4]) << e;
  }
}

TEST(Random, ShorterDrawIsAPrefix) {
  std::vector<float> shorter(37), longer(200);
  fill_normal({kKey, Stream::kInit, 1, 0}, 0, 1, shorter);
  fill_normal({kKey, Stream::kInit, 1, 0}, 0, 1, longer);
  EXPECT_TRUE(std::equal(shorter.begin(), shorter.end(), longer.begin()));
}

TEST(Random, KeysAndStreamsDiffer) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> keys;
  for (int replica = 0; replica < 100; ++replica) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      for (const Hash& hash : {Hash{1, 2}, Hash{2, 1}}) {
        const RandomKey key = random_key(seed, hash, replica);
        keys.insert({key.low, key.high});
      }
    }
  }
  EXPECT_EQ(keys.size(), 600u);
  std::set<std::uint32_t> first;
  for (const Stream stream : {Stream::kInit, Stream::kShuffle, Stream::kDropout}) {
    for (std::uint32_t layer = 0; layer < 10; ++layer) {
      for (std::uint32_t step = 0; step < 10; ++step) {
        std::uint32_t word = 0;
        fill_words({kKey, stream, layer, step}, {&word, 1});
        first.insert(word);
      }
    }
  }
  EXPECT_EQ(first.size(), 300u);
}

TEST(Random, Uniform) {
  std::vector<float> v(100000);
  fill_uniform({kKey, Stream::kInit, 0, 0}, -2, 4, v);
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  EXPECT_GE(*low, -2);
  EXPECT_LT(*high, 4);
  EXPECT_LT(*low, -1.99);
  EXPECT_GT(*high, 3.99);
  EXPECT_NEAR(mean_of(v), 1, 0.03);
  EXPECT_NEAR(stddev_of(v), 6 / std::sqrt(12.0), 0.02);
}

TEST(Random, Normal) {
  std::vector<float> v(200000);
  fill_normal({kKey, Stream::kInit, 0, 0}, 3, 2, v);
  EXPECT_NEAR(mean_of(v), 3, 0.02);
  EXPECT_NEAR(stddev_of(v), 2, 0.02);
  const auto beyond = std::count_if(v.begin(), v.end(), [](float x) { return x > 3 + 2 * 1.96f; });
  EXPECT_NEAR(static_cast<double>(beyond) / static_cast<double>(v.size()), 0.025, 0.002);
}

TEST(Random, TruncatedNormal) {
  std::vector<float> v(200000);
  fill_truncated_normal({kKey, Stream::kInit, 0, 0}, 1, 0.5f, v);
  const auto [low, high] = std::minmax_element(v.begin(), v.end());
  EXPECT_GE(*low, 0);
  EXPECT_LE(*high, 2);
  EXPECT_NEAR(mean_of(v), 1, 0.005);
  EXPECT_NEAR(stddev_of(v), 0.5 * 0.87962566103423978, 0.003);
}

TEST(Random, InverseNormal) {
  EXPECT_DOUBLE_EQ(inverse_normal_cdf(0.5), 0);
  EXPECT_NEAR(inverse_normal_cdf(0.975), 1.959963984540054, 1e-14);
  EXPECT_NEAR(inverse_normal_cdf(0.01), -2.3263478740408408, 1e-14);
  EXPECT_NEAR(inverse_normal_cdf(1e-12), -7.034483825301131, 1e-12);
}

TEST(Random, PermutationIsOneAndDiffersByEpoch) {
  std::vector<std::int64_t> first(1000), second(1000), sorted;
  fill_permutation({kKey, Stream::kShuffle, 0, 0}, first);
  fill_permutation({kKey, Stream::kShuffle, 0, 1}, second);
  EXPECT_NE(first, second);
  sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    EXPECT_EQ(sorted[i], static_cast<std::int64_t>(i));
  }
}

TEST(Random, PermutationsAreUniform) {
  std::vector<int> counts(6);
  for (std::uint32_t epoch = 0; epoch < 6000; ++epoch) {
    std::vector<std::int64_t> order(3);
    fill_permutation({kKey, Stream::kShuffle, 0, epoch}, order);
    ++counts[static_cast<std::size_t>(order[0] * 2 + (order[1] > order[2]))];
  }
  double chi2 = 0;
  for (const int count : counts) chi2 += (count - 1000.0) * (count - 1000.0) / 1000;
  EXPECT_LT(chi2, 20.5);  // p = 0.001 with five degrees of freedom
}

TEST(Random, DropoutMask) {
  std::vector<float> mask(100001);
  fill_dropout_mask({kKey, Stream::kDropout, 2, 5}, 0.2f, mask);
  std::size_t kept = 0;
  for (const float m : mask) {
    ASSERT_TRUE(m == 0 || m == 1 / (1 - 0.2f));
    kept += m != 0;
  }
  EXPECT_NEAR(static_cast<double>(kept) / static_cast<double>(mask.size()), 0.8, 0.005);
}

}  // namespace
}  // namespace neutra::training
