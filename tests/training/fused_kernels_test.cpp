#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>

// Wide vectors as arguments, on processors that lack them: nobody else is called with them.
#pragma GCC diagnostic ignored "-Wpsabi"
#include "training/fused/kernels_impl.h"

/// Every kernel for every instruction set, and for vectors of 16, 8 and 4 lanes that the compiler
/// makes of smaller ones, against plain loops in double. The kernels in double precision are
/// checked by central differences.
namespace neutra::training::fused {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

constexpr double kEps = 1e-7;  ///< keras.backend.epsilon()

const std::vector<std::size_t> kRows{1, 2, 5, 8, 10, 17, 32, 50};
const std::vector<std::size_t> kFeatures{1, 2, 3, 4, 5, 7, 16, 20, 33};

double tolerance(float) { return 4e-6; }
double tolerance(double) { return 1e-12; }

/// Calls check(name, table) with every table.
template <typename Check>
void for_each_table(Check check) {
  for (const NamedKernels& named : available_kernels())
    check(std::string(named.name), *named.table);
  static constexpr KernelTable<float> k16 = KernelsOf<float, 16>::table();
  static constexpr KernelTable<float> k8 = KernelsOf<float, 8>::table();
  static constexpr KernelTable<float> k4 = KernelsOf<float, 4>::table();
  static constexpr KernelTable<double> kDouble = KernelsOf<double, 4>::table();
  check(std::string("16 lanes"), k16);
  check(std::string("8 lanes"), k8);
  check(std::string("4 lanes"), k4);
  check(std::string("double"), kDouble);
}

const KernelTable<double>& exact() {
  static constexpr KernelTable<double> kTable = KernelsOf<double, 4>::table();
  return kTable;
}

template <typename T>
Lanes lanes_of(const KernelTable<T>& table, std::size_t rows) {
  return {rows, (rows + table.width - 1) / table.width * table.width};
}

/// Values at a cache line.
template <typename T>
class Aligned {
 public:
  explicit Aligned(std::size_t size, double value = kNaN)
      : size_(size),
        data_(static_cast<T*>(std::aligned_alloc(64, (size * sizeof(T) + 64) / 64 * 64))) {
    std::fill_n(data_.get(), size, static_cast<T>(value));
  }
  T* data() { return data_.get(); }
  const T* data() const { return data_.get(); }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  struct Free {
    void operator()(T* p) const { std::free(p); }
  };
  std::size_t size_;
  std::unique_ptr<T[], Free> data_;
};

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  double in(double low, double high) {
    return low + (high - low) * static_cast<double>(engine_() >> 8) * 0x1p-24;
  }
  std::size_t below(std::size_t n) { return engine_() % n; }

 private:
  std::mt19937 engine_;
};

/// Columns of random values; the lanes past the last row hold NaN and infinities.
template <typename T>
Aligned<T> columns(std::size_t features, Lanes lanes, Random& random, double low = -2,
                   double high = 2) {
  Aligned<T> made(features * lanes.stride);
  for (std::size_t f = 0; f < features; ++f) {
    for (std::size_t b = 0; b < lanes.stride; ++b) {
      made[f * lanes.stride + b] = static_cast<T>(b < lanes.rows ? random.in(low, high)
                                                  : b % 3 == 0   ? kNaN
                                                  : b % 3 == 1   ? kInfinity
                                                                 : -kInfinity);
    }
  }
  return made;
}
template <typename T>
Aligned<T> flat(std::size_t size, Random& random, double low = -2, double high = 2) {
  Aligned<T> made(size);
  for (std::size_t i = 0; i < size; ++i) made[i] = static_cast<T>(random.in(low, high));
  return made;
}

template <typename T>
void expect_near(T found, double expected, double size, const std::string& where) {
  if (std::isnan(expected)) {
    EXPECT_TRUE(std::isnan(found)) << where << ": " << found;
  } else if (std::isinf(expected)) {
    EXPECT_EQ(static_cast<double>(found), expected) << where;
  } else {
    EXPECT_NEAR(static_cast<double>(found), expected, tolerance(T()) * std::max(size, 1e-30))
        << where;
  }
}

std::string place(const std::string& name, std::size_t rows, std::size_t a, std::size_t b = 0) {
  return name + ", " + std::to_string(rows) + " rows, " + std::to_string(a) + " x " +
         std::to_string(b);
}

TEST(FusedKernels, Product) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    Random random(1);
    for (const std::size_t rows : kRows) {
      const Lanes lanes = lanes_of(table, rows);
      for (const std::size_t count : kFeatures) {
        for (const std::size_t depth : kFeatures) {
          const Aligned<T> a = flat<T>(count * depth, random), start = flat<T>(count, random);
          const Aligned<T> x = columns<T>(depth, lanes, random);
          for (const bool transposed : {false, true}) {
            const std::size_t step_m = transposed ? depth : 1, step_k = transposed ? 1 : count;
            for (const bool with_start : {false, true}) {
              Aligned<T> y(count * lanes.stride);
              table.product(count, depth, a.data(), step_m, step_k,
                            with_start ? start.data() : nullptr, x.data(), y.data(), lanes);
              for (std::size_t m = 0; m < count; ++m) {
                for (std::size_t b = 0; b < rows; ++b) {
                  double sum = with_start ? start[m] : 0, size = std::abs(sum);
                  for (std::size_t k = 0; k < depth; ++k) {
                    const double term =
                        double{a[m * step_m + k * step_k]} * double{x[k * lanes.stride + b]};
                    sum += term;
                    size += std::abs(term);
                  }
                  const T found = y[m * lanes.stride + b];
                  if (!(std::abs(found - sum) <= tolerance(T()) * size)) {
                    FAIL() << place(name, rows, count, depth) << ": " << found << " for " << sum;
                  }
                }
              }
            }
          }
        }
      }
    }
  });
}

