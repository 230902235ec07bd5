#include <cmath>

#include "training/clones.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

NEUTRA_CLONES void adadelta_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                 float* __restrict a, float* __restrict d, float rate, float rho,
                                 float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i] = a[i] * rho + (g[i] * g[i]) * (1 - rho);
    const float step = std::sqrt(d[i] + epsilon) / std::sqrt(a[i] + epsilon) * g[i];
    w[i] -= step * rate;
    d[i] = d[i] * rho + step * step * (1 - rho);
  }
}

/// Adadelta. a = p a + (1-p) g^2; u = sqrt(d + eps) / sqrt(a + eps) g; w -= r u; d = p d + (1-p)
/// u^2. Source: tf.keras 2.4 adadelta.py, kernel ApplyAdadelta.
class Adadelta final : public Optimizer {
 public:
  Adadelta(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        rho_(real(c, "rho", 0.95)),
        epsilon_(real(c, "epsilon", kEpsilon)) {
    accumulate(0);
    accumulate(1);
  }
  static int states(const Json&) { return 2; }

 private:
  void update(const StepCoefficients& step, const Part& p) const override {
    adadelta_pass(p.size, p.w, p.g, p.accumulators[0], p.accumulators[1], step.rate, rho_,
                  epsilon_);
  }
  RowsNotLookedUp rows_not_looked_up() const override { return RowsNotLookedUp::kLeaveAlone; }
  float rho_, epsilon_;
};

}  // namespace

OptimizerClass optimizers::adadelta() { return optimizer_class<Adadelta>(); }

}  // namespace neutra::training
