#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "training/metrics/pairs.h"
#include "training/metrics/sums.h"

namespace neutra::training {
namespace metrics {
namespace {

constexpr float kEpsilon = 1e-7f;  ///< keras.backend.epsilon()

using OfPair = double (*)(double output, double target);

/// Numbers along the last axis.
struct Row {
  std::vector<double> numbers;
  std::size_t copies = 1;  ///< that broadcasting made of each
};
using OfRow = double (*)(const Row& output, const Row& target);

class Mean : public MetricSum {
 public:
  double value() const override { return count_ == 0 ? kNaN : sum_ / static_cast<double>(count_); }

 protected:
  void count(double value) {
    sum_ += value;
    ++count_;
  }

 private:
  double sum_ = 0;
  std::int64_t count_ = 0;
};

class PairMean : public Mean {
 public:
  PairMean(OfPair of, TargetScale scale) : of_(of), scale_(std::move(scale)) {}
  void add(const Batch& output, const Batch& target) override {
    for_each_pair({output, &scale_}, {target, &scale_},
                  [this](double o, double t) { count(of_(o, t)); });
  }

 private:
  OfPair of_;
  TargetScale scale_;
};

class RootMean final : public PairMean {
 public:
  using PairMean::PairMean;
  double value() const override { return std::sqrt(PairMean::value()); }
};

class RowMean final : public Mean {
 public:
  explicit RowMean(OfRow of) : of_(of) {}
  void add(const Batch& output, const Batch& target) override {
    const Broadcast pairs(output, target);
    const auto width = static_cast<std::size_t>(pairs.common.back());
    Row o{{}, pairs.output_stride.back() == 0 ? width : 1};
    Row t{{}, pairs.target_stride.back() == 0 ? width : 1};
    pairs.each([&](std::int64_t a, std::int64_t b) {
      o.numbers.push_back(output.values[static_cast<std::size_t>(a)]);
      t.numbers.push_back(target.values[static_cast<std::size_t>(b)]);
      if (o.numbers.size() < width) return;
      count(of_(o, t));
      o.numbers.clear();
      t.numbers.clear();
    });
  }

 private:
  OfRow of_;
};

/// log sum exp of all.
template <typename Numbers>
double log_sum_exp(const Numbers& numbers) {
  double most = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const double z : numbers) most = std::max(most, z);  // a NaN shows in the sum
  for (const double z : numbers) sum += std::exp(z - most);
  return most + std::log(sum);
}

class SparseCrossEntropy final : public Mean {
 public:
  explicit SparseCrossEntropy(bool from_logits = false) : from_logits_(from_logits) {}
  void add(const Batch& output, const Batch& target) override {
    const Scores scores("sparse_categorical_crossentropy", output, target, true);
    for (std::size_t row = 0; row < scores.rows; ++row) {
      const double label = std::trunc(scores.targets(row)[0]);
      if (!(label >= 0 && label < static_cast<double>(scores.width))) {
        refuse(" sparse_categorical_crossentropy", output, target, "labels of the outputs");
      }
      if (from_logits_) {
        const std::span<const float> z = scores.scores(row);
        count(log_sum_exp(z) - z[static_cast<std::size_t>(label)]);
        continue;
      }
      double sum = 0;
      for (const float p : scores.scores(row)) sum += clipped(p);
      count(std::log(sum) - std::log(clipped(scores.scores(row)[static_cast<std::size_t>(label)])));
    }
  }
  /// As Keras clips in float32; NaN stays.
  static double clipped(float p) {
    return p < kEpsilon ? kEpsilon : p > 1 - kEpsilon ? 1 - kEpsilon : p;
  }

 private:
  bool from_logits_;
};

/// Where all labels are 0 or 1, -1 and 1 are meant: both means are kept till that is known.
class Hinge final : public MetricSum {
 public:
  explicit Hinge(OfPair of) : of_(of) {}
  void add(const Batch& output, const Batch& target) override {
    for_each_pair({output}, {target}, [this](double o, double t) {
      binary_ = binary_ && (t == 0 || t == 1);
      sum_ += of_(o, t);
      signed_sum_ += of_(o, 2 * t - 1);
      ++count_;
    });
  }
  double value() const override {
    return count_ == 0 ? kNaN : (binary_ ? signed_sum_ : sum_) / static_cast<double>(count_);
  }

