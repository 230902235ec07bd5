#include "training/metrics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "program/metric_name.h"
#include "program/vocabulary.h"

namespace neutra::training {

class Metric::Sum {
 public:
  Sum() = default;
  Sum(const Sum&) = delete;
  virtual ~Sum() = default;
  virtual void add(const Batch& output, const Batch& target) = 0;
  virtual double value() const = 0;
  virtual std::int64_t correct() const { return -1; }
  virtual std::int64_t total() const { return -1; }
  virtual bool sorts() const { return false; }
};

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr float kEpsilon = 1e-7f;  ///< keras.backend.epsilon()

[[noreturn]] void refuse(const std::string& name, const Batch& output, const Batch& target,
                         const std::string& allowed) {
  throw input_error("metric" + name + ": found outputs " + program::to_string(output.extents) +
                    " and targets " + program::to_string(target.extents) + "; allowed: " + allowed);
}

// --- outputs and targets side by side

/// Numbers of a batch, on their original scale.
struct Numbers {
  const Batch& batch;
  const TargetScale* scale = nullptr;
  double operator[](std::int64_t i) const {
    const auto at = static_cast<std::size_t>(i);
    const double value = batch.values[at];
    if (scale == nullptr || scale->factor.empty()) return value;
    const std::size_t element = at % scale->factor.size();
    return value * scale->factor[element] + scale->offset[element];
  }
};

/// Keras drops a last dimension of 1 that only one side has.
void squeeze(program::Shape& longer, const program::Shape& shorter) {
  if (longer.size() == shorter.size() + 1 && longer.back() == 1) longer.pop_back();
}

/// What NumPy's broadcasting makes of the extents of two batches.
struct Broadcast {
  program::Shape common, output_stride, target_stride;

  Broadcast(const Batch& output, const Batch& target) {
    program::Shape o = output.extents, t = target.extents;
    squeeze(o, t);
    squeeze(t, o);
    const std::size_t rank = std::max(o.size(), t.size());
    common = output_stride = target_stride = program::Shape(rank);
    const auto align = [&](const program::Shape& extents, program::Shape& stride) {
      std::int64_t step = 1;
      for (std::size_t i = 0; i < extents.size(); ++i) {
        const std::size_t to = rank - 1 - i;
        const std::int64_t n = extents[extents.size() - 1 - i];
        stride[to] = n == 1 ? 0 : step;
        step *= n;
        if (n != 1 && common[to] > 1 && common[to] != n) {
          refuse("", output, target, "shapes that broadcast");
        }
        if (common[to] <= 1) common[to] = n;
      }
    };
    align(o, output_stride);
    align(t, target_stride);
  }

  /// Calls f(place of the output's element, place of the target's) for each pair, in order.
  template <typename F>
  void each(F f) const {
    const std::size_t rank = common.size();
    program::Shape index(rank);
    std::int64_t count = 1;
    for (const std::int64_t n : common) count *= n;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t at_output = 0, at_target = 0;
      for (std::size_t d = 0; d < rank; ++d) {
        at_output += index[d] * output_stride[d];
        at_target += index[d] * target_stride[d];
      }
      f(at_output, at_target);
      for (std::size_t d = rank; d-- > 0 && ++index[d] == common[d];) index[d] = 0;
    }
  }
};

/// Calls f(output value, target value) for every pair that broadcasting makes of two batches.
template <typename F>
void for_each_pair(const Numbers& output, const Numbers& target, F f) {
  const program::Shape &o = output.batch.extents, &t = target.batch.extents;
  program::Shape squeezed = o;
  squeeze(squeezed, t);
  if (squeezed == t) {  // most programs
    for (std::size_t i = 0; i < output.batch.values.size(); ++i) {
      const auto at = static_cast<std::int64_t>(i);
      f(output[at], target[at]);
    }
    return;
  }
  Broadcast(output.batch, target.batch).each([&](std::int64_t a, std::int64_t b) {
    f(output[a], target[b]);
  });
}

/// Rows of scores and what the targets say of each.
struct Scores {
  std::size_t width = 0, rows = 0;
  bool labels = false;           ///< a target is the number of a class; else a row of its own
  std::size_t target_width = 1;  ///< of such a row
  std::span<const float> output, target;