TEST(FusedKernels, OuterAndRowSums) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    Random random(2);
    for (const std::size_t rows : kRows) {
      const Lanes lanes = lanes_of(table, rows);
      for (const std::size_t inputs : kFeatures) {
        const Aligned<T> x = columns<T>(inputs, lanes, random);
        for (const std::size_t outputs : kFeatures) {
          const Aligned<T> dy = columns<T>(outputs, lanes, random);
          Aligned<T> sums(inputs * outputs + 1);
          sums[inputs * outputs] = 77;  // nothing writes behind the end
          Aligned<T> scratch((outputs + table.width) * rows);
          table.outer(inputs, outputs, x.data(), dy.data(), sums.data(), scratch.data(), lanes);
          EXPECT_EQ(sums[inputs * outputs], 77) << place(name, rows, inputs, outputs);
          for (std::size_t i = 0; i < inputs; ++i) {
            for (std::size_t o = 0; o < outputs; ++o) {
              double sum = 0, size = 0;
              for (std::size_t b = 0; b < rows; ++b) {
                const double term =
                    double{x[i * lanes.stride + b]} * double{dy[o * lanes.stride + b]};
                sum += term;
                size += std::abs(term);
              }
              const T found = sums[i * outputs + o];
              if (!(std::abs(found - sum) <= tolerance(T()) * size)) {
                FAIL() << place(name, rows, inputs, outputs) << ": " << found << " for " << sum;
              }
            }
          }
        }
        Aligned<T> sums(inputs + 1);
        sums[inputs] = 77;
        table.row_sums(inputs, x.data(), sums.data(), lanes);
        EXPECT_EQ(sums[inputs], 77) << place(name, rows, inputs);
        for (std::size_t f = 0; f < inputs; ++f) {
          double sum = 0, size = 0;
          for (std::size_t b = 0; b < rows; ++b) {
            sum += x[f * lanes.stride + b];
            size += std::abs(double{x[f * lanes.stride + b]});
          }
          expect_near(sums[f], sum, size, place(name, rows, inputs));
        }
      }
    }
  });
}

TEST(FusedKernels, RowsAndColumns) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    Random random(3);
    for (const std::size_t rows : kRows) {
      const Lanes lanes = lanes_of(table, rows);
      for (const std::size_t features : kFeatures) {
        constexpr std::size_t kData = 60;
        const Aligned<T> data = flat<T>(kData * features, random);
        std::vector<std::int64_t> order(rows);
        for (std::int64_t& row : order) row = static_cast<std::int64_t>(random.below(kData));
        Aligned<T> gathered(features * lanes.stride), taken(features * lanes.stride);
        table.gather(data.data(), features, order.data(), gathered.data(), lanes);
        table.from_rows(features, data.data(), taken.data(), lanes);
        for (std::size_t f = 0; f < features; ++f) {
          for (std::size_t b = 0; b < lanes.stride; ++b) {
            const std::size_t row = std::min(b, rows - 1);
            ASSERT_EQ(gathered[f * lanes.stride + b],
                      data[static_cast<std::size_t>(order[row]) * features + f])
                << place(name, rows, features);
            ASSERT_EQ(taken[f * lanes.stride + b], data[row * features + f])
                << place(name, rows, features);
          }
        }
        Aligned<T> back(rows * features + 1);
        back[rows * features] = 77;
        table.to_rows(features, taken.data(), back.data(), lanes);
        for (std::size_t i = 0; i < rows * features; ++i) ASSERT_EQ(back[i], data[i]) << name;
        ASSERT_EQ(back[rows * features], 77) << name;
      }
    }
  });
}

struct Named {
  const char* name;
  Activation f;
  double (*value)(double);
};
const std::vector<Named>& activations() {
  static const std::vector<Named> kActivations{
      {"relu", {Function::kRelu}, [](double x) { return x < 0 ? 0 : x; }},
      {"elu", {Function::kElu, 0.7}, [](double x) { return x > 0 ? x : 0.7 * std::expm1(x); }},
      {"selu",
       {Function::kSelu},
       [](double x) {
         return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * std::expm1(x));
       }},
      {"softplus",
       {Function::kSoftplus},
       [](double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }},
      {"softsign", {Function::kSoftsign}, [](double x) { return x / (1 + std::abs(x)); }},
      {"swish", {Function::kSwish}, [](double x) { return x / (1 + std::exp(-x)); }},
      {"gelu",
       {Function::kGelu},
       [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"tanh", {Function::kTanh}, [](double x) { return std::tanh(x); }},
      {"sigmoid", {Function::kSigmoid}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"exponential", {Function::kExponential}, [](double x) { return std::exp(x); }},
      {"hard_sigmoid",
       {Function::kHardSigmoid},
       [](double x) { return std::clamp(0.2 * x + 0.5, 0.0, 1.0); }},
      {"leaky_relu", {Function::kLeakyRelu, 0.3}, [](double x) { return x > 0 ? x : 0.3 * x; }},
      {"capped relu",
       {Function::kGeneralRelu, 0, 0, 1.5},
       [](double x) { return std::clamp(x, 0.0, 1.5); }},
      {"general relu",
       {Function::kGeneralRelu, 0.25, 0.5, 2.0},
       [](double x) { return std::min(x > 0.5 ? x : 0, 2.0) - 0.25 * std::max(0.5 - x, 0.0); }},
      {"sloped relu",
       {Function::kGeneralRelu, 0.25, 0, 2.0},
       [](double x) { return std::clamp(x, 0.0, 2.0) - 0.25 * std::max(-x, 0.0); }},
  };
  return kActivations;
}

