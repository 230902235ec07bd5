#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "graphs/interval.h"

namespace neutra::graphs {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Roundings by which libraries' elementary functions may be off. Eigen's float functions are
/// within 4 units in the last place where it documents them.
constexpr double kUnits = 8;

double softplus(double x) { return x > 30 ? x : std::log1p(std::exp(x)); }
double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }
double elu(double x) { return x > 0 ? x : std::expm1(x); }
double selu(double x) {
  return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
}
double softsign(double x) { return std::isinf(x) ? std::copysign(1, x) : x / (1 + std::abs(x)); }

/// An interval function of a function that grows, whose values stay between two bounds.
template <double (*function)(double)>
Interval growing(const Interval& x, ElementType type, Interval within) {
  const Interval loose = loosened({function(x.lo), function(x.hi)}, type, kUnits);
  return {std::max(loose.lo, within.lo), std::min(loose.hi, within.hi)};
}

double exp_of(double x) { return std::exp(x); }
double expm1_of(double x) { return std::expm1(x); }
double tanh_of(double x) { return std::tanh(x); }
double erf_of(double x) { return std::erf(x); }
double atan_of(double x) { return std::atan(x); }
double sinh_of(double x) { return std::sinh(x); }

Interval log_of(const Interval& x, ElementType type) {
  const auto bound = [](double at) { return at <= 0 ? -kInfinity : std::log(at); };
  // Near 1 the result is near 0: the error is that of the argument's last place.
  Interval result = loosened({bound(x.lo), bound(x.hi)}, type, kUnits);
  const double last = precision_of(type).epsilon * kUnits;
  return {result.lo - last, result.hi + last};
}

Interval log1p_of(const Interval& x, ElementType type) {
  const auto bound = [](double at) { return at <= -1 ? -kInfinity : std::log1p(at); };
  return loosened({bound(x.lo), bound(x.hi)}, type, kUnits);
}

Interval sqrt_of(const Interval& x, ElementType type) {
  const auto bound = [](double at) { return at <= 0 ? 0 : std::sqrt(at); };
  return loosened({bound(x.lo), bound(x.hi)}, type, 2);
}

Interval rsqrt_of(const Interval& x, ElementType type) {
  const double smallest = precision_of(type).smallest;
  // Of -0 it is -inf.
  if (is_within(0, x)) return {};
  const auto bound = [&](double at) {
    return at < smallest ? kInfinity : std::isinf(at) ? 0 : 1 / std::sqrt(at);
  };
  return loosened({bound(x.hi), bound(x.lo)}, type, kUnits);
}

Interval sign_of(const Interval& x, ElementType) {
  const auto sign = [](double at) { return at > 0 ? 1.0 : at < 0 ? -1.0 : 0.0; };
  return {sign(x.lo), sign(x.hi)};
}

Interval wave(const Interval&, ElementType) { return {-1, 1}; }

Interval relu(const Interval& x, ElementType) { return maximum(x, {0, 0}); }

const std::map<std::string, UnaryFunction>& unary_functions() {
  static const std::map<std::string, UnaryFunction> functions = {
      {"Exp",
       [](const Interval& x, ElementType t) {
         return growing<exp_of>(x, t, {0, kInfinity});
       }},
      {"Expm1",
       [](const Interval& x, ElementType t) {
         return growing<expm1_of>(x, t, {-1, kInfinity});
       }},
      {"Sigmoid",
       [](const Interval& x, ElementType t) {
         return growing<sigmoid>(x, t, {0, 1});
       }},
      {"Tanh",
       [](const Interval& x, ElementType t) {
         return growing<tanh_of>(x, t, {-1, 1});
       }},
      {"Erf",
       [](const Interval& x, ElementType t) {
         return growing<erf_of>(x, t, {-1, 1});
       }},
      {"Softplus",
       [](const Interval& x, ElementType t) {
         return growing<softplus>(x, t, {0, kInfinity});
       }},
      {"Softsign",
       [](const Interval& x, ElementType t) {
         return growing<softsign>(x, t, {-1, 1});
       }},
      {"Elu",
       [](const Interval& x, ElementType t) {
         return growing<elu>(x, t, {-1, kInfinity});
       }},
      {"Selu",
       [](const Interval& x, ElementType t) {
         return growing<selu>(x, t, {-1.76, kInfinity});
       }},
      {"Atan",
       [](const Interval& x, ElementType t) {
         return growing<atan_of>(x, t, {-1.5708, 1.5708});
       }},
      {"Sinh", [](const Interval& x, ElementType t) { return growing<sinh_of>(x, t, {}); }},
      {"Log", log_of},
      {"Log1p", log1p_of},
      {"Sqrt", sqrt_of},
      {"Rsqrt", rsqrt_of},
      {"Sign", sign_of},
      {"Sin", wave},
      {"Cos", wave},
      {"Relu", relu},
      {"Relu6",
       [](const Interval& x, ElementType t) {
         return minimum(relu(x, t), {6, 6});
       }},
      {"Neg", [](const Interval& x, ElementType) { return negate(x); }},
      {"Abs", [](const Interval& x, ElementType) { return absolute(x); }},
      {"Square", [](const Interval& x, ElementType t) { return rounded(square(x), t); }},
      {"Reciprocal",
       [](const Interval& x, ElementType t) {
         return rounded(divide({1, 1}, x), t);
       }},
      {"Inv",
       [](const Interval& x, ElementType t) {
         return rounded(divide({1, 1}, x), t);
       }},
      {"Floor",
       [](const Interval& x, ElementType) {
         return Interval{std::floor(x.lo), std::floor(x.hi)};
       }},
      {"Ceil",
       [](const Interval& x, ElementType) {
         return Interval{std::ceil(x.lo), std::ceil(x.hi)};
       }},
      {"Round",
       [](const Interval& x, ElementType) {
         return Interval{std::floor(x.lo), std::ceil(x.hi)};
       }},
      {"Rint",
       [](const Interval& x, ElementType) {
         return Interval{std::floor(x.lo), std::ceil(x.hi)};
       }},
      {"LogicalNot",
       [](const Interval& x, ElementType) {
         return Interval{1 - x.hi, 1 - x.lo};
       }},
  };
  return functions;
}