 private:
  OfPair of_;
  double sum_ = 0, signed_sum_ = 0;
  std::int64_t count_ = 0;
  bool binary_ = true;
};

double squared(double x) { return x * x; }

double cosine(const Row& output, const Row& target) {
  double oo = 0, tt = 0, ot = 0;
  for (std::size_t i = 0; i < output.numbers.size(); ++i) {
    const double o = output.numbers[i], t = target.numbers[i];
    oo += o * o;
    tt += t * t;
    ot += o * t;
  }
  constexpr double kFloor = 1e-12;  // of TensorFlow's l2_normalize, which comes before broadcasting
  return ot / std::sqrt(std::max(oo / static_cast<double>(output.copies), kFloor) *
                        std::max(tt / static_cast<double>(target.copies), kFloor));
}

double categorical_crossentropy(const Row& output, const Row& target) {
  const std::vector<double>&o = output.numbers, &t = target.numbers;
  double sum = 0, loss = 0;
  for (const double p : o) sum += p;
  for (std::size_t i = 0; i < o.size(); ++i) {
    loss -= t[i] * std::log(SparseCrossEntropy::clipped(static_cast<float>(o[i] / sum)));
  }
  return loss;
}

double binary_crossentropy(double o, double t) {
  const auto p = static_cast<float>(SparseCrossEntropy::clipped(static_cast<float>(o)));
  return -(t * std::log(static_cast<double>(p + kEpsilon)) +
           (1 - t) * std::log(static_cast<double>((1 - p) + kEpsilon)));
}

double categorical_crossentropy_of_logits(const Row& output, const Row& target) {
  const double all = log_sum_exp(output.numbers);
  double loss = 0;
  for (std::size_t i = 0; i < output.numbers.size(); ++i) {
    loss += target.numbers[i] * (all - output.numbers[i]);
  }
  return loss;
}

double binary_crossentropy_of_logits(double z, double t) {
  return (z < 0 ? 0 : z) - z * t + std::log1p(std::exp(-std::abs(z)));
}

double divergence(const Row& output, const Row& target) {
  const std::vector<double>&o = output.numbers, &t = target.numbers;
  const auto clip = [](double x) { return x < kEpsilon ? kEpsilon : x > 1 ? 1 : x; };
  double sum = 0;
  for (std::size_t i = 0; i < o.size(); ++i) sum += clip(t[i]) * std::log(clip(t[i]) / clip(o[i]));
  return sum;
}

double categorical_hinge(const Row& output, const Row& target) {
  const std::vector<double>&o = output.numbers, &t = target.numbers;
  double right = 0, wrong = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < o.size(); ++i) {
    right += t[i] * o[i];
    const double other = (1 - t[i]) * o[i];
    if (!(other <= wrong)) wrong = other;  // NaN wins
  }
  const double loss = wrong - right + 1;
  return loss < 0 ? 0 : loss;
}

double logcosh(double d) {
  const double size = std::abs(d);
  const double value = size + std::log1p(std::exp(-2 * size)) - std::log(2.0);
  return value < 0 ? 0 : value;  // by rounding
}

const std::map<std::string, OfPair, std::less<>>& pair_means() {
  static const std::map<std::string, OfPair, std::less<>> kMeans{
      {"mae", [](double o, double t) { return std::abs(o - t); }},
      {"mse", [](double o, double t) { return squared(o - t); }},
      {"rmse", [](double o, double t) { return squared(o - t); }},
      {"mean_absolute_percentage_error",
       [](double o, double t) {
         return 100 * std::abs((t - o) / std::max<double>(std::abs(t), kEpsilon));
       }},
      {"mean_squared_logarithmic_error",
       [](double o, double t) {
         const auto log = [](double x) { return std::log((x < kEpsilon ? kEpsilon : x) + 1); };
         return squared(log(o) - log(t));
       }},
      {"logcosh", [](double o, double t) { return logcosh(o - t); }},
      {"huber",
       [](double o, double t) {
         const double d = std::abs(o - t);
         return d <= 1 ? 0.5 * d * d : d - 0.5;
       }},
      {"poisson", [](double o, double t) { return o - t * std::log(o + kEpsilon); }},
      {"binary_crossentropy", binary_crossentropy},
  };
  return kMeans;
}

const std::map<std::string, OfRow, std::less<>>& row_means() {
  static const std::map<std::string, OfRow, std::less<>> kMeans{
      {"categorical_crossentropy", categorical_crossentropy},
      {"categorical_hinge", categorical_hinge},
      {"cosine_similarity", cosine},
      {"kullback_leibler_divergence", divergence},
  };
  return kMeans;
}

const std::map<std::string, OfPair, std::less<>>& hinges() {
  static const std::map<std::string, OfPair, std::less<>> kHinges{
      {"hinge",
       [](double o, double t) {
         const double loss = 1 - t * o;
         return loss < 0 ? 0 : loss;
       }},
      {"squared_hinge",
       [](double o, double t) {
         const double loss = 1 - t * o;
         return loss < 0 ? 0 : squared(loss);
       }},
  };
  return kHinges;
}

}  // namespace

Sum mean(const std::string& name, TargetScale scale) {
  if (name == "sparse_categorical_crossentropy") return std::make_unique<SparseCrossEntropy>();
  if (const auto it = row_means().find(name); it != row_means().end()) {
    return std::make_unique<RowMean>(it->second);
  }
  if (const auto it = hinges().find(name); it != hinges().end()) {
    return std::make_unique<Hinge>(it->second);
  }
  if (const auto it = pair_means().find(name); it != pair_means().end()) {
    if (name == "rmse") return std::make_unique<RootMean>(it->second, std::move(scale));
    return std::make_unique<PairMean>(it->second, std::move(scale));
  }
  return nullptr;
}

Sum mean_of_logits(const std::string& name) {
  if (name == "binary_crossentropy") {
    return std::make_unique<PairMean>(binary_crossentropy_of_logits, TargetScale{});
  }
  if (name == "categorical_crossentropy") {
    return std::make_unique<RowMean>(categorical_crossentropy_of_logits);
  }
  if (name == "sparse_categorical_crossentropy") return std::make_unique<SparseCrossEntropy>(true);
  return nullptr;
}

}  // namespace metrics
}  // namespace neutra::training
