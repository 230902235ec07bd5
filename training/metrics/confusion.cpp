#include <cmath>
#include <map>

#include "training/metrics/pairs.h"
#include "training/metrics/sums.h"

namespace neutra::training {
namespace metrics {
namespace {

class Confusion : public MetricSum {
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

class MacroF1 final : public MetricSum {
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

}  // namespace

Sum precision() { return std::make_unique<Precision>(); }
Sum recall() { return std::make_unique<Recall>(); }
Sum macro_f1() { return std::make_unique<MacroF1>(); }

}  // namespace metrics
}  // namespace neutra::training
