#include "training/data/split.h"

#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include "base/error.h"

namespace neutra::training {
namespace {

/// NumPy's legacy random_interval: a uniform draw from 0..max by masked rejection of 32-bit words.
std::uint32_t draw(std::mt19937& generator, std::uint32_t max) {
  std::uint32_t mask = max;
  for (int shift = 1; shift < 32; shift *= 2) mask |= mask >> shift;
  std::uint32_t value;
  do {
    value = static_cast<std::uint32_t>(generator()) & mask;
  } while (value > max);
  return value;
}

}  // namespace

std::int64_t test_row_count(std::int64_t rows, double test_size) {
  const auto count =
      test_size < 1 ? static_cast<std::int64_t>(std::ceil(test_size * static_cast<double>(rows)))
                    : static_cast<std::int64_t>(test_size);
  if (!(test_size > 0) || count >= rows) {
    throw input_error("split: found test_size " + std::to_string(test_size) + " of " +
                      std::to_string(rows) + " rows; allowed: sizes that leave training rows");
  }
  return count;
}

/// MT19937 seeded by one word, Fisher-Yates from the end.
std::vector<std::int64_t> numpy_permutation(std::int64_t rows, std::uint32_t seed) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::mt19937 generator(seed);
  for (std::size_t i = order.size(); i-- > 1;) {
    std::swap(order[i], order[draw(generator, static_cast<std::uint32_t>(i))]);
  }
  return order;
}

Split ordered_split(std::int64_t rows, double test_size) {
  const std::int64_t train = rows - test_row_count(rows, test_size);
  std::vector<std::int64_t> order(static_cast<std::size_t>(rows));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  return {{order.begin(), order.begin() + train}, {order.begin() + train, order.end()}};
}

Split train_test_split(std::int64_t rows, double test_size, std::uint32_t seed) {
  const std::int64_t count = test_row_count(rows, test_size);
  const std::vector<std::int64_t> order = numpy_permutation(rows, seed);
  return {{order.begin() + count, order.end()}, {order.begin(), order.begin() + count}};
}

}  // namespace neutra::training
