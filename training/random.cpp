#include "training/random.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif
#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

#include "training/clones.h"

namespace neutra::training {
namespace {

constexpr std::uint32_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
constexpr std::uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
constexpr int kRounds = 10;
constexpr std::size_t kLanes =
    16;  ///< blocks computed side by side, so that the compiler can vectorise
constexpr std::size_t kGroup = 4 * kLanes;

/// The blocks first .. first + kLanes - 1 of a stream, words in order.
void philox_group_plain(const RandomStream& stream, std::uint32_t first, std::uint32_t* words) {
  std::uint32_t c0[kLanes], c1[kLanes], c2[kLanes], c3[kLanes];
  for (std::size_t i = 0; i < kLanes; ++i) {
    c0[i] = first + static_cast<std::uint32_t>(i);
    c1[i] = stream.step;
    c2[i] = stream.layer;
    c3[i] = static_cast<std::uint32_t>(stream.stream);
  }
  std::uint32_t k0 = stream.key.low, k1 = stream.key.high;
  for (int round = 0; round < kRounds; ++round) {
    for (std::size_t i = 0; i < kLanes; ++i) {
      const std::uint64_t p0 = std::uint64_t{kMultiplier0} * c0[i];
      const std::uint64_t p1 = std::uint64_t{kMultiplier1} * c2[i];
      c0[i] = static_cast<std::uint32_t>(p1 >> 32) ^ c1[i] ^ k0;
      c1[i] = static_cast<std::uint32_t>(p1);
      c2[i] = static_cast<std::uint32_t>(p0 >> 32) ^ c3[i] ^ k1;
      c3[i] = static_cast<std::uint32_t>(p0);
    }
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  for (std::size_t i = 0; i < kLanes; ++i) {
    words[4 * i] = c0[i];
    words[4 * i + 1] = c1[i];
    words[4 * i + 2] = c2[i];
    words[4 * i + 3] = c3[i];
  }
}

#if defined(__x86_64__)
__attribute__((target("avx2"), always_inline)) inline __m256i all(std::uint32_t word) {
  return _mm256_set1_epi32(static_cast<int>(word));
}

/// Products of eight words and a constant: their high and low halves.
__attribute__((target("avx2"), always_inline)) inline void multiply(__m256i a, __m256i by,
                                                                    __m256i& high, __m256i& low) {
  const __m256i even = _mm256_mul_epu32(a, by);
  const __m256i odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), by);
  high = _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA);
  low = _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA);
}

/// The same words; compilers don't find this by themselves.
__attribute__((target("avx2"))) void philox_group_avx2(const RandomStream& stream,
                                                       std::uint32_t first, std::uint32_t* words) {
  constexpr int kHalves = 2;  // two at once hide the multiplications' latency
  static_assert(kLanes == 8 * kHalves);
  __m256i c0[kHalves], c1[kHalves], c2[kHalves], c3[kHalves];
  for (int h = 0; h < kHalves; ++h) {
    c0[h] = _mm256_add_epi32(all(first + 8 * static_cast<std::uint32_t>(h)),
                             _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    c1[h] = all(stream.step);
    c2[h] = all(stream.layer);
    c3[h] = all(static_cast<std::uint32_t>(stream.stream));
  }
  std::uint32_t k0 = stream.key.low, k1 = stream.key.high;
  for (int round = 0; round < kRounds; ++round) {
    for (int h = 0; h < kHalves; ++h) {
      __m256i high0, low0, high1, low1;
      multiply(c0[h], all(kMultiplier0), high0, low0);
      multiply(c2[h], all(kMultiplier1), high1, low1);
      c0[h] = _mm256_xor_si256(_mm256_xor_si256(high1, c1[h]), all(k0));
      c1[h] = low1;
      c2[h] = _mm256_xor_si256(_mm256_xor_si256(high0, c3[h]), all(k1));
      c3[h] = low0;
    }
    k0 += kWeyl0;
    k1 += kWeyl1;
  }
  for (int h = 0; h < kHalves; ++h) {  // lane i holds block i: its words go side by side
    const __m256i low01 = _mm256_unpacklo_epi32(c0[h], c1[h]);
    const __m256i high01 = _mm256_unpackhi_epi32(c0[h], c1[h]);
    const __m256i low23 = _mm256_unpacklo_epi32(c2[h], c3[h]);
    const __m256i high23 = _mm256_unpackhi_epi32(c2[h], c3[h]);
    const __m256i b04 = _mm256_unpacklo_epi64(low01, low23);  // blocks 0 and 4
    const __m256i b15 = _mm256_unpackhi_epi64(low01, low23);
    const __m256i b26 = _mm256_unpacklo_epi64(high01, high23);
    const __m256i b37 = _mm256_unpackhi_epi64(high01, high23);
    auto* to = reinterpret_cast<__m256i*>(words + 32 * h);
    _mm256_storeu_si256(to, _mm256_permute2x128_si256(b04, b15, 0x20));
    _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(b26, b37, 0x20));
    _mm256_storeu_si256(to + 2, _mm256_permute2x128_si256(b04, b15, 0x31));
    _mm256_storeu_si256(to + 3, _mm256_permute2x128_si256(b26, b37, 0x31));
  }
}
#endif

