#include <cmath>

#include "training/clones.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

NEUTRA_CLONES void nadam_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                              float* __restrict m, float* __restrict v, float rate, float beta1,
                              float beta2, float epsilon, float schedule, float next_schedule,
                              float gradient_scale, float momentum_scale, float variance_scale) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] = beta1 * m[i] + (1 - beta1) * g[i];
    v[i] = beta2 * v[i] + (1 - beta2) * (g[i] * g[i]);
    const float bar =
        (1 - schedule) * (g[i] / gradient_scale) + next_schedule * (m[i] / momentum_scale);
    w[i] -= rate * bar / (std::sqrt(v[i] / variance_scale) + epsilon);
  }
}

/// Nadam with the momentum schedule u_t = b1 (1 - 0.5 * 0.96^(s t)), s = 0.004, and its running
/// product P_t: m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; w -= r [(1 - u_t) g / (1 - P_t) +
/// u_(t+1) m / (1 - P_t u_(t+1))] / (sqrt(v / (1 - b2^t)) + eps). Source: tf.keras 2.4 nadam.py,
/// where s is `schedule_decay` and a `decay` of the rate has no effect; Keras since 2.11 has s = 1,
/// PyTorch calls it momentum_decay (torch/optim/nadam.py).
class Nadam final : public Optimizer {
 public:
  Nadam(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        beta1_(real(c, "beta_1", 0.9)),
        beta2_(real(c, "beta_2", 0.999)),
        epsilon_(real(c, "epsilon", kEpsilon)),
        schedule_decay_(number_or(c, "schedule_decay", 0.004)) {
    ignore_decay();
    accumulate(0);
    accumulate(1);
  }
  static int states(const Json&) { return 2; }

 private:
  double schedule(std::int64_t t) const {
    return beta1_ * (1 - 0.5 * std::pow(0.96, schedule_decay_ * static_cast<double>(t)));
  }
  StepCoefficients coefficients(float rate, std::int64_t t) override {
    const double now = schedule(t), next = schedule(t + 1);
    product() *= now;
    return {rate,
            static_cast<float>(now),
            static_cast<float>(next),
            static_cast<float>(1 - product()),
            static_cast<float>(1 - product() * next),
            static_cast<float>(1 - std::pow(beta2_, static_cast<double>(t)))};
  }
  void update(const StepCoefficients& step, const Part& p) const override {
    nadam_pass(p.size, p.w, p.g, p.accumulators[0], p.accumulators[1], step.rate, beta1_, beta2_,
               epsilon_, step.schedule, step.next_schedule, step.gradient_scale,
               step.momentum_scale, step.variance_scale);
  }
  RowsNotLookedUp rows_not_looked_up() const override { return RowsNotLookedUp::kAccumulate; }
  float beta1_, beta2_, epsilon_;
  double schedule_decay_;
};

}  // namespace

OptimizerClass optimizers::nadam() { return optimizer_class<Nadam>(); }

}  // namespace neutra::training