  Scores(const std::string& name, const Batch& o, const Batch& t, bool as_labels)
      : width(static_cast<std::size_t>(o.extents.back())),
        rows(o.values.size() / width),
        labels(as_labels),
        target_width(as_labels ? 1 : static_cast<std::size_t>(t.extents.back())),
        output(o.values),
        target(t.values) {
    if (target.size() != rows * target_width) {
      refuse(" " + name, o, t, "a row or a label for each row of scores");
    }
  }
  std::span<const float> scores(std::size_t row) const {
    return output.subspan(row * width, width);
  }
  std::span<const float> targets(std::size_t row) const {
    return target.subspan(row * target_width, target_width);
  }
};

/// Keras's rule: are the targets of several outputs class numbers?
bool are_labels(const Batch& output, const Batch& target) {
  return target.extents.size() < output.extents.size() || target.extents.back() == 1;
}

// --- accuracies

class Count : public Metric::Sum {
 public:
  double value() const override {
    return total_ == 0 ? kNaN : static_cast<double>(correct_) / static_cast<double>(total_);
  }
  std::int64_t correct() const override { return correct_; }
  std::int64_t total() const override { return total_; }

 protected:
  void count(bool right) {
    correct_ += right;
    ++total_;
  }

 private:
  std::int64_t correct_ = 0, total_ = 0;
};

enum class Classes {
  kByShape,
  kBinary,
  kCategorical,
  kSparse,
  kOldBinary,
  kOldCategorical,
  kOldSparse
};

class Accuracy final : public Count {
 public:
  explicit Accuracy(Classes classes) : classes_(classes) {}
  void add(const Batch& output, const Batch& target) override {
    Classes classes = classes_;
    const bool old = classes >= Classes::kOldBinary;  // Keras 2.2.4's
    if (old) {
      classes = classes_ == Classes::kOldBinary || output.extents.back() == 1 ? Classes::kBinary
                : classes_ == Classes::kOldSparse                             ? Classes::kSparse
                                                  : Classes::kCategorical;
    } else if (classes == Classes::kByShape) {
      classes = output.extents.back() == 1   ? Classes::kBinary
                : are_labels(output, target) ? Classes::kSparse
                                             : Classes::kCategorical;
    }
    if (classes == Classes::kBinary) {
      for_each_pair({output}, {target}, [&](double o, double t) {
        count((old ? std::nearbyint(o) : o > 0.5 ? 1.0 : 0.0) == t);
      });
      return;
    }
    const Scores scores("accuracy", output, target, classes == Classes::kSparse);
    for (std::size_t row = 0; row < scores.rows; ++row) {
      const std::size_t predicted = argmax(scores.scores(row));
      const std::span<const float> wanted = scores.targets(row);
      count(scores.labels ? static_cast<float>(predicted) == wanted[0]
                          : predicted == argmax(wanted));
    }
  }

 private:
  Classes classes_;
};

class TopK final : public Count {
 public:
  TopK(bool sparse, std::int64_t k) : sparse_(sparse), k_(k) {}
  void add(const Batch& output, const Batch& target) override {
    const Scores scores("top-k accuracy", output, target, sparse_);
    for (std::size_t row = 0; row < scores.rows; ++row) {
      const std::span<const float> all = scores.scores(row), wanted = scores.targets(row);
      const double label = sparse_ ? std::trunc(wanted[0]) : static_cast<double>(argmax(wanted));
      if (!(label >= 0 && label < static_cast<double>(all.size()))) {
        count(false);
        continue;
      }
      const float score = all[static_cast<std::size_t>(label)];
      const auto above = std::count_if(all.begin(), all.end(), [&](float s) { return s > score; });
      count(above < k_ &&
            std::all_of(all.begin(), all.end(), [](float s) { return std::isfinite(s); }));
    }
  }

 private:
  bool sparse_;
  std::int64_t k_;
};

// --- means over elements or rows

using OfPair = double (*)(double output, double target);

/// Numbers along the last axis.
struct Row {
  std::vector<double> numbers;
  std::size_t copies = 1;  ///< that broadcasting made of each
};
using OfRow = double (*)(const Row& output, const Row& target);

