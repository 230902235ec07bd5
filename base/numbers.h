#pragma once

#include <string>

namespace neutra {

/// 2^53: whole numbers up to it are exact as double.
constexpr double kLargestExactWhole = 9007199254740992;

/// Python's repr of a float: shortest decimal that reads back ("0.001", "3.0", "1e-05", "nan",
/// "inf"). The published records spell numbers this way.
std::string python_repr(double value);

/// Shortest decimal that reads back, without a trailing ".0" ("0.1", "3", "1e-05").
std::string shortest(double value);

/// `value` to so many decimals as Python's round() has it: the exact binary value is rounded, ties
/// to even. NaN and infinity as they are.
double python_round(double value, int decimals);

}  // namespace neutra
