// Random concrete evaluations of each abstract operation lie in its interval. NEUTRA_SOUNDNESS=N
// makes N of them for each operation; 2000 is the default.

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

#include "base/parse_number.h"
#include "graphs/debar.h"
#include "tests/graphs/graph_text.h"

namespace neutra::graphs::tests {
namespace {

int trials() {
  const char* text = std::getenv("NEUTRA_SOUNDNESS");
  return text ? parse_number<int>(text).value_or(2000) : 2000;
}

/// Numbers of all sizes, round ones and borders among them.
float number(std::mt19937& random) {
  static const float special[] = {0,      -0.0f,         1,      -1,    0.5f,  -0.5f,  2,
                                  87,     88.7f,         -87,    -100,  1e-7f, 1e-10f, 1e38f,
                                  -1e38f, 3.4028235e38f, 1e-37f, 1e-30f};
  const unsigned kind = random() % 4;
  if (kind == 0) return special[random() % std::size(special)];
  const float unit = static_cast<float>(std::ldexp(static_cast<double>(random() >> 8), -24));
  if (kind == 1) return unit * 2 - 1;
  if (kind == 2) return (unit * 2 - 1) * 100;
  return (random() % 2 ? 1.0f : -1.0f) *
         std::ldexp(1 + unit, static_cast<int>(random() % 200) - 100);
}

Interval interval(std::mt19937& random) {
  const double a = number(random), b = number(random);
  switch (random() % 8) {
    case 0:
      return {a, a};
    case 1:
      return {a, Interval{}.hi};
    case 2:
      return {Interval{}.lo, a};
    default:
      return {std::min(a, b), std::max(a, b)};
  }
}

/// A float within the interval, often at its border.
float within(const Interval& in, std::mt19937& random) {
  const double lo = std::max(in.lo, -3.4028234663852886e38),
               hi = std::min(in.hi, 3.4028234663852886e38);
  switch (random() % 5) {
    case 0:
      return static_cast<float>(lo);
    case 1:
      return static_cast<float>(hi);
    case 2: {
      const float any = number(random);
      if (any >= lo && any <= hi) return any;
      [[fallthrough]];
    }
    default: {
      const double part = std::ldexp(static_cast<double>(random() >> 2), -30);
      return static_cast<float>(std::clamp(lo + (hi / 2 - lo / 2) * 2 * part, lo, hi));
    }
  }
}

bool holds(const Interval& bounds, float value) {
  // NaN is blamed on the operation; a denormal is its value or 0.
  if (std::isnan(value)) return true;
  return is_within(value, bounds) ||
         (std::fpclassify(value) == FP_SUBNORMAL && is_within(0, bounds));
}

struct UnaryCase {
  const char* op;
  float (*concrete)(float);
};

class SoundUnary : public testing::TestWithParam<UnaryCase> {};

TEST_P(SoundUnary, LiesInItsInterval) {
  std::mt19937 random(1);
  const UnaryFunction function = unary_function(GetParam().op);
  ASSERT_TRUE(function);
  for (int i = 0; i < trials(); ++i) {
    const Interval in = interval(random);
    const Interval bounds = function(in, ElementType::kFloat);
    const float x = within(in, random), y = GetParam().concrete(x);
    ASSERT_TRUE(holds(bounds, y)) << x << " in [" << in.lo << ", " << in.hi << "] gives " << y
                                  << " not in [" << bounds.lo << ", " << bounds.hi << "]";
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, SoundUnary,
    testing::Values(
        UnaryCase{"Exp", [](float x) { return std::exp(x); }},
        UnaryCase{"Expm1", [](float x) { return std::expm1(x); }},
        UnaryCase{"Log", [](float x) { return std::log(x); }},
        UnaryCase{"Log1p", [](float x) { return std::log1p(x); }},
        UnaryCase{"Sqrt", [](float x) { return std::sqrt(x); }},
        UnaryCase{"Rsqrt", [](float x) { return 1 / std::sqrt(x); }},
        UnaryCase{"Sigmoid", [](float x) { return 1 / (1 + std::exp(-x)); }},
        UnaryCase{"Tanh", [](float x) { return std::tanh(x); }},
        UnaryCase{"Erf", [](float x) { return std::erf(x); }},
        UnaryCase{"Softplus", [](float x) { return x > 20 ? x : std::log1p(std::exp(x)); }},
        UnaryCase{"Softsign", [](float x) { return x / (1 + std::abs(x)); }},
        UnaryCase{"Elu", [](float x) { return x > 0 ? x : std::expm1(x); }},
        UnaryCase{"Selu",
                  [](float x) { return x > 0 ? 1.050701f * x : 1.758099f * std::expm1(x); }},
        UnaryCase{"Atan", [](float x) { return std::atan(x); }},
        UnaryCase{"Sinh", [](float x) { return std::sinh(x); }},
        UnaryCase{"Sin", [](float x) { return std::sin(x); }},
        UnaryCase{"Cos", [](float x) { return std::cos(x); }},
        UnaryCase{"Relu", [](float x) { return std::max(x, 0.0f); }},
        UnaryCase{"Relu6", [](float x) { return std::min(std::max(x, 0.0f), 6.0f); }},
        UnaryCase{"Neg", [](float x) { return -x; }},
        UnaryCase{"Abs", [](float x) { return std::abs(x); }},
        UnaryCase{"Square", [](float x) { return x * x; }},
        UnaryCase{"Sign", [](float x) { return x > 0   ? 1.0f
                                               : x < 0 ? -1.0f
                                                       : 0.0f; }},
        UnaryCase{"Reciprocal", [](float x) { return 1 / x; }},
        UnaryCase{"Inv", [](float x) { return 1 / x; }},
        UnaryCase{"Floor", [](float x) { return std::floor(x); }},
        UnaryCase{"Ceil", [](float x) { return std::ceil(x); }},
        UnaryCase{"Round", [](float x) { return std::nearbyint(x); }},
        UnaryCase{"Rint", [](float x) { return std::rint(x); }}),
    [](const auto& info) { return std::string(info.param.op); });

struct BinaryCase {
  const char* op;
  float (*concrete)(float, float);
};

class SoundBinary : public testing::TestWithParam<BinaryCase> {};

TEST_P(SoundBinary, LiesInItsInterval) {
  std::mt19937 random(2);
  const BinaryFunction function = binary_function(GetParam().op);
  ASSERT_TRUE(function);
  for (int i = 0; i < trials(); ++i) {
    const Interval left = interval(random), right = interval(random);
    const Interval bounds = function(left, right, ElementType::kFloat);
    const float a = within(left, random), b = within(right, random), y = GetParam().concrete(a, b);
    ASSERT_TRUE(holds(bounds, y)) << a << " in [" << left.lo << ", " << left.hi << "] and " << b
                                  << " in [" << right.lo << ", " << right.hi << "] give " << y
                                  << " not in [" << bounds.lo << ", " << bounds.hi << "]";
  }
}

float floor_mod(float a, float b) {
  const float rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

INSTANTIATE_TEST_SUITE_P(
    Operations, SoundBinary,
    testing::Values(
        BinaryCase{"AddV2", [](float a, float b) { return a + b; }},
        BinaryCase{"Add", [](float a, float b) { return a + b; }},
        BinaryCase{"Sub", [](float a, float b) { return a - b; }},
        BinaryCase{"Mul", [](float a, float b) { return a * b; }},
        BinaryCase{"RealDiv", [](float a, float b) { return a / b; }},
        BinaryCase{"Div", [](float a, float b) { return a / b; }},
        BinaryCase{"DivNoNan", [](float a, float b) { return b == 0 ? 0 : a / b; }},
        BinaryCase{"FloorDiv", [](float a, float b) { return std::floor(a / b); }},
        BinaryCase{"FloorMod", floor_mod}, BinaryCase{"Mod", floor_mod},
        BinaryCase{"Maximum", [](float a, float b) { return std::max(a, b); }},
        BinaryCase{"Minimum", [](float a, float b) { return std::min(a, b); }},
        BinaryCase{"SquaredDifference", [](float a, float b) { return (a - b) * (a - b); }},
        BinaryCase{"Pow", [](float a, float b) { return std::pow(a, b); }},
        BinaryCase{"Less", [](float a, float b) { return a < b ? 1.0f : 0.0f; }},
        BinaryCase{"LessEqual", [](float a, float b) { return a <= b ? 1.0f : 0.0f; }},
        BinaryCase{"Greater", [](float a, float b) { return a > b ? 1.0f : 0.0f; }},
        BinaryCase{"GreaterEqual", [](float a, float b) { return a >= b ? 1.0f : 0.0f; }},
        BinaryCase{"Equal", [](float a, float b) { return a == b ? 1.0f : 0.0f; }},
        BinaryCase{"NotEqual", [](float a, float b) { return a != b ? 1.0f : 0.0f; }}),
    [](const auto& info) { return std::string(info.param.op); });

// Operations over several elements: a graph of x (and of others by operations), whose abstract
// values are asked for, and the same in float.

using Row = std::vector<float>;

struct RowCase {
  const char* name;
  const char* lines;  ///< of operations behind "a" [2] and "b" [4], whose last node is "y"
  Row (*concrete)(const Row& a, const Row& b);
};

class SoundRows : public testing::TestWithParam<RowCase> {};

Row joined_rows(const Row& a, const Row& b) {
  Row all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

float sum_of_row(const Row& row) {
  float total = 0;
  for (const float each : row) total += each;
  return total;
}

float largest(const Row& row) { return *std::max_element(row.begin(), row.end()); }

Row shifted(const Row& row) {
  Row result;
  for (const float each : row) result.push_back(each - largest(row));
  return result;
}

Row exponentials(const Row& row) {
  Row result;
  for (const float each : row) result.push_back(std::exp(each));
  return result;
}

Row softmax(const Row& row) {
  Row result = exponentials(shifted(row));
  const float total = sum_of_row(result);
  for (float& each : result) each /= total;
  return result;
}

TEST_P(SoundRows, LieInTheirInterval) {
  std::mt19937 random(3);
  const Graph graph = graph_of(
      "a Placeholder |" + shaped({2}) + "\nb Placeholder |" + shaped({4}) + "\nzero Const |" +
      constant({0}, true) + "\none Const |" + constant({1}, true) + "\nfrom Const |" +
      constant({1}, true, {1}) + "\nfour Const |" + constant({4}, true, {1}) + "\nto Const |" +
      constant({5}, true, {1}) + "\nstep Const |" + constant({1}, true, {1}) + "\nhalf Const |" +
      constant({0.5}) + "\nx ConcatV2 a b zero\n" + GetParam().lines);
  const GraphShapes shapes = infer_shapes(graph);
  ASSERT_TRUE(shapes.mismatches.empty());
  const std::uint32_t y = *graph.find("y");
  for (int i = 0; i < trials() / 10; ++i) {
    Ranges ranges;
    ranges.nodes["a"] = interval(random);
    ranges.nodes["b"] = interval(random);
    const NumericAnalysis analysis = find_numeric_bugs(graph, shapes, ranges);
    const AbstractTensor& found = analysis.values[y].front();
    for (int k = 0; k < 10; ++k) {
      Row a(2), b(4);
      for (float& each : a) each = within(ranges.nodes["a"], random);
      for (float& each : b) each = within(ranges.nodes["b"], random);
      const Row values = GetParam().concrete(a, b);
      for (std::size_t place = 0; place < values.size(); ++place) {
        const auto at = std::upper_bound(found.cuts.begin(), found.cuts.end(),
                                         static_cast<std::int64_t>(place));
        const Interval& bounds = found.blocks[static_cast<std::size_t>(at - found.cuts.begin())];
        ASSERT_TRUE(holds(bounds, values[place]))
            << "element " << place << ": " << values[place] << " not in [" << bounds.lo << ", "
            << bounds.hi << "]";
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Operations, SoundRows,
    testing::Values(
        RowCase{"Concat", "y Identity x\n", joined_rows},
        RowCase{"Slice", "y Slice x from four\n",
                [](const Row& a, const Row& b) {
                  Row all = joined_rows(a, b);
                  return Row(all.begin() + 1, all.begin() + 5);
                }},
        RowCase{"StridedSlice", "y StridedSlice x from to step\n",
                [](const Row& a, const Row& b) {
                  Row all = joined_rows(a, b);
                  return Row(all.begin() + 1, all.begin() + 5);
                }},
        RowCase{"Sum", "y Sum x zero\n",
                [](const Row& a, const Row& b) { return Row{sum_of_row(joined_rows(a, b))}; }},
        RowCase{"Mean", "y Mean x zero\n",
                [](const Row& a, const Row& b) { return Row{sum_of_row(joined_rows(a, b)) / 6}; }},
        RowCase{"Max", "y Max x zero\n",
                [](const Row& a, const Row& b) { return Row{largest(joined_rows(a, b))}; }},
        RowCase{"Min", "y Min x zero\n",
                [](const Row& a, const Row& b) {
                  const Row all = joined_rows(a, b);
                  return Row{*std::min_element(all.begin(), all.end())};
                }},
        RowCase{"ShiftByMax", "m Max x zero\ny Sub x m\n",
                [](const Row& a, const Row& b) { return shifted(joined_rows(a, b)); }},
        RowCase{"SumOfShiftedExp", "m Max x zero\ns Sub x m\ne Exp s\ny Sum e zero\n",
                [](const Row& a, const Row& b) {
                  return Row{sum_of_row(exponentials(shifted(joined_rows(a, b))))};
                }},
        RowCase{"SoftmaxByHand", "m Max x zero\ns Sub x m\ne Exp s\nt Sum e zero\ny RealDiv e t\n",
                [](const Row& a, const Row& b) { return softmax(joined_rows(a, b)); }},
        RowCase{"Softmax", "y Softmax x\n",
                [](const Row& a, const Row& b) { return softmax(joined_rows(a, b)); }},
        RowCase{"Halves", "h Mul x half\ny Sub x h\n",
                [](const Row& a, const Row& b) {
                  Row all = joined_rows(a, b);
                  for (float& each : all) each = each - each * 0.5f;
                  return all;
                }},
        RowCase{"Squares", "y Mul x x\n",
                [](const Row& a, const Row& b) {
                  Row all = joined_rows(a, b);
                  for (float& each : all) each *= each;
                  return all;
                }},
        RowCase{"L2Loss", "y L2Loss x\n",
                [](const Row& a, const Row& b) {
                  float total = 0;
                  for (const float each : joined_rows(a, b)) total += each * each;
                  return Row{total / 2};
                }}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace neutra::graphs::tests
