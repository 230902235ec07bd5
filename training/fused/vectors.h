#pragma once

#include <cstddef>
#include <cstdint>

#include "training/inline.h"

/// Vectors for loops over the channels of images, in files that are compiled for several
/// instruction sets (NEUTRA_CLONES) without contraction, so that results don't depend on the
/// choice.
namespace neutra::training::fused {
namespace {

#define NEUTRA_INLINED __attribute__((always_inline))  // of a lambda

/// Lanes that loops over channels take at once; the rest goes one by one.
constexpr std::size_t kWidth = 8;
typedef float Floats __attribute__((vector_size(kWidth * sizeof(float)), may_alias, aligned(4)));
typedef std::int32_t Ints __attribute__((vector_size(kWidth * sizeof(std::int32_t))));
typedef std::uint16_t Shorts
    __attribute__((vector_size(kWidth * sizeof(std::uint16_t)), may_alias, aligned(2)));

/// to[i] += the lanes of v.
NEUTRA_INLINE void add(double* to, float v) { *to += static_cast<double>(v); }
NEUTRA_INLINE void add(double* to, Floats v) {
  for (std::size_t i = 0; i < kWidth; ++i) to[i] += static_cast<double>(v[i]);
}

}  // namespace
}  // namespace neutra::training::fused
