#include <algorithm>
#include <cmath>
#include <map>

#include "training/metrics/pairs.h"
#include "training/metrics/sums.h"

namespace neutra::training {
namespace metrics {
namespace {

class Count : public MetricSum {
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
  explicit Accuracy(Classes classes, double threshold = 0.5)
      : classes_(classes), threshold_(threshold) {}
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
        count((old ? std::nearbyint(o) : o > threshold_ ? 1.0 : 0.0) == t);
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
  double threshold_;
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

}  // namespace

Sum accuracy(const std::string& name) {
  static const std::map<std::string, Classes> kClasses{
      {"accuracy", Classes::kByShape},
      {"binary_accuracy", Classes::kBinary},
      {"categorical_accuracy", Classes::kCategorical},
      {"keras-2.2.4/binary_accuracy", Classes::kOldBinary},
      {"keras-2.2.4/categorical_accuracy", Classes::kOldCategorical},
      {"keras-2.2.4/sparse_categorical_accuracy", Classes::kOldSparse},
      {"sparse_categorical_accuracy", Classes::kSparse},
  };
  const auto it = kClasses.find(name);
  return it == kClasses.end() ? nullptr : std::make_unique<Accuracy>(it->second);
}

Sum binary_accuracy(double threshold) {
  return std::make_unique<Accuracy>(Classes::kBinary, threshold);
}

Sum top_k_accuracy(bool sparse, std::int64_t k) { return std::make_unique<TopK>(sparse, k); }

}  // namespace metrics
}  // namespace neutra::training
