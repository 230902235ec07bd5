#include <cmath>

#include "training/clones.h"
#include "training/optimizers/registry.h"

namespace neutra::training {
namespace {

NEUTRA_CLONES void rmsprop_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                float* __restrict ms, float rate, float rho, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    ms[i] = rho * ms[i] + (1 - rho) * (g[i] * g[i]);
    w[i] -= rate * g[i] / (std::sqrt(ms[i]) + epsilon);
  }
}

NEUTRA_CLONES void centered_rmsprop_pass(std::size_t n, float* __restrict w,
                                         const float* __restrict g, float* __restrict ms,
                                         float* __restrict mg, float rate, float rho,
                                         float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    ms[i] = rho * ms[i] + (1 - rho) * (g[i] * g[i]);
    mg[i] = rho * mg[i] + (1 - rho) * g[i];
    w[i] -= rate * g[i] / (std::sqrt(ms[i] - mg[i] * mg[i]) + epsilon);
  }
}

NEUTRA_CLONES void momentum_rmsprop_pass(std::size_t n, float* __restrict w,
                                         const float* __restrict g, float* __restrict ms,
                                         float* __restrict mom, float* __restrict mg, float rate,
                                         float rho, float momentum, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    ms[i] += (g[i] * g[i] - ms[i]) * (1 - rho);
    float denominator = ms[i] + epsilon;
    if (mg) {
      mg[i] += (g[i] - mg[i]) * (1 - rho);
      denominator = ms[i] - mg[i] * mg[i] + epsilon;
    }
    mom[i] = mom[i] * momentum + rate * g[i] / std::sqrt(denominator);
    w[i] -= mom[i];
  }
}

/// `mom`, `mg`: null where there is no momentum, or mean of gradients.
NEUTRA_CLONES void keras3_rmsprop_pass(std::size_t n, float* __restrict w,
                                       const float* __restrict g, float* __restrict ms,
                                       float* __restrict mom, float* __restrict mg, float rate,
                                       float rho, float momentum, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    ms[i] = rho * ms[i] + (1 - rho) * (g[i] * g[i]);
    float denominator = ms[i] + epsilon;
    if (mg != nullptr) {
      mg[i] = rho * mg[i] + (1 - rho) * g[i];
      denominator = ms[i] - mg[i] * mg[i] + epsilon;
    }
    float step = rate * g[i] / std::sqrt(denominator);
    if (mom != nullptr) step = mom[i] = momentum * mom[i] + step;
    w[i] -= step;
  }
}

/// Likewise.
NEUTRA_CLONES void torch_rmsprop_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                      float* __restrict ms, float* __restrict mom,
                                      float* __restrict mg, float rate, float rho, float momentum,
                                      float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    ms[i] = rho * ms[i] + (1 - rho) * (g[i] * g[i]);
    float square = ms[i];
    if (mg != nullptr) {
      mg[i] += (g[i] - mg[i]) * (1 - rho);
      square = ms[i] - mg[i] * mg[i];
    }
    float step = g[i] / (std::sqrt(square) + epsilon);
    if (mom != nullptr) step = mom[i] = momentum * mom[i] + step;
    w[i] -= rate * step;
  }
}

/// RMSprop. s = p s + (1-p) g^2; w -= r g / (sqrt(s) + eps); centered: s - mean(g)^2 under the
/// root. With momentum the kernel's form: eps under the root, b = m b + r g / sqrt(s + eps), w -=
/// b. Source: tf.keras 2.4 rmsprop.py, kernels ApplyRMSProp and ApplyCenteredRMSProp. Keras since
/// 2.11 has eps under the root in any case; PyTorch never, and momentum of what the rate is
/// multiplied with: b = m b + g / (sqrt(s) + eps), w -= r b (torch/optim/rmsprop.py).
class RmsProp final : public Optimizer {
 public:
  RmsProp(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        rho_(real(c, "rho", 0.9)),
        momentum_(real(c, "momentum", 0)),
        epsilon_(real(c, "epsilon", kEpsilon)),
        centered_(flag_or(c, "centered", false)) {
    accumulate(0);
    if (centered_) accumulate(1);
    if (momentum_ > 0) accumulate(2);
  }
  static int states(const Json& c) {
    return 1 + (real(c, "momentum", 0) > 0) + flag_or(c, "centered", false);
  }

 private:
  void update(const StepCoefficients& step, const Part& p) const override {
    const auto [ms, mg, mom] = p.accumulators;
    if (rules() != Rules::kKeras) {
      const auto pass = is_torch() ? torch_rmsprop_pass : keras3_rmsprop_pass;
      pass(p.size, p.w, p.g, ms, mom, mg, step.rate, rho_, momentum_, epsilon_);
    } else if (momentum_ > 0) {
      momentum_rmsprop_pass(p.size, p.w, p.g, ms, mom, mg, step.rate, rho_, momentum_, epsilon_);
    } else if (centered_) {
      centered_rmsprop_pass(p.size, p.w, p.g, ms, mg, step.rate, rho_, epsilon_);
    } else {
      rmsprop_pass(p.size, p.w, p.g, ms, step.rate, rho_, epsilon_);
    }
  }
  RowsNotLookedUp rows_not_looked_up() const override {
    return momentum_ > 0 ? RowsNotLookedUp::kLeaveAlone : RowsNotLookedUp::kUpdate;
  }
  float rho_, momentum_, epsilon_;
  bool centered_;
};

}  // namespace

OptimizerClass optimizers::rmsprop() { return optimizer_class<RmsProp>(); }

}  // namespace neutra::training
