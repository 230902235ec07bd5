#include <cmath>
#include <utility>
#include <vector>

#include "training/metrics/pairs.h"
#include "training/metrics/sums.h"

namespace neutra::training {
namespace metrics {
namespace {

/// 1 - sum (t - o)^2 / sum (t - mean t)^2, for each element of a row, and the mean of these.
class R2 final : public MetricSum {
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
      element.around_output += (t - o) * (t - o);
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

}  // namespace

Sum r2(TargetScale scale) { return std::make_unique<R2>(std::move(scale)); }

}  // namespace metrics
}  // namespace neutra::training
