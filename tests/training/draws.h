#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <random>
#include <type_traits>
#include <vector>

/// Random draws that are the same on every platform, other than those of the standard
/// distributions.
namespace neutra::training::tests {

using Random = std::mt19937;

/// 0 .. count - 1
template <std::integral Number>
Number below(Random& random, Number count) {
  return static_cast<Number>(random() % static_cast<std::make_unsigned_t<Number>>(count));
}
/// From 0 up to 1.
inline double unit(Random& random) { return static_cast<double>(random() >> 8) * 0x1p-24; }
/// From -1 up to 1.
inline float number(Random& random) { return static_cast<float>(random() >> 8) * 0x1p-23f - 1; }

inline std::vector<float> numbers(Random& random, std::size_t count) {
  std::vector<float> values(count);
  for (float& v : values) v = number(random);
  return values;
}

inline bool chance(Random& random, double probability) { return unit(random) < probability; }

template <typename T>
const T& pick(Random& random, const std::vector<T>& values) {
  return values[below(random, values.size())];
}
template <typename T>
T pick(Random& random, std::initializer_list<T> values) {
  return values.begin()[below(random, values.size())];
}

}  // namespace neutra::training::tests
