#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kernel_cases.h"

namespace neutra::training::fused::tests {
namespace {

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
}  // namespace neutra::training::fused::tests
