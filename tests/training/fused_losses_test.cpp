#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "kernel_cases.h"

namespace neutra::training::fused::tests {
namespace {

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
                auto moved = [&, f = f](double h) {
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

}  // namespace
}  // namespace neutra::training::fused::tests
