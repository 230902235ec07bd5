#pragma once

#include <cstdint>

namespace neutra {

/// SplitMix64's output function of a counter: 64 well mixed bits (Steele et al., Fast splittable
/// pseudorandom number generators, 2014). Random numbers without a state: the same counter gives
/// the same bits everywhere.
constexpr std::uint64_t mixed(std::uint64_t counter) {
  std::uint64_t z = (counter + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

}  // namespace neutra
