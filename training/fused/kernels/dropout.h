#pragma once

#include "training/fused/kernels/simd.h"

namespace neutra::training::fused {
namespace {

/// Dropout masks, with the random numbers of training/random.cpp.
template <typename T, int W>
struct Dropout : Simd<T, W> {
  using Base = Simd<T, W>;
  using Base::all, Base::load, Base::map, Base::store;
  using typename Base::M, typename Base::V;

  // The element types depend on W as GCC 12 otherwise ignores a vector size that does.
  using Word = std::conditional_t<(W > 0), std::uint32_t, void>;
  using LongWord = std::conditional_t<(W > 0), std::uint64_t, void>;
  typedef Word U __attribute__((vector_size(W * 4), may_alias));
  typedef LongWord Q __attribute__((vector_size(W * 4), may_alias));

  /// Products of the even lanes' 32 bits.
  static NEUTRA_INLINE Q multiply_even(U a, std::uint32_t by) {
#ifdef __AVX512F__
    if constexpr (W == 16) return (Q)_mm512_mul_epu32((__m512i)a, _mm512_set1_epi32((int)by));
#endif
#ifdef __AVX2__
    if constexpr (W == 8) return (Q)_mm256_mul_epu32((__m256i)a, _mm256_set1_epi32((int)by));
#endif
    return ((Q)a & 0xffffffff) * by;
  }
  /// High and low halves of the products of all lanes.
  static NEUTRA_INLINE void multiply_wide(U a, std::uint32_t by, U& high, U& low) {
    const Q even = multiply_even(a, by), odd = multiply_even((U)((Q)a >> 32), by);
    const Q upper = Q{} + 0xffffffff00000000;
    high = (U)((even >> 32) | (odd & upper));
    low = (U)((even & ~upper) | (odd << 32));
  }

  /// Blocks of Philox (training/random.cpp), one a lane: words[k] holds their words k.
  static NEUTRA_INLINE void philox(const RandomStream& stream, U block, U* words) {
    U c0 = block, c1 = U{} + stream.step, c2 = U{} + stream.layer;
    U c3 = U{} + static_cast<std::uint32_t>(stream.stream);
    std::uint32_t k0 = stream.key.low, k1 = stream.key.high;
    for (int round = 0; round < 10; ++round) {
      U high0, low0, high1, low1;
      multiply_wide(c0, 0xD2511F53, high0, low0);
      multiply_wide(c2, 0xCD9E8D57, high1, low1);
      c0 = high1 ^ c1 ^ k0;
      c1 = low1;
      c2 = high0 ^ c3 ^ k1;
      c3 = low0;
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    words[0] = c0;
    words[1] = c1;
    words[2] = c2;
    words[3] = c3;
  }

  static void dropout(const RandomStream& stream, float rate, std::size_t features, const T* x,
                      T* mask, T* y, Lanes lanes) {
    const auto threshold = static_cast<std::uint32_t>(static_cast<double>(rate) * 0x1p32);
    const T scale = static_cast<T>(1.0f / (1.0f - rate));
    const std::size_t blocks = (features + 3) / 4;
    const bool whole = features % 4 == 0;  // no block lies across two rows
    for (std::size_t b = 0; b < lanes.stride; b += W) {
      // A row's words begin at word `shift` of its first block.
      U first, shift;
      for (std::size_t i = 0; i < W; ++i) {
        const std::size_t word = (b + i) * features;
        first[i] = static_cast<std::uint32_t>(word / 4);
        shift[i] = static_cast<std::uint32_t>(word % 4);
      }
      U words[8];  // of two blocks
      philox(stream, first, words);
      for (std::size_t q = 0; q < blocks; ++q) {
        const U following = first + static_cast<std::uint32_t>(q + 1);
        if (!whole) philox(stream, following, words + 4);
        for (std::size_t j = 0; j < 4 && 4 * q + j < features; ++j) {
          U drawn = words[j];
          if (!whole) {
            const U odd = (shift & 1) != 0 ? words[j + 1] : words[j];
            const U far = (shift & 1) != 0 ? words[j + 3] : words[j + 2];
            drawn = (shift & 2) != 0 ? far : odd;
          }
          V kept;
          if constexpr (sizeof(T) == 4) {
            kept = (V)((drawn >= threshold) & (M)all(scale));
          } else {
            for (int i = 0; i < W; ++i) kept[i] = drawn[i] >= threshold ? scale : T(0);
          }
          const std::size_t to = (4 * q + j) * lanes.stride + b;
          store(mask + to, kept);
          store(y + to, load(x + to) * kept);
        }
        if (!whole) {
          for (int k = 0; k < 4; ++k) words[k] = words[k + 4];
        } else if (q + 1 < blocks) {
          philox(stream, following, words);
        }
      }
    }
  }

  static void multiply(std::size_t count, const T* x, const T* by, T* y) {
    map(count, x, by, y, [](V a, V b) { return a * b; });
  }
};

}  // namespace
}  // namespace neutra::training::fused
