#include <cmath>

#include "training/clones.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

NEUTRA_CLONES void adamax_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                               float* __restrict m, float* __restrict v, float rate, float beta1,
                               float beta2, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] += (g[i] - m[i]) * (1 - beta1);
    const float decayed = beta2 * v[i], size = std::abs(g[i]);
    v[i] = size > decayed ? size : decayed;  // m carries a NaN on
    w[i] -= rate * (m[i] / (v[i] + epsilon));
  }
}

NEUTRA_CLONES void torch_adamax_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                     float* __restrict m, float* __restrict v, float rate,
                                     float beta1, float beta2, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] += (g[i] - m[i]) * (1 - beta1);
    const float decayed = beta2 * v[i], size = std::abs(g[i]) + epsilon;
    v[i] = size > decayed ? size : decayed;  // m carries a NaN on
    w[i] -= rate * (m[i] / v[i]);
  }
}

/// Adamax. m += (1-b1)(g - m); v = max(b2 v, |g|); w -= r / (1 - b1^t) m / (v + eps).
/// Source: tf.keras 2.4 adamax.py, kernel ApplyAdaMax; the same in Keras since 2.11. PyTorch:
/// v = max(b2 v, |g| + eps); w -= r / (1 - b1^t) m / v (torch/optim/adamax.py).
class Adamax final : public Optimizer {
 public:
  Adamax(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        beta1_(real(c, "beta_1", 0.9)),
        beta2_(real(c, "beta_2", 0.999)),
        epsilon_(real(c, "epsilon", kEpsilon)) {
    accumulate(0);
    accumulate(1);
  }
  static int states(const Json&) { return 2; }

 private:
  StepCoefficients coefficients(float rate, std::int64_t t) override {
    return {
        static_cast<float>(rate / (1 - std::pow(beta1_, static_cast<double>(t)))), 0, 0, 0, 0, 0};
  }
  void update(const StepCoefficients& step, const Part& p) const override {
    const auto pass = is_torch() ? torch_adamax_pass : adamax_pass;
    pass(p.size, p.w, p.g, p.accumulators[0], p.accumulators[1], step.rate, beta1_, beta2_,
         epsilon_);
  }
  RowsNotLookedUp rows_not_looked_up() const override { return RowsNotLookedUp::kLeaveAlone; }
  float beta1_, beta2_, epsilon_;
};

}  // namespace

OptimizerClass optimizers::adamax() { return optimizer_class<Adamax>(); }

}  // namespace neutra::training