TEST(FusedKernels, Activations) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    const std::size_t count = 50 * 16;
    Aligned<T> x(count), ones(count, 1);
    for (std::size_t i = 0; i < count; ++i)
      x[i] = static_cast<T>(0.0213 * static_cast<double>(i) - 8);
    x[3] = 30;  // beyond what softplus takes for linear
    x[4] = -100;
    x[5] = 100;
    x[6] = static_cast<T>(1e-3);
    for (const Named& one : activations()) {
      const std::string where = name + ", " + one.name;
      Aligned<T> y(count), slope(count, 3);
      table.activate(one.f, count, x.data(), y.data());
      table.differentiate(one.f, count, needs_input(one.f.function) ? x.data() : y.data(),
                          slope.data());
      for (std::size_t i = 0; i < count; ++i) {
        const double v = x[i];
        const double expected = one.value(v);
        if (v > 88 && one.f.function == Function::kExponential) continue;
        expect_near(y[i], expected, std::max(1.0, std::abs(expected)),
                    where + " of " + std::to_string(v));
        const double h = 1e-5;
        const double d = (one.value(v + h) - one.value(v - h)) / (2 * h);
        // Slopes are near 1; where a kink lies inside the difference, another test looks.
        const double bend = one.value(v + h) + one.value(v - h) - 2 * expected;
        if (std::abs(bend) < 1e-8 * std::max(1.0, std::abs(expected))) {
          EXPECT_NEAR(static_cast<double>(slope[i]), 3 * d,
                      std::max(1e-8, tolerance(T())) * 3 * std::max(1.0, std::abs(d)))
              << where << " at " << v;
        }
      }
      if (!needs_input(one.f.function)) {  // in place
        Aligned<T> place(count);
        std::copy_n(x.data(), count, place.data());
        table.activate(one.f, count, place.data(), place.data());
        for (std::size_t i = 0; i < count; ++i) {
          ASSERT_TRUE(place[i] == y[i] || std::isnan(y[i])) << where;
        }
      }
    }
  });
}

TEST(FusedKernels, SlopesAtKinks) {
  struct Kink {
    Activation f;
    double x, slope;
  };
  const Activation general{Function::kGeneralRelu, 0.25, 0.5, 2.0};
  const Activation sloped{Function::kGeneralRelu, 0.25, 0, 2.0};
  const std::vector<Kink> kinks{
      {{Function::kRelu}, 0, 0},
      {{Function::kElu, 0.7}, 0, 0.7},
      {{Function::kSelu}, 0, 1.0507009873554805},
      {{Function::kSoftsign}, 0, 1},
      {{Function::kHardSigmoid}, -2.5, 0.2},
      {{Function::kHardSigmoid}, 2.5, 0.2},
      {{Function::kHardSigmoid}, 2.51, 0},
      {{Function::kHardSigmoid}, -2.51, 0},
      {{Function::kLeakyRelu, 0.3}, 0, 0.3},
      {general, 0.5, 0},
      {general, 2, 1},
      {general, 2.001, 0},
      {general, 0.499, 0.25},
      {sloped, 0, 0},
      {sloped, 2, 1},
  };
  for_each_table([&]<typename T>(const std::string& name, const KernelTable<T>& table) {
    for (const Kink& kink : kinks) {
      Aligned<T> x(16, kink.x), y(16), slope(16, 1);
      table.activate(kink.f, 16, x.data(), y.data());
      table.differentiate(kink.f, 16, needs_input(kink.f.function) ? x.data() : y.data(),
                          slope.data());
      EXPECT_NEAR(static_cast<double>(slope[0]), kink.slope, 1e-6)
          << name << ", function " << static_cast<int>(kink.f.function) << " at " << kink.x;
    }
  });
}

