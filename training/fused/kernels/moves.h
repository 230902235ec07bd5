#pragma once

#include <cstring>

#include "training/fused/kernels/simd.h"

namespace neutra::training::fused {
namespace {

/// Moving values between rows and columns.
template <typename T, int W>
struct Moves : Simd<T, W> {
  using Base = Simd<T, W>;
  using Base::store, Base::transpose;
  using typename Base::V;

  static void gather(const T* data, std::size_t features, const std::int64_t* rows, T* columns,
                     Lanes lanes) {
    for (std::size_t b = 0; b < lanes.stride; b += W) {
      const T* from[W];
      for (std::size_t i = 0; i < W; ++i) {
        const std::size_t row = b + i < lanes.rows ? b + i : lanes.rows - 1;
        from[i] = data + static_cast<std::size_t>(rows[row]) * features;
      }
      std::size_t f = 0;
      for (; f + W <= features; f += W) {
        V square[W];
        for (int i = 0; i < W; ++i) std::memcpy(&square[i], from[i] + f, sizeof(V));
        transpose(square);
        for (int i = 0; i < W; ++i) store(columns + (f + i) * lanes.stride + b, square[i]);
      }
      for (; f < features; ++f) {
        T* to = columns + f * lanes.stride + b;
        for (int i = 0; i < W; ++i) to[i] = from[i][f];
      }
    }
  }
  static void to_rows(std::size_t features, const T* columns, T* rows, Lanes lanes) {
    for (std::size_t b = 0; b < lanes.rows; ++b) {
      for (std::size_t f = 0; f < features; ++f) {
        rows[b * features + f] = columns[f * lanes.stride + b];
      }
    }
  }
  static void from_rows(std::size_t features, const T* rows, T* columns, Lanes lanes) {
    for (std::size_t b = 0; b < lanes.stride; ++b) {
      const T* from = rows + (b < lanes.rows ? b : lanes.rows - 1) * features;
      for (std::size_t f = 0; f < features; ++f) columns[f * lanes.stride + b] = from[f];
    }
  }
};

}  // namespace
}  // namespace neutra::training::fused
