#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "program/program.h"

namespace neutra::training {

/// Counter-based random numbers: Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy
/// as 1, 2, 3", SC 2011). There is no state: a number is a function of key, stream, layer, step and
/// element, so results don't depend on threads, order or resume.

using PhiloxCounter = std::array<std::uint32_t, 4>;
/// The key of a stream of random numbers: the same key gives the same numbers.
struct RandomKey {
  std::uint32_t low = 0, high = 0;
  bool operator==(const RandomKey&) const = default;
};

/// One block: four words.
PhiloxCounter philox(PhiloxCounter counter, RandomKey key);

/// XXH3 of study seed, program hash and replica.
RandomKey random_key(std::uint64_t seed, const Hash& hash, int replica);

/// What the numbers are for: each has numbers of its own.
enum class Stream : std::uint32_t {
  kInit,
  kShuffle,
  kDropout,
  kNoise,
  kSplit,
  kMutation,
  kEvaluation,
  kTrained
};

/// A sequence of words: word e is word e % 4 of the block with counter (e / 4, step, layer,
/// stream). At most 2^34 words.
struct RandomStream {
  RandomKey key;
  Stream stream = Stream::kInit;
  std::uint32_t layer = 0;  ///< index over the model's layers; kMutation, kTrained: over the
                            ///< steps of data.mutations, trained.mutations
  std::uint32_t step = 0;   ///< kInit: variable of the layer; kShuffle: epoch; kDropout, kNoise:
                            ///< optimiser step; kMutation, kTrained: draw; kEvaluation: epoch
};

/// A key made of the stream's first words: for numbers that have streams of their own.
RandomKey derived_key(const RandomStream& stream);

/// All 32-bit words are equally likely.
void fill_words(const RandomStream& stream, std::span<std::uint32_t> words);
/// Uniform in [low, high) with 24 bits.
void fill_uniform(const RandomStream& stream, float low, float high, std::span<float> values);
/// Normal by the inverse distribution function (Wichura, AS 241, 1988) of one word each.
void fill_normal(const RandomStream& stream, float mean, float stddev, std::span<float> values);
/// Normal truncated at two standard deviations of the untruncated one, by the same inverse.
void fill_truncated_normal(const RandomStream& stream, float mean, float stddev,
                           std::span<float> values);
/// 0 with probability `rate`, else 1 / (1 - rate). 0 <= rate < 1.
void fill_dropout_mask(const RandomStream& stream, float rate, std::span<float> mask);
/// A random order of 0 .. n-1 (Fisher-Yates; the bias of its draws is below n / 2^64).
void fill_permutation(const RandomStream& stream, std::span<std::int64_t> order);

/// Inverse of the standard normal distribution function, 0 < p < 1; relative error about 1e-16.
double inverse_normal_cdf(double p);

}  // namespace neutra::training