TEST(FusedKernels, ActivationsOfSpecialValues) {
  for_each_table([&]<typename T>(const std::string& name, const KernelTable<T>& table) {
    for (const Named& one : activations()) {
      Aligned<T> x(16, kNaN), y(16);
      table.activate(one.f, 16, x.data(), y.data());
      EXPECT_TRUE(std::isnan(y[0])) << name << ", " << one.name;
      // A NaN that comes from behind spreads, even where the slope is 0.
      Aligned<T> minus(16, -1), slope(16, kNaN);
      table.activate(one.f, 16, minus.data(), y.data());
      table.differentiate(one.f, 16, needs_input(one.f.function) ? minus.data() : y.data(),
                          slope.data());
      EXPECT_TRUE(std::isnan(slope[0])) << name << ", " << one.name;
    }
    Aligned<T> x(16, kInfinity), y(16);
    table.activate({Function::kTanh}, 16, x.data(), y.data());
    EXPECT_EQ(y[0], 1) << name;
    // From where on float has nothing below 1 that is nearer: else saturated neurons would learn.
    if constexpr (sizeof(T) == 4) {
      Aligned<T> bounds(16);
      for (std::size_t i = 0; i < 8; ++i) {
        bounds[i] = 9.02F + 0.12F * static_cast<float>(i);
        bounds[i + 8] = -bounds[i];
      }
      table.activate({Function::kTanh}, 16, bounds.data(), y.data());
      for (std::size_t i = 0; i < 16; ++i) EXPECT_EQ(y[i], i < 8 ? 1 : -1) << name << bounds[i];
    }
    table.activate({Function::kSigmoid}, 16, x.data(), y.data());
    EXPECT_EQ(y[0], 1) << name;
    table.activate({Function::kSoftplus}, 16, x.data(), y.data());
    EXPECT_TRUE(std::isinf(y[0])) << name;
    x[0] = static_cast<T>(-kInfinity);
    table.activate({Function::kSigmoid}, 16, x.data(), y.data());
    EXPECT_EQ(y[0], 0) << name;
    table.activate({Function::kElu, 1}, 16, x.data(), y.data());
    EXPECT_EQ(y[0], -1) << name;
    table.activate({Function::kExponential}, 16, x.data(), y.data());
    EXPECT_EQ(y[0], 0) << name;
  });
}

TEST(FusedKernels, Softmax) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    Random random(4);
    for (const std::size_t rows : kRows) {
      const Lanes lanes = lanes_of(table, rows);
      for (const std::size_t features : kFeatures) {
        const Aligned<T> x = columns<T>(features, lanes, random, -20, 20);
        Aligned<T> y(x.size()), gradient = columns<T>(features, lanes, random);
        const Aligned<T> dy = [&] {
          Aligned<T> copy(gradient.size());
          std::copy_n(gradient.data(), gradient.size(), copy.data());
          return copy;
        }();
        table.softmax(features, x.data(), y.data(), lanes);
        table.differentiate_softmax(features, y.data(), gradient.data(), lanes);
        for (std::size_t b = 0; b < rows; ++b) {
          auto at = [&](const Aligned<T>& a, std::size_t f) {
            return double{a[f * lanes.stride + b]};
          };
          double sum = 0, dot = 0;
          for (std::size_t f = 0; f < features; ++f) sum += std::exp(at(x, f) - at(x, 0));
          auto p = [&](std::size_t f) { return std::exp(at(x, f) - at(x, 0)) / sum; };
          for (std::size_t f = 0; f < features; ++f) dot += p(f) * at(dy, f);
          for (std::size_t f = 0; f < features; ++f) {
            expect_near(y[f * lanes.stride + b], p(f), 1, place(name, rows, features));
            expect_near(gradient[f * lanes.stride + b], p(f) * (at(dy, f) - dot), 4,
                        place(name, rows, features));
          }
        }
        Aligned<T> in_place(x.size());
        std::copy_n(x.data(), x.size(), in_place.data());
        table.softmax(features, in_place.data(), in_place.data(), lanes);
        for (std::size_t f = 0; f < features; ++f) {
          for (std::size_t b = 0; b < rows; ++b) {
            ASSERT_EQ(in_place[f * lanes.stride + b], y[f * lanes.stride + b]) << name;
          }
        }
      }
    }
  });
}

// Losses.

const std::vector<std::pair<const char*, LossFunction>> kLosses{
    {"mean squared", LossFunction::kMeanSquared},
    {"mean absolute", LossFunction::kMeanAbsolute},
    {"mean absolute percentage", LossFunction::kMeanAbsolutePercentage},
    {"mean squared logarithmic", LossFunction::kMeanSquaredLogarithmic},
    {"squared hinge", LossFunction::kSquaredHinge},
    {"hinge", LossFunction::kHinge},
    {"squared hinge of labels", LossFunction::kSquaredHingeOfLabels},
    {"hinge of labels", LossFunction::kHingeOfLabels},
    {"categorical hinge", LossFunction::kCategoricalHinge},
    {"logcosh", LossFunction::kLogCosh},
    {"huber", LossFunction::kHuber},
    {"cosine similarity", LossFunction::kCosineSimilarity},
    {"Kullback-Leibler", LossFunction::kKullbackLeibler},
    {"poisson", LossFunction::kPoisson},
    {"categorical crossentropy", LossFunction::kCategoricalCrossentropy},
    {"softmax crossentropy", LossFunction::kSoftmaxCrossentropy},
    {"sparse crossentropy", LossFunction::kSparseCrossentropy},
    {"sparse softmax crossentropy", LossFunction::kSparseSoftmaxCrossentropy},
    {"binary crossentropy", LossFunction::kBinaryCrossentropy},
    {"binary crossentropy of clipped", LossFunction::kBinaryCrossentropyOfClipped},
    {"sigmoid crossentropy", LossFunction::kSigmoidCrossentropy},
};

