#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernel_cases.h"

namespace neutra::training::fused::tests {
namespace {

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
    for (std::size_t i = 0; i < count; ++i) {
      x[i] = static_cast<T>(0.0213 * static_cast<double>(i) - 8);
    }
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

}  // namespace
}  // namespace neutra::training::fused::tests
