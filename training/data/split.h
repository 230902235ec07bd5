#pragma once

#include <cstdint>
#include <vector>

namespace neutra::training {

/// Which rows are training rows and which are test rows, by number from 0.
struct Split {
  std::vector<std::int64_t> train, test;
};

/// scikit-learn's train_test_split: p = RandomState(seed).permutation(n), the first
/// ceil(test_size * n) of p are the test rows, the rest, in the order of p, the training rows. A
/// `test_size` of 1 or more is a number of rows. Throws input_error like test_row_count().
Split train_test_split(std::int64_t rows, double test_size, std::uint32_t seed);

/// scikit-learn's train_test_split(shuffle=False): the last ceil(test_size * n) rows are the test
/// rows. Throws input_error like test_row_count().
Split ordered_split(std::int64_t rows, double test_size);

/// Number of test rows of both. Throws input_error where no training row is left.
std::int64_t test_row_count(std::int64_t rows, double test_size);

/// NumPy's RandomState(seed).permutation(rows), which is also what its shuffle() makes of
/// arange(rows).
std::vector<std::int64_t> numpy_permutation(std::int64_t rows, std::uint32_t seed);

}  // namespace neutra::training