bool is_sparse(LossFunction f) {
  return f == LossFunction::kSparseCrossentropy || f == LossFunction::kSparseSoftmaxCrossentropy;
}
bool wants_probabilities(LossFunction f) {
  return f == LossFunction::kKullbackLeibler || f == LossFunction::kCategoricalCrossentropy ||
         f == LossFunction::kSparseCrossentropy || f == LossFunction::kBinaryCrossentropy ||
         f == LossFunction::kBinaryCrossentropyOfClipped || f == LossFunction::kPoisson ||
         f == LossFunction::kMeanSquaredLogarithmic;
}

/// But for its kinks.
bool is_linear(LossFunction f) {
  return f == LossFunction::kMeanAbsolute || f == LossFunction::kMeanAbsolutePercentage ||
         f == LossFunction::kHinge || f == LossFunction::kHingeOfLabels ||
         f == LossFunction::kCategoricalHinge;
}

/// Kinks in its slope.
bool is_bent(LossFunction f) {
  return f == LossFunction::kSquaredHinge || f == LossFunction::kSquaredHingeOfLabels ||
         f == LossFunction::kHuber;
}

/// Keras's loss of one row, as its documentation states it; `batch_of_bits`: every target of the
/// batch is 0 or 1.
double loss_of_row(LossFunction f, const std::vector<double>& o, const std::vector<double>& t,
                   bool batch_of_bits) {
  const auto n = o.size();
  auto mean = [&](auto value) {
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) sum += value(o[i], t[i]);
    return sum / static_cast<double>(n);
  };
  auto sum = [&](auto value) { return static_cast<double>(n) * mean(value); };
  auto clip = [=](double p) { return std::clamp(p, kEps, 1 - kEps); };
  auto label = [=](double y) { return batch_of_bits ? 2 * y - 1 : y; };
  switch (f) {
    case LossFunction::kMeanSquared:
      return mean([](double a, double b) { return (a - b) * (a - b); });
    case LossFunction::kMeanAbsolute:
      return mean([](double a, double b) { return std::abs(a - b); });
    case LossFunction::kMeanAbsolutePercentage:
      return mean(
          [](double a, double b) { return 100 * std::abs((b - a) / std::max(std::abs(b), kEps)); });
    case LossFunction::kMeanSquaredLogarithmic:
      return mean([](double a, double b) {
        return std::pow(std::log(std::max(a, kEps) + 1) - std::log(std::max(b, kEps) + 1), 2);
      });
    case LossFunction::kSquaredHinge:
      return mean([&](double a, double b) { return std::pow(std::max(0.0, 1 - label(b) * a), 2); });
    case LossFunction::kHinge:
      return mean([&](double a, double b) { return std::max(0.0, 1 - label(b) * a); });
    case LossFunction::kSquaredHingeOfLabels:
      return mean([](double a, double b) { return std::pow(std::max(0.0, 1 - b * a), 2); });
    case LossFunction::kHingeOfLabels:
      return mean([](double a, double b) { return std::max(0.0, 1 - b * a); });
    case LossFunction::kCategoricalHinge: {
      double negative = -kInfinity;
      for (std::size_t i = 0; i < n; ++i) negative = std::max(negative, (1 - t[i]) * o[i]);
      return std::max(0.0, negative - sum([](double a, double b) { return a * b; }) + 1);
    }
    case LossFunction::kLogCosh:
      return mean([](double a, double b) { return std::log(std::cosh(a - b)); });
    case LossFunction::kHuber:
      return mean([](double a, double b) {
        const double d = std::abs(a - b);
        return d <= 1 ? 0.5 * d * d : d - 0.5;
      });
    case LossFunction::kCosineSimilarity: {
      const double xx = sum([](double a, double) { return a * a; });
      const double yy = sum([](double, double b) { return b * b; });
      return -sum([](double a, double b) { return a * b; }) / std::sqrt(std::max(xx, 1e-12)) /
             std::sqrt(std::max(yy, 1e-12));
    }
    case LossFunction::kKullbackLeibler:
      return sum([](double a, double b) {
        const double y = std::clamp(b, kEps, 1.0);
        return y * std::log(y / std::clamp(a, kEps, 1.0));
      });
    case LossFunction::kPoisson:
      return mean([](double a, double b) { return a - b * std::log(a + kEps); });
    case LossFunction::kCategoricalCrossentropy: {
      const double total = sum([](double a, double) { return a; });
      return -sum([&](double a, double b) { return b * std::log(clip(a / total)); });
    }
    case LossFunction::kSoftmaxCrossentropy: {
      const double total = sum([](double a, double) { return std::exp(a); });
      return -sum([&](double a, double b) { return b * (a - std::log(total)); });
    }
    case LossFunction::kSparseCrossentropy: {
      const double total = sum([&](double a, double) { return clip(a); });
      return std::log(total) - std::log(clip(o[static_cast<std::size_t>(t[0])]));
    }
    case LossFunction::kSparseSoftmaxCrossentropy:
      return std::log(sum([](double a, double) { return std::exp(a); })) -
             o[static_cast<std::size_t>(t[0])];
    case LossFunction::kBinaryCrossentropy:
      return -mean([&](double a, double b) {
        return b * std::log(clip(a) + kEps) + (1 - b) * std::log(1 - clip(a) + kEps);
      });
    case LossFunction::kBinaryCrossentropyOfClipped:
      return -mean([&](double a, double b) {
        return b * std::log(clip(a)) + (1 - b) * std::log(1 - clip(a));
      });
    case LossFunction::kSigmoidCrossentropy:
      return mean([](double a, double b) {
        const double p = 1 / (1 + std::exp(-a));
        return -b * std::log(p) - (1 - b) * std::log(1 - p);
      });
  }
  return kNaN;
}