void philox_group(const RandomStream& stream, std::uint32_t first, std::uint32_t* words) {
#if defined(__x86_64__)
  static const bool avx2 = __builtin_cpu_supports("avx2");
  if (avx2) return philox_group_avx2(stream, first, words);
#endif
  philox_group_plain(stream, first, words);
}

/// out[e] = convert(word e), group by group.
template <typename Out, typename Convert>
inline __attribute__((always_inline)) void fill(const RandomStream& stream, std::span<Out> out,
                                                Convert convert) {
  std::uint32_t words[kGroup];
  for (std::size_t begin = 0; begin < out.size(); begin += kGroup) {
    philox_group(stream, static_cast<std::uint32_t>(begin / 4), words);
    const std::size_t count = std::min(kGroup, out.size() - begin);
    if (count == kGroup) {
      for (std::size_t i = 0; i < kGroup; ++i) out[begin + i] = convert(words[i]);
    } else {
      for (std::size_t i = 0; i < count; ++i) out[begin + i] = convert(words[i]);
    }
  }
}

/// The middle of the word's share of (0, 1).
double open_unit(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }

double polynomial(const double (&c)[8], double x) {
  double sum = c[7];
  for (int i = 6; i >= 0; --i) sum = sum * x + c[i];
  return sum;
}

}  // namespace

PhiloxCounter philox(PhiloxCounter c, RandomKey key) {
  for (int round = 0; round < kRounds; ++round) {
    const std::uint64_t p0 = std::uint64_t{kMultiplier0} * c[0];
    const std::uint64_t p1 = std::uint64_t{kMultiplier1} * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key.low, static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key.high, static_cast<std::uint32_t>(p0)};
    key.low += kWeyl0;
    key.high += kWeyl1;
  }
  return c;
}

RandomKey random_key(std::uint64_t seed, const Hash& hash, int replica) {
  const std::uint64_t fields[] = {seed, hash.high, hash.low, static_cast<std::uint64_t>(replica)};
  const std::uint64_t digest = XXH3_64bits(fields, sizeof fields);
  return {static_cast<std::uint32_t>(digest), static_cast<std::uint32_t>(digest >> 32)};
}

RandomKey derived_key(const RandomStream& stream) {
  const PhiloxCounter words =
      philox({0, stream.step, stream.layer, static_cast<std::uint32_t>(stream.stream)}, stream.key);
  return {words[0], words[1]};
}

NEUTRA_CLONES void fill_words(const RandomStream& stream, std::span<std::uint32_t> words) {
  fill(stream, words, [](std::uint32_t word) { return word; });
}

NEUTRA_CLONES void fill_uniform(const RandomStream& stream, float low, float high,
                                std::span<float> values) {
  const float width = high - low;
  fill(stream, values, [=](std::uint32_t word) {
    return low + width * (static_cast<float>(static_cast<std::int32_t>(word >> 8)) * 0x1p-24f);
  });
}

