#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "tests/training/draws.h"
#include "training/data/dataset.h"

/// What tests of sparse inputs share.
namespace neutra::training::tests {

inline constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
inline constexpr float kInfinity = std::numeric_limits<float>::infinity();

inline constexpr const char* kOptimizers[] = {"SGD",  "RMSprop", "Adagrad", "Adadelta",
                                              "Adam", "Adamax",  "Nadam",   "Ftrl"};

inline std::vector<std::uint32_t> bits(std::span<const float> values) {
  std::vector<std::uint32_t> all(values.size());
  std::memcpy(all.data(), values.data(), values.size_bytes());
  return all;
}

/// Rows of words: the first holds every word, some none, some one, the others a few.
inline Array rows_of_words(std::int64_t rows, std::int64_t words, Random& random,
                           bool binary = false) {
  Array x{{rows, words}, std::vector<float>(static_cast<std::size_t>(rows * words))};
  for (std::int64_t i = 0; i < rows; ++i) {
    float* row = x.values.data() + i * words;
    if (i == 0) {
      for (std::int64_t k = 0; k < words; ++k) row[k] = binary ? 1 : number(random);
      continue;
    }
    const std::size_t count = i % 7 == 3 ? 0 : i % 7 == 5 ? 1 : below<std::size_t>(random, 20);
    for (std::size_t k = 0; k < count; ++k) {
      // Small numbers of words are frequent.
      const std::size_t bound = below(random, static_cast<std::size_t>(words)) + 1;
      row[below(random, bound)] = binary ? 1 : number(random);
    }
  }
  return x;
}

}  // namespace neutra::training::tests
