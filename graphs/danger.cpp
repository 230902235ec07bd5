#include "graphs/danger.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace neutra::graphs {
namespace {

bool is_division(const std::string& op) {
  static const std::vector<std::string> ops = {"RealDiv",  "Div", "FloorDiv",
                                               "FloorMod", "Mod", "TruncateDiv"};
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

std::string digits(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

std::optional<Danger> division(std::size_t input, ElementType type, const Interval& divisor) {
  const double least = is_floating(type) ? precision_of(type).smallest : 1;
  if (divisor.lo >= least || divisor.hi <= -least) return std::nullopt;
  return Danger{"division", input, "no 0",
                "tf.math.divide_no_nan, or a divisor of tf.maximum(x, 1e-7) where it is positive"};
}

/// Roots and powers have an infinite slope at 0, so 0 is unsafe where it is trained through.
std::optional<Danger> power_danger(ElementType type, const Interval& base,
                                   const Interval& exponent) {
  const double smallest = precision_of(type).smallest;
  const bool whole = exponent.lo == exponent.hi && exponent.lo == std::floor(exponent.lo);
  if (base.lo >= smallest) return std::nullopt;
  if (whole && exponent.lo >= 0) return std::nullopt;
  if (whole && base.hi <= -smallest) return std::nullopt;
  if (base.lo >= 0 && exponent.lo >= 1) return std::nullopt;
  return Danger{"power", 0, digits(smallest) + " and more", "tf.maximum(x, 1e-7) as the base"};
}

}  // namespace

bool is_unsafe(const std::string& op) {
  static const std::vector<std::string> ops = {"Log",   "Log1p",      "Exp", "Expm1", "Sqrt",
                                               "Rsqrt", "Reciprocal", "Inv", "Pow"};
  return is_division(op) || std::find(ops.begin(), ops.end(), op) != ops.end();
}

std::optional<Danger> danger_of(const std::string& op, ElementType type, const Interval& first,
                                const Interval& second) {
  const Precision precision = precision_of(type);
  const std::string positive = digits(precision.smallest) + " and more";
  if (op == "Log" && first.lo < precision.smallest)
    return Danger{"log", 0, positive,
                  "tf.nn.log_softmax or a loss with_logits behind softmax or sigmoid, else "
                  "tf.maximum(x, 1e-7)"};
  if (op == "Log1p" && first.lo <= -1)
    return Danger{"log", 0, "more than -1", "tf.maximum(x, -1 + 1e-6)"};
  if ((op == "Exp" || op == "Expm1") && first.hi > precision.log_largest)
    return Danger{"exp", 0, digits(precision.log_largest) + " and less",
                  "x - tf.reduce_max(x), or tf.clip_by_value"};
  if ((op == "Sqrt" || op == "Rsqrt") && first.lo < precision.smallest)
    return Danger{"sqrt", 0, positive,
                  "tf.maximum(x, 1e-12), or a small number added to what is not negative"};
  if (op == "Reciprocal" || op == "Inv") return division(0, type, first);
  if (is_division(op)) return division(1, type, second);
  if (op == "Pow" && is_floating(type)) return power_danger(type, first, second);
  return std::nullopt;
}

}  // namespace neutra::graphs
