#include <cmath>

#include "training/clones.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

NEUTRA_CLONES void adam_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                             float* __restrict m, float* __restrict v, float rate, float beta1,
                             float beta2, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] += (g[i] - m[i]) * (1 - beta1);
    v[i] += (g[i] * g[i] - v[i]) * (1 - beta2);
    w[i] -= m[i] * rate / (std::sqrt(v[i]) + epsilon);
  }
}

NEUTRA_CLONES void amsgrad_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                float* __restrict m, float* __restrict v, float* __restrict top,
                                float rate, float beta1, float beta2, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] += (g[i] - m[i]) * (1 - beta1);
    v[i] += (g[i] * g[i] - v[i]) * (1 - beta2);
    top[i] = v[i] <= top[i] ? top[i] : v[i];  // a NaN in v spreads
    w[i] -= m[i] * rate / (std::sqrt(top[i]) + epsilon);
  }
}

/// `correction`: sqrt(1 - b2^t). `top`: the largest v so far; null without AMSGrad.
NEUTRA_CLONES void torch_adam_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                   float* __restrict m, float* __restrict v, float* __restrict top,
                                   float rate, float rest1, float beta2, float rest2,
                                   float correction, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] += (g[i] - m[i]) * rest1;
    v[i] = v[i] * beta2 + g[i] * g[i] * rest2;
    float most = v[i];
    if (top != nullptr) most = top[i] = v[i] <= top[i] ? top[i] : v[i];
    w[i] -= rate * (m[i] / (std::sqrt(most) / correction + epsilon));
  }
}

/// Adam. m += (1-b1)(g - m); v += (1-b2)(g^2 - v); w -= r_t m / (sqrt(v) + eps) with the bias
/// correction in the rate, r_t = r sqrt(1 - b2^t) / (1 - b1^t). AMSGrad: the largest v so far.
/// Source: tf.keras 2.4 adam.py, kernels ApplyAdam and ApplyAdamWithAmsgrad; the same in Keras
/// since 2.11. PyTorch: w -= r / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps)
/// (torch/optim/adam.py).
class Adam final : public Optimizer {
 public:
  Adam(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        exact_beta1_(number_or(c, "beta_1", 0.9)),
        exact_beta2_(number_or(c, "beta_2", 0.999)),
        beta1_(static_cast<float>(exact_beta1_)),
        beta2_(static_cast<float>(exact_beta2_)),
        epsilon_(real(c, "epsilon", kEpsilon)),
        amsgrad_(flag_or(c, "amsgrad", false)) {
    accumulate(0);
    accumulate(1);
    if (amsgrad_) accumulate(2);
  }
  static int states(const Json& c) { return 2 + flag_or(c, "amsgrad", false); }

 private:
  StepCoefficients coefficients(float rate, std::int64_t t) override {
    const auto time = static_cast<double>(t);
    if (is_torch()) {
      StepCoefficients now;
      now.rate = static_cast<float>(rate / (1 - std::pow(exact_beta1_, time)));
      now.variance_scale = static_cast<float>(std::sqrt(1 - std::pow(exact_beta2_, time)));
      return now;
    }
    return {static_cast<float>(rate * std::sqrt(1 - std::pow(beta2_, time)) /
                               (1 - std::pow(beta1_, time))),
            0,
            0,
            0,
            0,
            0};
  }
  void update(const StepCoefficients& step, const Part& p) const override {
    const auto [m, v, top] = p.accumulators;
    if (is_torch()) {
      torch_adam_pass(p.size, p.w, p.g, m, v, top, step.rate, static_cast<float>(1 - exact_beta1_),
                      beta2_, static_cast<float>(1 - exact_beta2_), step.variance_scale, epsilon_);
    } else if (amsgrad_) {
      amsgrad_pass(p.size, p.w, p.g, m, v, top, step.rate, beta1_, beta2_, epsilon_);
    } else {
      adam_pass(p.size, p.w, p.g, m, v, step.rate, beta1_, beta2_, epsilon_);
    }
  }
  double exact_beta1_, exact_beta2_;
  float beta1_, beta2_, epsilon_;
  bool amsgrad_;
};

}  // namespace

OptimizerClass optimizers::adam() { return optimizer_class<Adam>(); }

}  // namespace neutra::training