/// A batch of outputs and targets that suit a loss.
template <typename T>
struct LossCase {
  LossCase(LossFunction f, std::size_t features, Lanes lanes, Random& random, bool bits)
      : x(wants_probabilities(f) ? columns<T>(features, lanes, random, 0.05, 0.95)
                                 : columns<T>(features, lanes, random)),
        y(columns<T>(is_sparse(f) ? 1 : features, lanes, random, 0.1, 2)) {
    for (std::size_t b = 0; b < lanes.rows; ++b) {
      if (is_sparse(f)) {
        y[b] = static_cast<T>(random.below(features));
        continue;
      }
      double sum = 0;
      for (std::size_t k = 0; k < features; ++k) {
        T& t = y[k * lanes.stride + b];
        if (bits) t = static_cast<T>(random.below(2));
        sum += t;
      }
      // The gradient of the categorical loss on logits is only that of distributions.
      if (f == LossFunction::kSoftmaxCrossentropy) {
        if (sum == 0) y[b] = 1, sum = 1;
        for (std::size_t k = 0; k < features; ++k) y[k * lanes.stride + b] /= static_cast<T>(sum);
      }
    }
  }
  std::vector<double> row(const Aligned<T>& from, Lanes lanes, std::size_t b) const {
    std::vector<double> values;
    for (std::size_t i = b; i < from.size(); i += lanes.stride) values.push_back(from[i]);
    return values;
  }
  Aligned<T> x, y;
};

TEST(FusedKernels, LossesAndTheirGradients) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    Random random(5);
    for (const auto& [loss, f] : kLosses) {
      for (const std::size_t rows : kRows) {
        const Lanes lanes = lanes_of(table, rows);
        for (const std::size_t features : {1u, 2u, 3u, 5u, 16u, 33u}) {
          for (const bool bits : {false, true}) {
            LossCase<T> batch(f, features, lanes, random, bits);
            const std::string where = place(name + ", " + loss, rows, features, bits);
            Aligned<T> dx(features * lanes.stride), again(features * lanes.stride);
            const double found =
                table.loss(f, features, batch.x.data(), batch.y.data(), dx.data(), true, lanes);
            double expected = 0, size = 0;
            for (std::size_t b = 0; b < rows; ++b) {
              const double one =
                  loss_of_row(f, batch.row(batch.x, lanes, b), batch.row(batch.y, lanes, b), bits);
              expected += one;
              size += std::abs(one) + 1;
            }
            EXPECT_NEAR(found, expected, 2 * tolerance(T()) * size) << where;
            EXPECT_EQ(table.loss(f, features, batch.x.data(), batch.y.data(), nullptr, true, lanes),
                      found)
                << where;
            EXPECT_EQ(
                table.loss(f, features, batch.x.data(), batch.y.data(), again.data(), false, lanes),
                0)
                << where;
            for (std::size_t b = 0; b < rows; ++b) {
              const std::vector<double> o = batch.row(batch.x, lanes, b),
                                        t = batch.row(batch.y, lanes, b);
              const double here = loss_of_row(f, o, t, bits);
              for (std::size_t k = 0; k < features; ++k) {
                ASSERT_EQ(dx[k * lanes.stride + b], again[k * lanes.stride + b]) << where;
                auto moved = [&](double h) {
                  std::vector<double> near = o;
                  near[k] += h;
                  return loss_of_row(f, near, t, bits);
                };
                constexpr double kStep = 2e-5;
                const double up = moved(kStep), down = moved(-kStep);
                if (is_linear(f) && std::abs(up + down - 2 * here) > 1e-10) continue;  // a kink
                const double slope = (up - down) / (2 * kStep) / static_cast<double>(rows);
                ASSERT_NEAR(static_cast<double>(dx[k * lanes.stride + b]), slope,
                            (5 * tolerance(T()) + 3e-7) * std::max(0.1, std::abs(slope)) +
                                1e-9 * std::abs(here) +
                                (is_bent(f) ? 1e-5 : 0) / static_cast<double>(rows))
                    << where << " row " << b << " feature " << k;
              }
            }
          }
        }
      }
    }
  });
}