NEUTRA_CLONES void fill_dropout_mask(const RandomStream& stream, float rate,
                                     std::span<float> mask) {
  const auto threshold = static_cast<std::uint32_t>(static_cast<double>(rate) * 0x1p32);
  const float scale = 1.0f / (1.0f - rate);
  fill(stream, mask, [=](std::uint32_t word) { return word >= threshold ? scale : 0.0f; });
}

void fill_normal(const RandomStream& stream, float mean, float stddev, std::span<float> values) {
  fill(stream, values, [=](std::uint32_t word) {
    return static_cast<float>(mean + stddev * inverse_normal_cdf(open_unit(word)));
  });
}

void fill_truncated_normal(const RandomStream& stream, float mean, float stddev,
                           std::span<float> values) {
  const double below = 0.5 * std::erfc(std::sqrt(2.0));  // share of a normal under -2 sigma
  fill(stream, values, [=](std::uint32_t word) {
    const double p = below + (1 - 2 * below) * open_unit(word);
    return static_cast<float>(mean + stddev * inverse_normal_cdf(p));
  });
}

void fill_permutation(const RandomStream& stream, std::span<std::int64_t> order) {
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::uint32_t words[kGroup];
  std::size_t used = kGroup;
  std::uint32_t block = 0;
  for (std::size_t i = order.size(); i > 1; --i) {
    if (used == kGroup) {
      philox_group(stream, block, words);
      block += kLanes;
      used = 0;
    }
    const std::uint64_t bits = std::uint64_t{words[used]} << 32 | words[used + 1];
    used += 2;
    const auto j = static_cast<std::size_t>((static_cast<unsigned __int128>(bits) * i) >> 64);
    std::swap(order[i - 1], order[j]);
  }
}

double inverse_normal_cdf(double p) {
  static constexpr double kA[] = {3.3871328727963666080e0,  1.3314166789178437745e+2,
                                  1.9715909503065514427e+3, 1.3731693765509461125e+4,
                                  4.5921953931549871457e+4, 6.7265770927008700853e+4,
                                  3.3430575583588128105e+4, 2.5090809287301226727e+3};
  static constexpr double kB[] = {1.0,
                                  4.2313330701600911252e+1,
                                  6.8718700749205790830e+2,
                                  5.3941960214247511077e+3,
                                  2.1213794301586595867e+4,
                                  3.9307895800092710610e+4,
                                  2.8729085735721942674e+4,
                                  5.2264952788528545610e+3};
  static constexpr double kC[] = {1.42343711074968357734e0,  4.63033784615654529590e0,
                                  5.76949722146069140550e0,  3.64784832476320460504e0,
                                  1.27045825245236838258e0,  2.41780725177450611770e-1,
                                  2.27238449892691845833e-2, 7.74545014278341407640e-4};
  static constexpr double kD[] = {1.0,
                                  2.05319162663775882187e0,
                                  1.67638483018380384940e0,
                                  6.89767334985100004550e-1,
                                  1.48103976427480074590e-1,
                                  1.51986665636164571966e-2,
                                  5.47593808499534494600e-4,
                                  1.05075007164441684324e-9};
  static constexpr double kE[] = {6.65790464350110377720e0,  5.46378491116411436990e0,
                                  1.78482653991729133580e0,  2.96560571828504891230e-1,
                                  2.65321895265761230930e-2, 1.24266094738807843860e-3,
                                  2.71155556874348757815e-5, 2.01033439929228813265e-7};
  static constexpr double kF[] = {1.0,
                                  5.99832206555887937690e-1,
                                  1.36929880922735805310e-1,
                                  1.48753612908506148525e-2,
                                  7.86869131145613259100e-4,
                                  1.84631831751005468180e-5,
                                  1.42151175831644588870e-7,
                                  2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (std::abs(q) <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * polynomial(kA, r) / polynomial(kB, r);
  }
  double r = std::sqrt(-std::log(q < 0 ? p : 1 - p));
  double x;
  if (r <= 5) {
    r -= 1.6;
    x = polynomial(kC, r) / polynomial(kD, r);
  } else {
    r -= 5;
    x = polynomial(kE, r) / polynomial(kF, r);
  }
  return q < 0 ? -x : x;
}

}  // namespace neutra::training
