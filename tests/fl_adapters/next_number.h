#pragma once

#include <cmath>
#include <limits>

namespace neutra::fl_adapters {

/// The next number of a type: what a bound is tried with.
template <typename Number>
Number above(Number value) {
  return std::nextafter(value, std::numeric_limits<Number>::infinity());
}
template <typename Number>
Number below(Number value) {
  return std::nextafter(value, -std::numeric_limits<Number>::infinity());
}

}  // namespace neutra::fl_adapters
