#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "training/fused/kernels.h"

/// What tests of kernels share: every kernel for every instruction set, and for vectors of 16, 8
/// and 4 lanes that the compiler makes of smaller ones, against plain loops in double. The kernels
/// in double precision are checked by central differences.
namespace neutra::training::fused::tests {

/// All tables of kernels for float.
std::vector<NamedKernels> float_tables();
/// The kernels for double.
const KernelTable<double>& exact();

/// Calls check(name, table) with every table.
template <typename Check>
void for_each_table(Check check) {
  for (const NamedKernels& named : float_tables()) check(std::string(named.name), *named.table);
  check(std::string("double"), exact());
}

inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

inline constexpr double kEps = 1e-7;  ///< keras.backend.epsilon()

inline const std::vector<std::size_t> kRows{1, 2, 5, 8, 10, 17, 32, 50};
inline const std::vector<std::size_t> kFeatures{1, 2, 3, 4, 5, 7, 16, 20, 33};

inline double tolerance(float) { return 4e-6; }
inline double tolerance(double) { return 1e-12; }

template <typename T>
Lanes lanes_of(const KernelTable<T>& table, std::size_t rows) {
  return {rows, (rows + table.width - 1) / table.width * table.width};
}

/// Values at a cache line.
template <typename T>
class Aligned {
 public:
  explicit Aligned(std::size_t size, double value = kNaN)
      : size_(size),
        data_(static_cast<T*>(std::aligned_alloc(64, (size * sizeof(T) + 64) / 64 * 64))) {
    std::fill_n(data_.get(), size, static_cast<T>(value));
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::size_t size_;
  std::unique_ptr<T[], Free> data_;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double in(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 8) * 0x1p-24;
  }
  std::size_t below(std::size_t n) { return engine_() % n; }

 private:
  std::mt19937 engine_;
};

/// Columns of random values; the lanes past the last row hold NaN and infinities.
template <typename T>
Aligned<T> columns(std::size_t features, Lanes lanes, Random& random, double low = -2,
                   double high = 2) {
  Aligned<T> made(features * lanes.stride);
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t b = 0; b < lanes.stride; ++b) {
      made[f * lanes.stride + b] = static_cast<T>(b < lanes.rows ? random.in(low, high)
                                                  : b % 3 == 0   ? kNaN
                                                  : b % 3 == 1   ? kInfinity
                                                                 : -kInfinity);
    }
  }
  return made;
}
template <typename T>
Aligned<T> flat(std::size_t size, Random& random, double low = -2, double high = 2) {
  Aligned<T> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<T>(random.in(low, high));
  return made;
}

template <typename T>
void expect_near(T found, double expected, double size, const std::string& where) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << where << ": " << found;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(static_cast<double>(found), expected) << where;
  } else {
    EXPECT_NEAR(static_cast<double>(found), expected, tolerance(T()) * std::max(size, 1e-30))
        << where;
  }
}

inline std::string place(const std::string& name, std::size_t rows, std::size_t a,
                         std::size_t b = 0) {
  return name + ", " + std::to_string(rows) + " rows, " + std::to_string(a) + " x " +
         std::to_string(b);
}

}  // namespace neutra::training::fused::tests
