#include "training/optimizers.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "program/error.h"
#include "training/clones.h"

namespace neutra {
namespace {

constexpr double kEpsilon = 1e-7;  ///< keras.backend.epsilon()

float real(const Json& config, const char* key, double fallback) {
  return static_cast<float>(number_or(config, key, fallback));
}

// The passes. Free functions of raw pointers, so that each is compiled for several instruction sets
// and vectorised; the arithmetic is plain IEEE (no contraction), hence the same on all of them.

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

NEUTRA_CLONES void adagrad_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                                float* __restrict a, float rate, float epsilon) {
  for (std::size_t i = 0; i < n; ++i) {
    a[i] += g[i] * g[i];
    w[i] -= rate * g[i] / (std::sqrt(a[i]) + epsilon);
  }
}

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

struct NadamStep {
  float rate, beta1, beta2, epsilon;
  float schedule, next_schedule;                         ///< u_t, u_(t+1)
  float gradient_scale, momentum_scale, variance_scale;  ///< 1 / (1 - product), ...
};

NEUTRA_CLONES void nadam_pass(std::size_t n, float* __restrict w, const float* __restrict g,
                              float* __restrict m, float* __restrict v, NadamStep s) {
  for (std::size_t i = 0; i < n; ++i) {
    m[i] = s.beta1 * m[i] + (1 - s.beta1) * g[i];
    v[i] = s.beta2 * v[i] + (1 - s.beta2) * (g[i] * g[i]);
    const float bar =
        (1 - s.schedule) * (g[i] / s.gradient_scale) + s.next_schedule * (m[i] / s.momentum_scale);
    w[i] -= s.rate * bar / (std::sqrt(v[i] / s.variance_scale) + s.epsilon);
  }
}

/// SGD. Without momentum w -= r g. With it a = m a - r g, then w += a, or with Nesterov w += m a -
/// r g. Source: tf.keras 2.4 gradient_descent.py, kernels ApplyGradientDescent and
/// ApplyKerasMomentum.
class Sgd final : public Optimizer {
 public:
  Sgd(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        momentum_(real(c, "momentum", 0)),
        nesterov_(flag_or(c, "nesterov", false)) {}
  static int states(const Json& c) { return real(c, "momentum", 0) > 0 ? 1 : 0; }

 private:
  void update(float rate, std::int64_t, std::span<float> w, std::span<const float> g) override {
    if (momentum_ > 0) {
      momentum_pass(w.size(), w.data(), g.data(), accumulator(0, w.size()), rate, momentum_,
                    nesterov_);
    } else {
      sgd_pass(w.size(), w.data(), g.data(), rate);
    }
  }
  float momentum_;
  bool nesterov_;
};

/// RMSprop. s = p s + (1-p) g^2; w -= r g / (sqrt(s) + eps); centered: s - mean(g)^2 under the
/// root. With momentum the kernel's form: eps under the root, b = m b + r g / sqrt(s + eps), w -=
/// b. Source: tf.keras 2.4 rmsprop.py, kernels ApplyRMSProp and ApplyCenteredRMSProp.
class RmsProp final : public Optimizer {
 public:
  RmsProp(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        rho_(real(c, "rho", 0.9)),
        momentum_(real(c, "momentum", 0)),
        epsilon_(real(c, "epsilon", kEpsilon)),
        centered_(flag_or(c, "centered", false)) {}
  static int states(const Json& c) {
    return 1 + (real(c, "momentum", 0) > 0) + flag_or(c, "centered", false);
  }

 private:
  void update(float rate, std::int64_t, std::span<float> w, std::span<const float> g) override {
    const std::size_t n = w.size();
    float* mg = centered_ ? accumulator(1, n) : nullptr;
    if (momentum_ > 0) {
      momentum_rmsprop_pass(n, w.data(), g.data(), accumulator(0, n), accumulator(2, n), mg, rate,
                            rho_, momentum_, epsilon_);
    } else if (centered_) {
      centered_rmsprop_pass(n, w.data(), g.data(), accumulator(0, n), mg, rate, rho_, epsilon_);
    } else {
      rmsprop_pass(n, w.data(), g.data(), accumulator(0, n), rate, rho_, epsilon_);
    }
  }
  float rho_, momentum_, epsilon_;
  bool centered_;
};

/// Adagrad. a += g^2 (a starts at 0.1); w -= r g / (sqrt(a) + eps).
/// Source: tf.keras 2.4 adagrad.py, kernel ApplyAdagradV2.
class Adagrad final : public Optimizer {
 public:
  Adagrad(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        start_(real(c, "initial_accumulator_value", 0.1)),
        epsilon_(real(c, "epsilon", kEpsilon)) {}
  static int states(const Json&) { return 1; }

 private:
  void update(float rate, std::int64_t, std::span<float> w, std::span<const float> g) override {
    adagrad_pass(w.size(), w.data(), g.data(), accumulator(0, w.size(), start_), rate, epsilon_);
  }
  float start_, epsilon_;
};

/// Adadelta. a = p a + (1-p) g^2; u = sqrt(d + eps) / sqrt(a + eps) g; w -= r u; d = p d + (1-p)
/// u^2. Source: tf.keras 2.4 adadelta.py, kernel ApplyAdadelta.
class Adadelta final : public Optimizer {
 public:
  Adadelta(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        rho_(real(c, "rho", 0.95)),
        epsilon_(real(c, "epsilon", kEpsilon)) {}
  static int states(const Json&) { return 2; }

 private:
  void update(float rate, std::int64_t, std::span<float> w, std::span<const float> g) override {
    const std::size_t n = w.size();
    adadelta_pass(n, w.data(), g.data(), accumulator(0, n), accumulator(1, n), rate, rho_,
                  epsilon_);
  }
  float rho_, epsilon_;
};

/// Adam. m += (1-b1)(g - m); v += (1-b2)(g^2 - v); w -= r_t m / (sqrt(v) + eps) with the bias
/// correction in the rate, r_t = r sqrt(1 - b2^t) / (1 - b1^t). AMSGrad: the largest v so far.
/// Source: tf.keras 2.4 adam.py, kernels ApplyAdam and ApplyAdamWithAmsgrad.
class Adam final : public Optimizer {
 public:
  Adam(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        beta1_(real(c, "beta_1", 0.9)),
        beta2_(real(c, "beta_2", 0.999)),
        epsilon_(real(c, "epsilon", kEpsilon)),
        amsgrad_(flag_or(c, "amsgrad", false)) {}
  static int states(const Json& c) { return 2 + flag_or(c, "amsgrad", false); }

 private:
  void update(float rate, std::int64_t t, std::span<float> w, std::span<const float> g) override {
    const std::size_t n = w.size();
    const auto time = static_cast<double>(t);
    const auto corrected = static_cast<float>(rate * std::sqrt(1 - std::pow(beta2_, time)) /
                                              (1 - std::pow(beta1_, time)));
    float *m = accumulator(0, n), *v = accumulator(1, n);
    if (amsgrad_) {
      amsgrad_pass(n, w.data(), g.data(), m, v, accumulator(2, n), corrected, beta1_, beta2_,
                   epsilon_);
    } else {
      adam_pass(n, w.data(), g.data(), m, v, corrected, beta1_, beta2_, epsilon_);
    }
  }
  float beta1_, beta2_, epsilon_;
  bool amsgrad_;
};

/// Adamax. m += (1-b1)(g - m); v = max(b2 v, |g|); w -= r / (1 - b1^t) m / (v + eps).
/// Source: tf.keras 2.4 adamax.py, kernel ApplyAdaMax.
class Adamax final : public Optimizer {
 public:
  Adamax(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        beta1_(real(c, "beta_1", 0.9)),
        beta2_(real(c, "beta_2", 0.999)),
        epsilon_(real(c, "epsilon", kEpsilon)) {}
  static int states(const Json&) { return 2; }

 private:
  void update(float rate, std::int64_t t, std::span<float> w, std::span<const float> g) override {
    const std::size_t n = w.size();
    const auto corrected =
        static_cast<float>(rate / (1 - std::pow(beta1_, static_cast<double>(t))));
    adamax_pass(n, w.data(), g.data(), accumulator(0, n), accumulator(1, n), corrected, beta1_,
                beta2_, epsilon_);
  }
  float beta1_, beta2_, epsilon_;
};

/// Nadam with the momentum schedule u_t = b1 (1 - 0.5 * 0.96^(s t)), s = 0.004, and its running
/// product P_t: m = b1 m + (1-b1) g; v = b2 v + (1-b2) g^2; w -= r [(1 - u_t) g / (1 - P_t) +
/// u_(t+1) m / (1 - P_t u_(t+1))] / (sqrt(v / (1 - b2^t)) + eps). Source: tf.keras 2.4 nadam.py,
/// where s is `schedule_decay` and a `decay` of the rate has no effect.
class Nadam final : public Optimizer {
 public:
  Nadam(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        beta1_(real(c, "beta_1", 0.9)),
        beta2_(real(c, "beta_2", 0.999)),
        epsilon_(real(c, "epsilon", kEpsilon)),
        schedule_decay_(number_or(c, "schedule_decay", 0.004)) {
    keep_rate();
  }
  static int states(const Json&) { return 2; }

 private:
  double schedule(std::int64_t t) const {
    return beta1_ * (1 - 0.5 * std::pow(0.96, schedule_decay_ * static_cast<double>(t)));
  }
  void update(float rate, std::int64_t t, std::span<float> w, std::span<const float> g) override {
    const std::size_t n = w.size();
    const double now = schedule(t), next = schedule(t + 1);
    product() *= now;
    const NadamStep step{rate,
                         beta1_,
                         beta2_,
                         epsilon_,
                         static_cast<float>(now),
                         static_cast<float>(next),
                         static_cast<float>(1 - product()),
                         static_cast<float>(1 - product() * next),
                         static_cast<float>(1 - std::pow(beta2_, static_cast<double>(t)))};
    nadam_pass(n, w.data(), g.data(), accumulator(0, n), accumulator(1, n), step);
  }
  float beta1_, beta2_, epsilon_;
  double schedule_decay_;
};

/// Ftrl. s = g + 2 k w (k: L2 shrinkage); A = a + g^2; z += s - (A^-p - a^-p) / r w;
/// w = (l1 sign(z) - z) / (A^-p / r + 2 l2) where |z| > l1, else 0 (so a NaN in z gives 0); p is
/// learning_rate_power. Source: tf.keras 2.4 ftrl.py (l2 + beta / (2 r)), kernels ApplyFtrl and
/// ApplyFtrlV2.
class Ftrl final : public Optimizer {
 public:
  Ftrl(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        power_(real(c, "learning_rate_power", -0.5)),
        start_(real(c, "initial_accumulator_value", 0.1)),
        l1_(real(c, "l1_regularization_strength", 0)),
        l2_(real(c, "l2_regularization_strength", 0)),
        shrinkage_(real(c, "l2_shrinkage_regularization_strength", 0)),
        beta_(real(c, "beta", 0)) {}
  static int states(const Json&) { return 2; }
  bool keeps_nan() const override { return false; }

 private:
  float root(float a) const { return power_ == -0.5f ? std::sqrt(a) : std::pow(a, -power_); }
  void update(float rate, std::int64_t, std::span<float> w, std::span<const float> g) override {
    float* a = accumulator(0, w.size(), start_);
    float* z = accumulator(1, w.size());
    const float l2 = l2_ + beta_ / (2 * rate);
    for (std::size_t i = 0; i < w.size(); ++i) {
      const float sum = a[i] + g[i] * g[i];
      const float shrunk = shrinkage_ > 0 ? g[i] + 2 * shrinkage_ * w[i] : g[i];
      z[i] += shrunk - (root(sum) - root(a[i])) / rate * w[i];
      const float sign = z[i] > 0 ? 1.0f : z[i] < 0 ? -1.0f : 0.0f;
      w[i] = std::abs(z[i]) > l1_ ? (l1_ * sign - z[i]) / (root(sum) / rate + 2 * l2) : 0.0f;
      a[i] = sum;
    }
  }
  float power_, start_, l1_, l2_, shrinkage_, beta_;
};

struct Entry {
  std::unique_ptr<Optimizer> (*make)(const Json& config, std::vector<Extent> variables);
  int (*states)(const Json& config);
};

template <typename T>
Entry entry() {
  return {[](const Json& config, std::vector<Extent> variables) -> std::unique_ptr<Optimizer> {
            return std::make_unique<T>(config, std::move(variables));
          },
          T::states};
}

const std::map<std::string, Entry>& registry() {
  static const std::map<std::string, Entry> kRegistry{
      {"SGD", entry<Sgd>()},           {"RMSprop", entry<RmsProp>()}, {"Adagrad", entry<Adagrad>()},
      {"Adadelta", entry<Adadelta>()}, {"Adam", entry<Adam>()},       {"Adamax", entry<Adamax>()},
      {"Nadam", entry<Nadam>()},       {"Ftrl", entry<Ftrl>()},
  };
  return kRegistry;
}

const Entry& find(const Json& optimizer) {
  const std::string name = optimizer.at("class_name");
  const auto it = registry().find(name);
  if (it == registry().end()) throw input_error("optimizer " + name + " is not available yet");
  const Json& config = optimizer.at("config");
  if (config.contains("learning_rate") && config["learning_rate"].is_object()) {
    throw input_error("optimizer " + name + ": learning-rate schedules are not available yet");
  }
  return it->second;
}

double sum_of_squares(std::span<const float> values) {
  double sum = 0;
  for (const float v : values) sum += static_cast<double>(v) * v;
  return sum;
}

}  // namespace

Optimizer::Optimizer(const Json& config, std::vector<Extent> variables)
    : learning_rate_(number_or(config, "learning_rate", 0.001)),
      decay_(number_or(config, "decay", 0)),
      clip_value_(number_or(config, "clipvalue", 0)),
      clip_norm_(number_or(config, "clipnorm", 0)),
      global_clip_norm_(number_or(config, "global_clipnorm", 0)),
      variables_(std::move(variables)) {}

/// Order and formulas of tf.keras 2.4: clipvalue; clipnorm: g c / max(|g|, c) for each variable;
/// global_clipnorm: g c min(1 / |G|, 1 / c), all NaN where |G| isn't finite.
void Optimizer::clip(std::span<float> gradients) const {
  if (clip_value_ > 0) {
    const auto limit = static_cast<float>(clip_value_);
    for (float& g : gradients) g = g > limit ? limit : g < -limit ? -limit : g;
  }
  if (clip_norm_ > 0) {
    for (const Extent& variable : variables_) {
      const std::span<float> part = variable.of(gradients);
      const auto norm = static_cast<float>(std::sqrt(sum_of_squares(part)));
      const auto limit = static_cast<float>(clip_norm_);
      const float divisor = norm < limit ? limit : norm;  // a NaN norm stays
      for (float& g : part) g = g * limit / divisor;
    }
  }
  if (global_clip_norm_ > 0) {
    const double norm = std::sqrt(sum_of_squares(gradients));
    const double scale = std::isfinite(norm)
                             ? global_clip_norm_ * std::min(1 / norm, 1 / global_clip_norm_)
                             : std::nan("");
    for (const Extent& variable : variables_) {
      for (float& g : variable.of(gradients)) g *= static_cast<float>(scale);
    }
  }
}

void Optimizer::step(std::span<float> weights, std::span<float> gradients) {
  if (clip_value_ > 0 || clip_norm_ > 0 || global_clip_norm_ > 0) clip(gradients);
  const double rate = learning_rate_ / (1 + decay_ * static_cast<double>(state_.iterations));
  ++state_.iterations;
  update(static_cast<float>(rate), state_.iterations, weights, gradients);
}

float* Optimizer::accumulator(std::size_t index, std::size_t size, float start) {
  if (state_.accumulators.size() <= index) state_.accumulators.resize(index + 1);
  std::vector<float>& values = state_.accumulators[index];
  if (values.size() != size) values.assign(size, start);
  return values.data();
}

std::unique_ptr<Optimizer> make_optimizer(const Json& optimizer, std::vector<Extent> variables) {
  const Entry& entry = find(optimizer);
  return entry.make(optimizer.at("config"), std::move(variables));
}

int optimizer_states(const Json& optimizer) {
  return find(optimizer).states(optimizer.at("config"));
}

std::vector<std::string> optimizer_names() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : registry()) names.push_back(name);
  return names;
}

}  // namespace neutra
