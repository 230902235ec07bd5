#include <cmath>

#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

/// Ftrl. s = g + 2 k w (k: L2 shrinkage); A = a + g^2; z += s - (A^-p - a^-p) / r w;
/// w = (l1 sign(z) - z) / (A^-p / r + 2 l2) where |z| > l1, else 0 (so a NaN in z gives 0); p is
/// learning_rate_power. Source: tf.keras 2.4 ftrl.py (l2 + beta / (2 r)), kernels ApplyFtrl and
/// ApplyFtrlV2.
class Ftrl final : public Optimizer {
 public:
  Ftrl(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        power_(real(c, "learning_rate_power", -0.5)),
        l1_(real(c, "l1_regularization_strength", 0)),
        l2_(real(c, "l2_regularization_strength", 0)),
        shrinkage_(real(c, "l2_shrinkage_regularization_strength", 0)),
        beta_(real(c, "beta", 0)) {
    accumulate(0, real(c, "initial_accumulator_value", 0.1));
    accumulate(1);
  }
  static int states(const Json&) { return 2; }
  bool keeps_nan() const override { return false; }
  /// Shrinkage works on weights without a gradient, too, and can make them grow.
  bool can_be_lazy() const override { return Optimizer::can_be_lazy() && shrinkage_ == 0; }

 private:
  RowsNotLookedUp rows_not_looked_up() const override { return RowsNotLookedUp::kLeaveAlone; }
  float root(float a) const { return power_ == -0.5f ? std::sqrt(a) : std::pow(a, -power_); }
  void update(const StepCoefficients& step, const Part& p) const override {
    const float rate = step.rate, l2 = l2_ + beta_ / (2 * rate);
    float *w = p.w, *a = p.accumulators[0], *z = p.accumulators[1];
    const float* g = p.g;
    for (std::size_t i = 0; i < p.size; ++i) {
      const float sum = a[i] + g[i] * g[i];
      const float shrunk = shrinkage_ > 0 ? g[i] + 2 * shrinkage_ * w[i] : g[i];
      z[i] += shrunk - (root(sum) - root(a[i])) / rate * w[i];
      const float sign = z[i] > 0 ? 1.0f : z[i] < 0 ? -1.0f : 0.0f;
      w[i] = std::abs(z[i]) > l1_ ? (l1_ * sign - z[i]) / (root(sum) / rate + 2 * l2) : 0.0f;
      a[i] = sum;
    }
  }
  float power_, l1_, l2_, shrinkage_, beta_;
};

}  // namespace

OptimizerClass optimizers::ftrl() { return optimizer_class<Ftrl>(); }

}  // namespace neutra::training