TEST(FusedKernels, LossGradientsAtKinks) {
  struct Kink {
    LossFunction f;
    std::vector<double> o, t, slopes;
  };
  const std::vector<Kink> kinks{
      {LossFunction::kMeanAbsolute, {3}, {3}, {0}},
      {LossFunction::kMeanAbsolutePercentage, {3}, {3}, {0}},
      {LossFunction::kHuber, {1}, {0}, {1}},
      {LossFunction::kHuber, {-1}, {0}, {-1}},
      {LossFunction::kHinge, {1}, {1}, {-1}},
      {LossFunction::kHinge, {1.001}, {1}, {0}},
      {LossFunction::kSquaredHinge, {1}, {1}, {0}},
      // The largest of the others, shared among equal ones; the margin's edge still counts.
      {LossFunction::kCategoricalHinge, {1, 1, 0}, {0, 0, 1}, {0.5, 0.5, -1}},
      {LossFunction::kCategoricalHinge, {-1, -1, 0}, {0, 0, 1}, {0, 0, -1}},
      {LossFunction::kCategoricalHinge, {0, 1, -1}, {1, 0, 0}, {-1, 1, 0}},
      {LossFunction::kCategoricalHinge, {2, 1, -1}, {1, 0, 0}, {-1, 1, 0}},
      {LossFunction::kCategoricalHinge, {2.001, 1, -1}, {1, 0, 0}, {0, 0, 0}},
      {LossFunction::kKullbackLeibler, {1}, {1}, {-1}},
      {LossFunction::kKullbackLeibler, {1.001}, {1}, {0}},
      {LossFunction::kKullbackLeibler, {0}, {1}, {0}},
      {LossFunction::kBinaryCrossentropy, {1}, {0}, {0}},
      {LossFunction::kBinaryCrossentropyOfClipped, {1}, {0}, {0}},
      {LossFunction::kBinaryCrossentropy, {0}, {1}, {0}},
      {LossFunction::kMeanSquaredLogarithmic, {-1}, {3}, {0}},
      {LossFunction::kCosineSimilarity, {0, 0}, {3, 4}, {-0.6e6, -0.8e6}},
      {LossFunction::kLogCosh, {3}, {3}, {0}},
  };
  for_each_table([&]<typename T>(const std::string& name, const KernelTable<T>& table) {
    for (const Kink& kink : kinks) {
      const std::size_t features = kink.o.size();
      const Lanes lanes = lanes_of(table, 1);
      Aligned<T> x(features * lanes.stride), y(features * lanes.stride),
          dx(features * lanes.stride);
      for (std::size_t k = 0; k < features; ++k) {
        x[k * lanes.stride] = static_cast<T>(kink.o[k]);
        y[k * lanes.stride] = static_cast<T>(kink.t[k]);
      }
      table.loss(kink.f, features, x.data(), y.data(), dx.data(), false, lanes);
      for (std::size_t k = 0; k < features; ++k) {
        EXPECT_NEAR(static_cast<double>(dx[k * lanes.stride]), kink.slopes[k],
                    1e-6 * std::max(1.0, std::abs(kink.slopes[k])))
            << name << ", loss " << static_cast<int>(kink.f) << " at " << kink.o[0];
      }
    }
  });
}

TEST(FusedKernels, DropoutDrawsTheSharedMask) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    Random random(6);
    for (const std::size_t rows : kRows) {
      const Lanes lanes = lanes_of(table, rows);
      for (const std::size_t features : kFeatures) {
        for (const float rate : {0.1f, 0.5f, 0.9f}) {
          const RandomStream stream{{123, 456}, Stream::kDropout, 3, 77};
          std::vector<float> expected(rows * features);
          fill_dropout_mask(stream, rate, expected);
          const Aligned<T> x = columns<T>(features, lanes, random);
          Aligned<T> mask(x.size()), y(x.size());
          table.dropout(stream, rate, features, x.data(), mask.data(), y.data(), lanes);
          for (std::size_t f = 0; f < features; ++f) {
            for (std::size_t b = 0; b < rows; ++b) {
              const std::size_t at = f * lanes.stride + b;
              ASSERT_EQ(mask[at], static_cast<T>(expected[b * features + f]))
                  << place(name, rows, features);
              ASSERT_EQ(y[at], x[at] * mask[at]) << place(name, rows, features);
            }
          }
        }
      }
    }
  });
}

TEST(FusedKernels, Multiply) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    Random random(7);
    const Aligned<T> a = flat<T>(48, random), b = flat<T>(48, random);
    Aligned<T> y(48), in_place(48);
    std::copy_n(a.data(), 48, in_place.data());
    table.multiply(48, a.data(), b.data(), y.data());
    table.multiply(48, in_place.data(), b.data(), in_place.data());
    for (std::size_t i = 0; i < 48; ++i) {
      EXPECT_EQ(y[i], a[i] * b[i]) << name;
      EXPECT_EQ(in_place[i], y[i]) << name;
    }
  });
}

/// sum over rows of w y, y being the batch-normalised column.
double weighted_norm(const std::vector<double>& x, const std::vector<double>& w, double gamma,
                     double beta, double epsilon) {
  const auto n = static_cast<double>(x.size());
  double mean = 0, variance = 0, sum = 0;
  for (const double v : x) mean += v / n;
  for (const double v : x) variance += (v - mean) * (v - mean) / n;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += w[i] * (gamma * (x[i] - mean) / std::sqrt(variance + epsilon) + beta);
  }
  return sum;
}

