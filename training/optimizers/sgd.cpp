#include "training/clones.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

NEUTRA_CLONES void sgd_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                            float rate) {
  for (std::size_t i = 0; i < n; ++i) w[i] -= rate * g[i];
}

NEUTRA_CLONES void momentum_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                 float* __restrict a, float rate, float momentum, bool nesterov) {
  if (nesterov) {
    for (std::size_t i = 0; i < n; ++i) {
      const float step = rate * g[i];
      a[i] = a[i] * momentum - step;
      w[i] += a[i] * momentum - step;
    }
  } else {
    for (std::size_t i = 0; i < n; ++i) {
      a[i] = a[i] * momentum - rate * g[i];
      w[i] += a[i];
    }
  }
}

/// `share`: of a gradient in the momentum.
NEUTRA_CLONES void torch_momentum_pass(std::size_t n, float* __restrict w,
                                       const float* __restrict g, float* __restrict b, float rate,
                                       float momentum, float share, bool nesterov) {
  for (std::size_t i = 0; i < n; ++i) {
    b[i] = b[i] * momentum + g[i] * share;
    w[i] -= rate * (nesterov ? g[i] + momentum * b[i] : b[i]);
  }
}

/// SGD. Without momentum w -= r g. With it a = m a - r g, then w += a, or with Nesterov w += m a -
/// r g. Source: tf.keras 2.4 gradient_descent.py, kernels ApplyGradientDescent and
/// ApplyKerasMomentum; the same in Keras since 2.11. PyTorch: b = m b + (1 - dampening) g, at first
/// b = g; w -= r b, or with Nesterov w -= r (g + m b) (torch/optim/sgd.py).
class Sgd final : public Optimizer {
 public:
  Sgd(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        momentum_(real(c, "momentum", 0)),
        share_(static_cast<float>(1 - number_or(c, "dampening", 0))),
        nesterov_(flag_or(c, "nesterov", false)) {
    if (momentum_ > 0) accumulate(0);
  }
  static int states(const Json& c) { return real(c, "momentum", 0) > 0 ? 1 : 0; }

 private:
  StepCoefficients coefficients(float rate, std::int64_t t) override {
    StepCoefficients now;
    now.rate = rate;
    now.gradient_scale = t == 1 ? 1 : share_;
    return now;
  }
  void update(const StepCoefficients& step, const Part& p) const override {
    if (momentum_ > 0 && is_torch()) {
      torch_momentum_pass(p.size, p.w, p.g, p.accumulators[0], step.rate, momentum_,
                          step.gradient_scale, nesterov_);
    } else if (momentum_ > 0) {
      momentum_pass(p.size, p.w, p.g, p.accumulators[0], step.rate, momentum_, nesterov_);
    } else {
      sgd_pass(p.size, p.w, p.g, step.rate);
    }
  }
  bool idles() const override { return !(momentum_ > 0); }
  RowsNotLookedUp rows_not_looked_up() const override {
    return momentum_ > 0 ? RowsNotLookedUp::kLeaveAlone : RowsNotLookedUp::kUpdate;
  }
  float momentum_, share_;
  bool nesterov_;
};

}  // namespace

OptimizerClass optimizers::sgd() { return optimizer_class<Sgd>(); }

}  // namespace neutra::training