class Mean : public Metric::Sum {
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
class Hinge final : public Metric::Sum {
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

// --- what needs all rows

/// 1 - sum (t - o)^2 / sum (t - mean t)^2, for each element of a row, and the mean of these.
class R2 final : public Metric::Sum {
 public:
  explicit R2(TargetScale scale) : scale_(std::move(scale)) {}
  void add(const Batch& output, const Batch& target) override {
    std::size_t pair = 0;
    const Broadcast broadcast(output, target);
    std::int64_t width = 1;
    for (std::size_t i = 1; i < broadcast.common.size(); ++i) width *= broadcast.common[i];
    elements_.resize(static_cast<std::size_t>(width));
    for_each_pair({output, &scale_}, {target, &scale_}, [&](double o, double t) {
      Element& element = elements_[pair++ % elements_.size()];
      // Welford's: the sum of squares doesn't suffer from a large mean.
      const double from_mean = t - element.mean;
      element.mean += from_mean / static_cast<double>(++element.rows);
      element.around_mean += from_mean * (t - element.mean);
      element.around_output += squared(t - o);
      element.first = element.rows == 1 ? t : element.first;
      element.varies = element.varies || t != element.first;
    });
  }
  double value() const override {
    double sum = 0;
    for (const Element& element : elements_) {
      if (element.rows == 0) return kNaN;
      if (element.varies || std::isnan(element.around_output)) {
        sum += 1 - element.around_output / element.around_mean;
      } else {
        sum += element.around_output == 0 ? 1 : 0;
      }
    }
    return elements_.empty() ? kNaN : sum / static_cast<double>(elements_.size());
  }

 private:
  struct Element {
    std::int64_t rows = 0;
    double mean = 0, around_mean = 0, around_output = 0, first = 0;
    bool varies = false;
  };
  TargetScale scale_;
  std::vector<Element> elements_;
};

/// Above the threshold of Keras's metrics, as is a positive label.
bool positive(double value) { return value > 0.5; }

class Confusion : public Metric::Sum {
 public:
  void add(const Batch& output, const Batch& target) override {
    for_each_pair({output}, {target}, [this](double o, double t) {
      right_ += positive(o) && positive(t);
      positive_outputs_ += positive(o);
      positive_targets_ += positive(t);
      any_ = true;
    });
  }

 protected:
  /// 0 where there is nothing to divide by, as Keras's div_no_nan.
  double share(std::int64_t of) const {
    if (!any_) return kNaN;
    return of == 0 ? 0 : static_cast<double>(right_) / static_cast<double>(of);
  }
  std::int64_t right_ = 0, positive_outputs_ = 0, positive_targets_ = 0;
  bool any_ = false;
};

class Precision final : public Confusion {
 public:
  double value() const override { return share(positive_outputs_); }
};

class Recall final : public Confusion {
 public:
  double value() const override { return share(positive_targets_); }
};

class MacroF1 final : public Metric::Sum {
 public:
  void add(const Batch& output, const Batch& target) override {
    if (output.extents.back() == 1) {
      for_each_pair({output}, {target}, [this](double o, double t) {
        count(positive(o) ? 1 : 0, positive(t) ? 1 : 0);
      });
      return;
    }
    const Scores scores("macro_f1", output, target, are_labels(output, target));
    for (std::size_t row = 0; row < scores.rows; ++row) {
      const std::span<const float> wanted = scores.targets(row);
      count(static_cast<double>(argmax(scores.scores(row))),
            scores.labels ? std::trunc(wanted[0]) : static_cast<double>(argmax(wanted)));
    }
  }
  double value() const override {
    double sum = 0;
    for (const auto& [label, of] : classes_) {
      sum += 2 * static_cast<double>(of.right) / static_cast<double>(of.outputs + of.targets);
    }
    return classes_.empty() ? kNaN : sum / static_cast<double>(classes_.size());
  }

