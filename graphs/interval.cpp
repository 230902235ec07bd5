#include "graphs/interval.h"

#include <algorithm>
#include <cmath>

namespace neutra::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }
double quotient(double a, double b) {
  if (a == 0 || std::isinf(b)) return 0;
  return a / b;
}

double nearest(double value, ElementType type) {
  if (type == ElementType::kDouble || !is_floating(type) || std::isinf(value)) return value;
  // To float and then to a shorter type: their error is covered by rounded().
  return static_cast<double>(static_cast<float>(value));
}

}  // namespace

Interval hull(const Interval& a, const Interval& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval meet(const Interval& a, const Interval& b) {
  const Interval both{std::max(a.lo, b.lo), std::min(a.hi, b.hi)};
  return both.lo <= both.hi ? both : a;
}

bool is_within(double value, const Interval& interval) {
  return value >= interval.lo && value <= interval.hi;
}

double magnitude(const Interval& interval) {
  return std::max(std::abs(interval.lo), std::abs(interval.hi));
}

Precision precision_of(ElementType type) {
  switch (type) {
    case ElementType::kDouble:
      return {0x1p-53, 0x1p-1022, 1.7976931348623157e308, 709.782712893384};
    case ElementType::kHalf:
      return {0x1p-11, 0x1p-14, 65504, 11.089866488461016};
    case ElementType::kBfloat16:
      return {0x1p-8, 0x1p-126, 3.3895313892515355e38, 88.72};
    default:
      return {0x1p-24, 0x1p-126, 3.4028234663852886e38, 88.72283905206835};
  }
}

Interval rounded(Interval exact, ElementType type) {
  if (!is_floating(type)) return exact;
  if (type == ElementType::kHalf || type == ElementType::kBfloat16 || type == ElementType::kDouble)
    return loosened(exact, type, 1);
  exact = {nearest(exact.lo, type), nearest(exact.hi, type)};
  const Precision precision = precision_of(type);
  if (exact.lo > 0 && exact.lo < precision.smallest) exact.lo = 0;
  if (exact.hi < 0 && exact.hi > -precision.smallest) exact.hi = 0;
  return exact;
}

Interval loosened(Interval exact, ElementType type, double units) {
  if (!is_floating(type)) return exact;
  const Precision precision = precision_of(type);
  const auto moved = [&](double bound, double sign) {
    if (std::isinf(bound) || bound == 0) return bound;
    const double loose = bound + sign * std::abs(bound) * precision.epsilon * 2 * units;
    if (std::abs(loose) > precision.largest)
      return loose > 0 ? (sign > 0 ? kInfinity : precision.largest)
                       : (sign < 0 ? -kInfinity : -precision.largest);
    return loose;
  };
  Interval result{moved(exact.lo, -1), moved(exact.hi, 1)};
  if (std::abs(result.lo) < precision.smallest) result.lo = std::min(0.0, result.lo);
  if (std::abs(result.hi) < precision.smallest) result.hi = std::max(0.0, result.hi);
  return result;
}

Interval add(const Interval& a, const Interval& b) {
  Interval sum{a.lo + b.lo, a.hi + b.hi};
  if (std::isnan(sum.lo)) sum.lo = -kInfinity;
  if (std::isnan(sum.hi)) sum.hi = kInfinity;
  return sum;
}

Interval negate(const Interval& a) { return {-a.hi, -a.lo}; }

Interval subtract(const Interval& a, const Interval& b) { return add(a, negate(b)); }

Interval multiply(const Interval& a, const Interval& b) {
  const double corners[] = {product(a.lo, b.lo), product(a.lo, b.hi), product(a.hi, b.lo),
                            product(a.hi, b.hi)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Interval divide(const Interval& a, const Interval& b) {
  // 0 has two signs, so quotients by it go both ways.
  if (b.lo <= 0 && b.hi >= 0) return {};
  const double corners[] = {quotient(a.lo, b.lo), quotient(a.lo, b.hi), quotient(a.hi, b.lo),
                            quotient(a.hi, b.hi)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

Interval absolute(const Interval& a) {
  if (a.lo >= 0) return a;
  if (a.hi <= 0) return negate(a);
  return {0, magnitude(a)};
}

Interval square(const Interval& a) {
  const Interval size = absolute(a);
  return {size.lo * size.lo, size.hi * size.hi};
}

Interval maximum(const Interval& a, const Interval& b) {
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval minimum(const Interval& a, const Interval& b) {
  return {std::min(a.lo, b.lo), std::min(a.hi, b.hi)};
}

Interval power(const Interval& base, const Interval& exponent) {
  const bool whole = exponent.lo == exponent.hi && exponent.lo == std::floor(exponent.lo);
  if (base.lo <= 0) {
    if (!whole) return base.lo == 0 && exponent.lo >= 0 ? Interval{0, kInfinity} : Interval{};
    if (exponent.lo < 0 || exponent.lo > 64) return {};
    const bool even = std::fmod(exponent.lo, 2) == 0;
    const Interval used = even ? absolute(base) : base;
    return {std::pow(used.lo, exponent.lo), std::pow(used.hi, exponent.lo)};
  }
  const double corners[] = {std::pow(base.lo, exponent.lo), std::pow(base.lo, exponent.hi),
                            std::pow(base.hi, exponent.lo), std::pow(base.hi, exponent.hi)};
  for (const double corner : corners)
    if (std::isnan(corner)) return {0, kInfinity};
  Interval result{*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
  // Over 1 the power grows with the exponent, under 1 it falls: both ways meet at 1.
  if (is_within(1, base) || is_within(0, exponent)) result = hull(result, {1, 1});
  return result;
}

Interval sum_of(const Interval& term, double least, double most, ElementType type) {
  const double epsilon = is_floating(type) ? precision_of(type).epsilon : 0;
  // Rounding errors of a sum are `terms` roundings of each term at most; of an unknown number of
  // terms, which is added in blocks, 1e-3.
  const double error = std::isinf(most) ? 1e-3 : std::min(1e-1, most * epsilon);
  // A floating sum grows with each of its terms, so all at one bound give the bound of the sum.
  const auto bound = [&](double each, bool low) {
    if (each == 0) return 0.0;
    const double terms = (each > 0) == low ? least : most;
    double total = product(each, terms);
    total += (low ? -1 : 1) * std::abs(product(total, error));
    if (std::isnan(total)) total = each;
    // Terms of one sign: the sum is beyond each of them.
    if (each > 0 && low && least >= 1) total = std::max(total, each);
    if (each < 0 && !low && least >= 1) total = std::min(total, each);
    return total;
  };
  return rounded({bound(term.lo, true), bound(term.hi, false)}, type);
}

}  // namespace neutra::graphs