TEST(FusedKernels, BatchNormalisation) {
  for_each_table([]<typename T>(const std::string& name, const KernelTable<T>& table) {
    Random random(8);
    constexpr double kEpsilon = 0.01;
    for (const std::size_t rows : kRows) {
      const Lanes lanes = lanes_of(table, rows);
      for (const std::size_t features : kFeatures) {
        for (const bool affine : {false, true}) {
          const std::string where = place(name, rows, features, affine);
          const Aligned<T> x = columns<T>(features, lanes, random),
                           dy = columns<T>(features, lanes, random);
          const Aligned<T> gamma = flat<T>(features, random), beta = flat<T>(features, random);
          Aligned<T> mean(features), variance(features), scale(features), xhat(x.size()),
              y(x.size()), inferred(x.size()), dx(x.size()), dgamma(features), dbeta(features);
          const T *g = affine ? gamma.data() : nullptr, *s = affine ? beta.data() : nullptr;
          table.normalise(features, x.data(), g, s, static_cast<T>(kEpsilon), mean.data(),
                          variance.data(), scale.data(), xhat.data(), y.data(), lanes);
          table.scale(features, x.data(), g, s, mean.data(), scale.data(), inferred.data(), lanes);
          std::copy_n(dy.data(), dy.size(), dx.data());
          table.differentiate_normalise(features, xhat.data(), g, scale.data(),
                                        affine ? dgamma.data() : nullptr,
                                        affine ? dbeta.data() : nullptr, dx.data(), lanes);
          for (std::size_t f = 0; f < features; ++f) {
            std::vector<double> values, weights;
            for (std::size_t b = 0; b < rows; ++b) {
              values.push_back(x[f * lanes.stride + b]);
              weights.push_back(dy[f * lanes.stride + b]);
            }
            const double ga = affine ? gamma[f] : 1, be = affine ? beta[f] : 0;
            double m = 0, v = 0, db = 0, dg = 0;
            const auto n = static_cast<double>(rows);
            for (const double value : values) m += value / n;
            for (const double value : values) v += (value - m) * (value - m) / n;
            const double root = std::sqrt(v + static_cast<double>(static_cast<T>(kEpsilon)));
            expect_near(mean[f], m, 2, where);
            expect_near(variance[f], v, 2, where);
            expect_near(scale[f], 1 / root, 2 / root, where);
            for (std::size_t b = 0; b < rows; ++b) {
              const std::size_t at = f * lanes.stride + b;
              const double hat = (values[b] - m) / root;
              expect_near(xhat[at], hat, 4 / root, where);
              expect_near(y[at], ga * hat + be, 8 / root, where);
              expect_near(inferred[at], ga * hat + be, 8 / root, where);
              db += weights[b];
              dg += weights[b] * hat;
              auto moved = [&](double h) {
                std::vector<double> near = values;
                near[b] += h;
                return weighted_norm(near, weights, ga, be, kEpsilon);
              };
              const double slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
              EXPECT_NEAR(static_cast<double>(dx[at]), slope, (tolerance(T()) + 1e-7) * 20 / root)
                  << where;
            }
            if (affine) {
              expect_near(dgamma[f], dg, 4 * n / root, where);
              expect_near(dbeta[f], db, 2 * n, where);
            }
          }
        }
      }
    }
  });
}

/// The gradients of a dense layer, y = x kernel + bias, from the three kernels that make them.
TEST(FusedKernels, ProductGradientsAreCentralDifferences) {
  Random random(9);
  const std::size_t inputs = 3, outputs = 5;
  const Lanes lanes = lanes_of(exact(), 10);
  Aligned<double> kernel = flat<double>(inputs * outputs, random),
                  bias = flat<double>(outputs, random);
  Aligned<double> x = columns<double>(inputs, lanes, random);
  const Aligned<double> dy = columns<double>(outputs, lanes, random);
  auto value = [&] {  // sum of dy y
    Aligned<double> y(outputs * lanes.stride);
    exact().product(outputs, inputs, kernel.data(), 1, outputs, bias.data(), x.data(), y.data(),
                    lanes);
    double sum = 0;
    for (std::size_t o = 0; o < outputs; ++o) {
      for (std::size_t b = 0; b < lanes.rows; ++b) {
        sum += dy[o * lanes.stride + b] * y[o * lanes.stride + b];
      }
    }
    return sum;
  };
  auto slope = [&](double& at) {
    const double before = at;
    at = before + 1e-4;
    const double up = value();
    at = before - 1e-4;
    const double down = value();
    at = before;
    return (up - down) / 2e-4;
  };
  Aligned<double> dkernel(inputs * outputs), dbias(outputs), dx(inputs * lanes.stride);
  Aligned<double> scratch((outputs + exact().width) * lanes.rows);
  exact().outer(inputs, outputs, x.data(), dy.data(), dkernel.data(), scratch.data(), lanes);
  exact().row_sums(outputs, dy.data(), dbias.data(), lanes);
  exact().product(inputs, outputs, kernel.data(), outputs, 1, nullptr, dy.data(), dx.data(), lanes);
  for (std::size_t i = 0; i < kernel.size(); ++i) EXPECT_NEAR(dkernel[i], slope(kernel[i]), 1e-9);
  for (std::size_t i = 0; i < bias.size(); ++i) EXPECT_NEAR(dbias[i], slope(bias[i]), 1e-9);
  for (std::size_t f = 0; f < inputs; ++f) {
    for (std::size_t b = 0; b < lanes.rows; ++b) {
      const std::size_t at = f * lanes.stride + b;
      EXPECT_NEAR(dx[at], slope(x[at]), 1e-9);
    }
  }
}

}  // namespace
}  // namespace neutra::training::fused