 private:
  struct Class {
    std::int64_t right = 0, outputs = 0, targets = 0;
  };
  void count(double output, double target) {
    if (std::isnan(target)) target = -1;  // a class that no output names
    ++classes_[output].outputs;
    ++classes_[target].targets;
    if (output == target) ++classes_[output].right;
  }
  std::map<double, Class> classes_;
};

/// Does a row belong to class `c`?
bool is_of_class(const Scores& scores, std::size_t row, std::size_t c) {
  const std::span<const float> wanted = scores.targets(row);
  return scores.labels ? std::trunc(wanted[0]) == static_cast<double>(c)
                       : c < wanted.size() && positive(wanted[c]);
}

class Auc final : public Metric::Sum {
 public:
  void add(const Batch& output, const Batch& target) override {
    if (output.extents.back() == 1) {
      classes_.resize(1);
      for_each_pair({output}, {target},
                    [this](double o, double t) { classes_[0].emplace_back(o, positive(t)); });
      return;
    }
    const Scores scores("AUC", output, target, are_labels(output, target));
    classes_.resize(scores.width);
    for (std::size_t row = 0; row < scores.rows; ++row) {
      for (std::size_t c = 0; c < scores.width; ++c) {
        classes_[c].emplace_back(scores.scores(row)[c], is_of_class(scores, row, c));
      }
    }
  }
  double value() const override {
    double sum = 0;
    int areas = 0;
    for (const Ranked& ranked : classes_) {
      const auto area = area_under_curve(ranked);
      if (!area) continue;
      sum += *area;
      ++areas;
    }
    return areas == 0 ? kNaN : sum / areas;
  }
  bool sorts() const override { return true; }

 private:
  using Ranked = std::vector<std::pair<double, bool>>;  ///< score, is positive

  /// Share of the pairs of a positive and a negative row in which the positive one has the larger
  /// score, equal ones counting half: Mann and Whitney's U. Nullopt: rows of one kind.
  static std::optional<double> area_under_curve(Ranked ranked) {
    for (const auto& [score, unused] : ranked) {
      if (std::isnan(score)) return kNaN;
    }
    std::sort(ranked.begin(), ranked.end());
    double pairs = 0;  // whole and half ones: exact
    std::int64_t negatives = 0, positives = 0;
    for (std::size_t i = 0; i < ranked.size();) {
      std::int64_t equal_positives = 0, equal_negatives = 0;
      const double score = ranked[i].first;
      for (; i < ranked.size() && ranked[i].first == score; ++i) {
        (ranked[i].second ? equal_positives : equal_negatives) += 1;
      }
      pairs += static_cast<double>(equal_positives) *
               (static_cast<double>(negatives) + static_cast<double>(equal_negatives) / 2);
      negatives += equal_negatives;
      positives += equal_positives;
    }
    if (negatives == 0 || positives == 0) return std::nullopt;
    return pairs / static_cast<double>(negatives) / static_cast<double>(positives);
  }

  std::vector<Ranked> classes_;
};

template <typename T, auto... arguments>
std::unique_ptr<Metric::Sum> make() {
  return std::make_unique<T>(arguments...);
}

std::unique_ptr<Metric::Sum> make_sum(const std::string& name, std::int64_t k, TargetScale scale) {
  using Maker = std::unique_ptr<Metric::Sum> (*)();
  static const std::map<std::string, Maker, std::less<>> kOthers{
      {"AUC", make<Auc>},
      {"Precision", make<Precision>},
      {"Recall", make<Recall>},
      {"accuracy", make<Accuracy, Classes::kByShape>},
      {"binary_accuracy", make<Accuracy, Classes::kBinary>},
      {"categorical_accuracy", make<Accuracy, Classes::kCategorical>},
      {"keras-2.2.4/binary_accuracy", make<Accuracy, Classes::kOldBinary>},
      {"keras-2.2.4/categorical_accuracy", make<Accuracy, Classes::kOldCategorical>},
      {"keras-2.2.4/sparse_categorical_accuracy", make<Accuracy, Classes::kOldSparse>},
      {"macro_f1", make<MacroF1>},
      {"sparse_categorical_accuracy", make<Accuracy, Classes::kSparse>},
      {"sparse_categorical_crossentropy", make<SparseCrossEntropy>},
  };
  if (const auto it = kOthers.find(name); it != kOthers.end()) return it->second();
  if (const auto it = row_means().find(name); it != row_means().end()) {
    return std::make_unique<RowMean>(it->second);
  }
  if (const auto it = hinges().find(name); it != hinges().end()) {
    return std::make_unique<Hinge>(it->second);
  }
  if (name == "r2") return std::make_unique<R2>(std::move(scale));
  if (name == "top_k_categorical_accuracy") return std::make_unique<TopK>(false, k);
  if (name == "sparse_top_k_categorical_accuracy") return std::make_unique<TopK>(true, k);
  if (const auto it = pair_means().find(name); it != pair_means().end()) {
    if (name == "rmse") return std::make_unique<RootMean>(it->second, std::move(scale));
    return std::make_unique<PairMean>(it->second, std::move(scale));
  }
  throw input_error("metric: found " + name + "; allowed: " +
                    allowed_words(name, program::words(program::Vocabulary::kMetric)));
}

std::unique_ptr<Metric::Sum> make_sum_of_logits(const std::string& name) {
  if (name == "binary_crossentropy") {
    return std::make_unique<PairMean>(binary_crossentropy_of_logits, TargetScale{});
  }
  if (name == "categorical_crossentropy") {
    return std::make_unique<RowMean>(categorical_crossentropy_of_logits);
  }
  if (name == "sparse_categorical_crossentropy") return std::make_unique<SparseCrossEntropy>(true);
  throw input_error("metric: found " + name + " of logits; allowed: cross entropies");
}

}  // namespace

std::size_t argmax(std::span<const float> values) {
  float best = std::numeric_limits<float>::lowest();
  std::size_t index = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > best) {
      best = values[i];
      index = i;
    }
  }
  return index;
}

