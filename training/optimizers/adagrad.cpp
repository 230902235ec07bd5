#include <cmath>

#include "training/clones.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

NEUTRA_CLONES void adagrad_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                float* __restrict a, float rate, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i] += g[i] * g[i];
    w[i] -= rate * g[i] / (std::sqrt(a[i]) + epsilon);
  }
}

NEUTRA_CLONES void keras3_adagrad_pass(std::size_t n, float* __restrict w,
                                       const float* __restrict g, float* __restrict a, float rate,
                                       float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i] += g[i] * g[i];
    w[i] -= rate * g[i] / std::sqrt(a[i] + epsilon);
  }
}

/// Adagrad. a += g^2 (a starts at 0.1); w -= r g / (sqrt(a) + eps).
/// Source: tf.keras 2.4 adagrad.py, kernel ApplyAdagradV2; torch/optim/adagrad.py is the same, with
/// other defaults. Keras since 2.11: w -= r g / sqrt(a + eps).
class Adagrad final : public Optimizer {
 public:
  Adagrad(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)), epsilon_(real(c, "epsilon", kEpsilon)) {
    accumulate(0, real(c, "initial_accumulator_value", 0.1));
  }
  static int states(const Json&) { return 1; }

 private:
  void update(const StepCoefficients& step, const Part& p) const override {
    const auto pass = rules() == Rules::kKeras3 ? keras3_adagrad_pass : adagrad_pass;
    pass(p.size, p.w, p.g, p.accumulators[0], step.rate, epsilon_);
  }
  bool idles() const override { return true; }
  float epsilon_;
};

}  // namespace

OptimizerClass optimizers::adagrad() { return optimizer_class<Adagrad>(); }

}  // namespace neutra::training