Interval truth(bool always, bool never) { return {always ? 1.0 : 0.0, never ? 0.0 : 1.0}; }

Interval less(const Interval& a, const Interval& b, ElementType) {
  return truth(a.hi < b.lo, a.lo >= b.hi);
}
Interval less_equal(const Interval& a, const Interval& b, ElementType) {
  return truth(a.hi <= b.lo, a.lo > b.hi);
}
Interval equal(const Interval& a, const Interval& b, ElementType) {
  return truth(a.lo == a.hi && a == b, a.hi < b.lo || b.hi < a.lo);
}

/// The remainder has the sign of the divisor.
Interval floor_mod(const Interval& a, const Interval& b, ElementType) {
  if (b.lo > 0 && a.lo >= 0) return {0, std::min(a.hi, b.hi)};
  return {std::min(0.0, b.lo), std::max(0.0, b.hi)};
}

Interval quotient_down(const Interval& a, const Interval& b, ElementType t) {
  const Interval exact = rounded(divide(a, b), t);
  return {std::floor(exact.lo), std::floor(exact.hi)};
}

Interval real_quotient(const Interval& a, const Interval& b, ElementType t) {
  const double smallest = precision_of(t).smallest;
  // Denormals count as 0.
  const Interval divisor{b.lo > 0 && b.lo < smallest ? 0 : b.lo,
                         b.hi < 0 && b.hi > -smallest ? 0 : b.hi};
  const Interval exact = divide(a, is_floating(t) ? divisor : b);
  return is_floating(t) ? rounded(exact, t) : Interval{std::floor(exact.lo), std::ceil(exact.hi)};
}

const std::map<std::string, BinaryFunction>& binary_functions() {
  static const std::map<std::string, BinaryFunction> functions = [] {
    std::map<std::string, BinaryFunction> all = {
        {"AddV2",
         [](const Interval& a, const Interval& b, ElementType t) { return rounded(add(a, b), t); }},
        {"Sub", [](const Interval& a, const Interval& b,
                   ElementType t) { return rounded(subtract(a, b), t); }},
        {"Mul", [](const Interval& a, const Interval& b,
                   ElementType t) { return rounded(multiply(a, b), t); }},
        {"RealDiv", real_quotient},
        {"DivNoNan",
         [](const Interval& a, const Interval& b, ElementType t) {
           return hull({0, 0}, real_quotient(a, b, t));
         }},
        {"FloorDiv", quotient_down},
        {"FloorMod", floor_mod},
        {"Maximum",
         [](const Interval& a, const Interval& b, ElementType) { return maximum(a, b); }},
        {"Minimum",
         [](const Interval& a, const Interval& b, ElementType) { return minimum(a, b); }},
        {"SquaredDifference",
         [](const Interval& a, const Interval& b, ElementType t) {
           return rounded(square(rounded(subtract(a, b), t)), t);
         }},
        {"Pow", [](const Interval& a, const Interval& b,
                   ElementType t) { return loosened(power(a, b), t, kUnits); }},
        {"Less", less},
        {"LessEqual", less_equal},
        {"Greater",
         [](const Interval& a, const Interval& b, ElementType t) { return less(b, a, t); }},
        {"GreaterEqual",
         [](const Interval& a, const Interval& b, ElementType t) { return less_equal(b, a, t); }},
        {"Equal", equal},
        {"NotEqual",
         [](const Interval& a, const Interval& b, ElementType t) {
           const Interval e = equal(a, b, t);
           return Interval{1 - e.hi, 1 - e.lo};
         }},
        {"LogicalAnd",
         [](const Interval& a, const Interval& b, ElementType) { return minimum(a, b); }},
        {"LogicalOr",
         [](const Interval& a, const Interval& b, ElementType) { return maximum(a, b); }},
    };
    all["Add"] = all["AddV2"];
    all["Div"] = all["RealDiv"];
    all["Mod"] = all["FloorMod"];
    return all;
  }();
  return functions;
}

}  // namespace

UnaryFunction unary_function(const std::string& op) {
  const auto found = unary_functions().find(op);
  return found == unary_functions().end() ? nullptr : found->second;
}

BinaryFunction binary_function(const std::string& op) {
  const auto found = binary_functions().find(op);
  return found == binary_functions().end() ? nullptr : found->second;
}

}  // namespace neutra::graphs