Metric::Metric(const std::string& name, TargetScale scale) {
  program::MetricName metric = program::parse_metric_name(name);
  if (const program::Entry* entry = program::find(program::Vocabulary::kMetric, metric.name);
      entry != nullptr && metric.k == 0) {
    metric.k = entry->facts.value("k", std::int64_t{0});
  }
  sum_ = metric.from_logits ? make_sum_of_logits(metric.name)
                            : make_sum(metric.name, metric.k,
                                       metric.original_scale ? std::move(scale) : TargetScale{});
}
Metric::Metric(Metric&&) noexcept = default;
Metric& Metric::operator=(Metric&&) noexcept = default;
Metric::~Metric() = default;

namespace {

/// Values of the steps that count, each a row.
struct Steps {
  std::vector<float> values;
  program::Shape extents;
  Batch batch() const { return {values, extents}; }
};

Steps counting_steps(const Batch& batch, std::span<const bool> counts) {
  Steps steps{{}, {0}};
  steps.extents.insert(steps.extents.end(), batch.extents.begin() + 2, batch.extents.end());
  const std::size_t width = batch.values.size() / counts.size();
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (!counts[i]) continue;
    const auto step = batch.values.subspan(i * width, width);
    steps.values.insert(steps.values.end(), step.begin(), step.end());
    ++steps.extents.front();
  }
  return steps;
}

}  // namespace

void Metric::add(const Batch& output, const Batch& target) {
  if (output.counts.empty()) return sum_->add(output, target);
  const Steps outputs = counting_steps(output, output.counts);
  if (outputs.extents.front() == 0) return;
  sum_->add(outputs.batch(), counting_steps(target, output.counts).batch());
}
double Metric::value() const { return sum_->value(); }
std::int64_t Metric::correct() const { return sum_->correct(); }
std::int64_t Metric::total() const { return sum_->total(); }
bool Metric::sorts() const { return sum_->sorts(); }

bool is_accuracy(const std::string& metric) { return metric.find("accuracy") != std::string::npos; }

std::string undefined_metric(const program::ResolvedProgram& program, const Batch& targets) {
  const std::int64_t rows = targets.extents.front();
  if (program.metric != "AUC" || rows == 0) return "";
  // Classes that differ from place to place are all that it needs.
  std::int64_t outputs = 1, row = 1;
  for (const std::int64_t extent : program.layers.back().output_shape) row *= (outputs = extent);
  const auto width = static_cast<std::int64_t>(targets.values.size()) / rows;
  const bool labels = outputs > 1 && width * outputs == row;
  const auto class_of = [&](float target) {
    return labels ? std::trunc(static_cast<double>(target)) : static_cast<double>(positive(target));
  };
  const auto step = static_cast<std::size_t>(outputs > 1 && !labels ? width : 1);
  for (std::size_t i = step; i < targets.values.size(); ++i) {
    if (class_of(targets.values[i]) != class_of(targets.values[i - step])) return "";
  }
  return "AUC of rows of one class";
}

}  // namespace neutra::training
