#pragma once

#include <functional>
#include <limits>

#include "graphs/graph.h"

namespace neutra::graphs {

/// Numbers from lo to hi, both included; infinities where there is no bound. What an operation
/// computes lies in its interval unless it is NaN: NaN is blamed on the operation that makes it.
struct Interval {
  double lo = -std::numeric_limits<double>::infinity();
  double hi = std::numeric_limits<double>::infinity();

  bool operator==(const Interval&) const = default;
};

Interval hull(const Interval& a, const Interval& b);
/// Numbers in both; `a` where there are none.
Interval meet(const Interval& a, const Interval& b);
bool is_within(double value, const Interval& interval);
double magnitude(const Interval& interval);

/// What a floating type can hold. Of types that are none: those of float.
struct Precision {
  double epsilon;   ///< relative error of a rounding, at most
  double smallest;  ///< smallest normal number: below it TensorFlow's kernels may take 0
  double largest;   ///< largest finite number
  double log_largest;
};
Precision precision_of(ElementType type);

/// Bounds of what one rounding to the type makes of the exact values: results are rounded to
/// nearest, denormals may be flushed to 0, and what is too large is infinite.
Interval rounded(Interval exact, ElementType type);
/// The same where a library's function may be off by `units` roundings.
Interval loosened(Interval exact, ElementType type, double units);

// Exact arithmetic on bounds; 0 times infinity is 0.

Interval add(const Interval& a, const Interval& b);
Interval subtract(const Interval& a, const Interval& b);
Interval multiply(const Interval& a, const Interval& b);
Interval divide(const Interval& a, const Interval& b);
Interval negate(const Interval& a);
Interval absolute(const Interval& a);
Interval square(const Interval& a);
Interval maximum(const Interval& a, const Interval& b);
Interval minimum(const Interval& a, const Interval& b);
Interval power(const Interval& base, const Interval& exponent);

/// The sum of between `least` and `most` terms, each in `term`, in any order of a floating sum.
/// `most` infinite: unknown.
Interval sum_of(const Interval& term, double least, double most, ElementType type);

/// The interval function of an elementwise operation with one input, rounding included; nullptr:
/// there is none.
using UnaryFunction = Interval (*)(const Interval&, ElementType);
UnaryFunction unary_function(const std::string& op);
/// The same with two inputs.
using BinaryFunction = Interval (*)(const Interval&, const Interval&, ElementType);
BinaryFunction binary_function(const std::string& op);

}  // namespace neutra::graphs
