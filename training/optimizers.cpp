#include "training/optimizers.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstring>
#include <map>
#include <numeric>

#include "base/error.h"
#include "training/buffer.h"
#include "training/clones.h"

namespace neutra::training {
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

/// The largest |w|, as its bits: those of NaN are larger than all others.
NEUTRA_CLONES std::uint32_t largest(std::size_t n, const float* w) {
  std::uint32_t top = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t bits;
    std::memcpy(&bits, w + i, sizeof bits);
    bits &= 0x7FFFFFFF;
    top = bits > top ? bits : top;
  }
  return top;
}

/// SGD. Without momentum w -= r g. With it a = m a - r g, then w += a, or with Nesterov w += m a -
/// r g. Source: tf.keras 2.4 gradient_descent.py, kernels ApplyGradientDescent and
/// ApplyKerasMomentum.
class Sgd final : public Optimizer {
 public:
  Sgd(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)),
        momentum_(real(c, "momentum", 0)),
        nesterov_(flag_or(c, "nesterov", false)) {
    if (momentum_ > 0) accumulate(0);
  }
  static int states(const Json& c) { return real(c, "momentum", 0) > 0 ? 1 : 0; }

 private:
  void update(const Numbers& numbers, const Part& p) const override {
    if (momentum_ > 0) {
      momentum_pass(p.size, p.w, p.g, p.accumulators[0], numbers.rate, momentum_, nesterov_);
    } else {
      sgd_pass(p.size, p.w, p.g, numbers.rate);
    }
  }
  bool idles() const override { return !(momentum_ > 0); }
  OtherRows other_rows() const override {
    return momentum_ > 0 ? OtherRows::kLeaveAlone : OtherRows::kUpdate;
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
        centered_(flag_or(c, "centered", false)) {
    accumulate(0);
    if (centered_) accumulate(1);
    if (momentum_ > 0) accumulate(2);
  }
  static int states(const Json& c) {
    return 1 + (real(c, "momentum", 0) > 0) + flag_or(c, "centered", false);
  }

 private:
  void update(const Numbers& numbers, const Part& p) const override {
    const auto [ms, mg, mom] = p.accumulators;
    if (momentum_ > 0) {
      momentum_rmsprop_pass(p.size, p.w, p.g, ms, mom, mg, numbers.rate, rho_, momentum_, epsilon_);
    } else if (centered_) {
      centered_rmsprop_pass(p.size, p.w, p.g, ms, mg, numbers.rate, rho_, epsilon_);
    } else {
      rmsprop_pass(p.size, p.w, p.g, ms, numbers.rate, rho_, epsilon_);
    }
  }
  OtherRows other_rows() const override {
    return momentum_ > 0 ? OtherRows::kLeaveAlone : OtherRows::kUpdate;
  }
  float rho_, momentum_, epsilon_;
  bool centered_;
};

/// Adagrad. a += g^2 (a starts at 0.1); w -= r g / (sqrt(a) + eps).
/// Source: tf.keras 2.4 adagrad.py, kernel ApplyAdagradV2.
class Adagrad final : public Optimizer {
 public:
  Adagrad(const Json& c, std::vector<Extent> variables)
      : Optimizer(c, std::move(variables)), epsilon_(real(c, "epsilon", kEpsilon)) {
    accumulate(0, real(c, "initial_accumulator_value", 0.1));
  }
  static int states(const Json&) { return 1; }

 private:
  void update(const Numbers& numbers, const Part& p) const override {
    adagrad_pass(p.size, p.w, p.g, p.accumulators[0], numbers.rate, epsilon_);
  }
  bool idles() const override { return true; }
  float epsilon_;
};

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
  void update(const Numbers& numbers, const Part& p) const override {
    adadelta_pass(p.size, p.w, p.g, p.accumulators[0], p.accumulators[1], numbers.rate, rho_,
                  epsilon_);
  }
  OtherRows other_rows() const override { return OtherRows::kLeaveAlone; }
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
        amsgrad_(flag_or(c, "amsgrad", false)) {
    accumulate(0);
    accumulate(1);
    if (amsgrad_) accumulate(2);
  }
  static int states(const Json& c) { return 2 + flag_or(c, "amsgrad", false); }

 private:
  Numbers numbers(float rate, std::int64_t t) override {
    const auto time = static_cast<double>(t);
    return {static_cast<float>(rate * std::sqrt(1 - std::pow(beta2_, time)) /
                               (1 - std::pow(beta1_, time))),
            0,
            0,
            0,
            0,
            0};
  }
  void update(const Numbers& numbers, const Part& p) const override {
    const auto [m, v, top] = p.accumulators;
    if (amsgrad_) {
      amsgrad_pass(p.size, p.w, p.g, m, v, top, numbers.rate, beta1_, beta2_, epsilon_);
    } else {
      adam_pass(p.size, p.w, p.g, m, v, numbers.rate, beta1_, beta2_, epsilon_);
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
        epsilon_(real(c, "epsilon", kEpsilon)) {
    accumulate(0);
    accumulate(1);
  }
  static int states(const Json&) { return 2; }

 private:
  Numbers numbers(float rate, std::int64_t t) override {
    return {
        static_cast<float>(rate / (1 - std::pow(beta1_, static_cast<double>(t)))), 0, 0, 0, 0, 0};
  }
  void update(const Numbers& numbers, const Part& p) const override {
    adamax_pass(p.size, p.w, p.g, p.accumulators[0], p.accumulators[1], numbers.rate, beta1_,
                beta2_, epsilon_);
  }
  OtherRows other_rows() const override { return OtherRows::kLeaveAlone; }
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
    accumulate(0);
    accumulate(1);
  }
  static int states(const Json&) { return 2; }

 private:
  double schedule(std::int64_t t) const {
    return beta1_ * (1 - 0.5 * std::pow(0.96, schedule_decay_ * static_cast<double>(t)));
  }
  Numbers numbers(float rate, std::int64_t t) override {
    const double now = schedule(t), next = schedule(t + 1);
    product() *= now;
    return {rate,
            static_cast<float>(now),
            static_cast<float>(next),
            static_cast<float>(1 - product()),
            static_cast<float>(1 - product() * next),
            static_cast<float>(1 - std::pow(beta2_, static_cast<double>(t)))};
  }
  void update(const Numbers& s, const Part& p) const override {
    nadam_pass(p.size, p.w, p.g, p.accumulators[0], p.accumulators[1], s.rate, beta1_, beta2_,
               epsilon_, s.schedule, s.next_schedule, s.gradient_scale, s.momentum_scale,
               s.variance_scale);
  }
  OtherRows other_rows() const override { return OtherRows::kStates; }
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
  bool deferrable() const override { return shrinkage_ == 0; }

 private:
  OtherRows other_rows() const override { return OtherRows::kLeaveAlone; }
  float root(float a) const { return power_ == -0.5f ? std::sqrt(a) : std::pow(a, -power_); }
  void update(const Numbers& numbers, const Part& p) const override {
    const float rate = numbers.rate, l2 = l2_ + beta_ / (2 * rate);
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

void add_squares(double& sum, std::span<const float> values) {
  for (const float v : values) sum += static_cast<double>(v) * v;
}

/// Loads rows into the caches while others are worked on.
void prefetch(const float* row, std::size_t size) {
#if defined(__GNUC__)
  for (std::size_t i = 0; i < size; i += kLineFloats) __builtin_prefetch(row + i, 1);
#endif
}

/// Missed steps are made up for after so many at the latest.
constexpr std::size_t kMostMissed = 1024;

}  // namespace

Optimizer::Optimizer(const Json& config, std::vector<Extent> variables)
    : learning_rate_(number_or(config, "learning_rate", 0.001)),
      decay_(number_or(config, "decay", 0)),
      clip_value_(number_or(config, "clipvalue", 0)),
      clip_norm_(number_or(config, "clipnorm", 0)),
      global_clip_norm_(number_or(config, "global_clipnorm", 0)),
      variables_(std::move(variables)) {}

/// Calls it with the parts of an extent (a variable, or all) that steps look at, ascending.
template <typename Function>
void Optimizer::for_parts(const Extent& extent, Function function) const {
  const std::size_t end = extent.begin + extent.size;
  if (!deferred_ || deferred_->table.begin < extent.begin || deferred_->table.begin >= end) {
    function(extent);
    return;
  }
  const auto& [begin, size] = deferred_->table;
  if (begin > extent.begin) function(Extent{extent.begin, begin - extent.begin});
  for (const std::size_t row : deferred_->current) {
    function(Extent{begin + row * deferred_->row, deferred_->row});
  }
  if (end > begin + size) function(Extent{begin + size, end - begin - size});
}

/// Order and formulas of tf.keras 2.4: clipvalue; clipnorm: g c / max(|g|, c) for each variable;
/// global_clipnorm: g c min(1 / |G|, 1 / c), all NaN where |G| isn't finite. Returns what becomes
/// of a gradient of 0 in a row of the table that a step doesn't look at: NaN where the norm is.
float Optimizer::clip(std::span<float> gradients) const {
  const Extent all{0, gradients.size()};
  float other = 0;
  if (clip_value_ > 0) {
    const auto limit = static_cast<float>(clip_value_);
    for_parts(all, [&](const Extent& part) {
      for (float& g : part.of(gradients)) g = g > limit ? limit : g < -limit ? -limit : g;
    });
  }
  if (clip_norm_ > 0) {
    for (const Extent& variable : variables_) {
      double squares = 0;
      for_parts(variable, [&](const Extent& part) { add_squares(squares, part.of(gradients)); });
      const auto norm = static_cast<float>(std::sqrt(squares));
      const auto limit = static_cast<float>(clip_norm_);
      const float divisor = norm < limit ? limit : norm;  // a NaN norm stays
      for_parts(variable, [&](const Extent& part) {
        for (float& g : part.of(gradients)) g = g * limit / divisor;
      });
      if (deferred_ && variable.begin == deferred_->table.begin) other = other * limit / divisor;
    }
  }
  if (global_clip_norm_ > 0) {
    double squares = 0;
    for_parts(all, [&](const Extent& part) { add_squares(squares, part.of(gradients)); });
    const double norm = std::sqrt(squares);
    const double scale = std::isfinite(norm)
                             ? global_clip_norm_ * std::min(1 / norm, 1 / global_clip_norm_)
                             : std::nan("");
    for (const Extent& variable : variables_) {
      for_parts(variable, [&](const Extent& part) {
        for (float& g : part.of(gradients)) g *= static_cast<float>(scale);
      });
    }
    other *= static_cast<float>(scale);
  }
  return other;
}

void Optimizer::make_states(std::size_t size) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (starts_[i]) count = i + 1;
  }
  bool made = iterations_ == 0;
  accumulators_.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!starts_[i] || accumulators_[i].size() == size) continue;
    accumulators_[i] = Buffer(size);
    if (*starts_[i] != 0) {
      const std::span<float> values = accumulators_[i].floats();
      std::fill(values.begin(), values.end(), *starts_[i]);
    }
    made = true;
  }
  if (made && deferred_) std::fill(deferred_->fresh.begin(), deferred_->fresh.end(), 1);
}

Optimizer::Part Optimizer::part(const Extent& extent, std::span<float> weights,
                                const float* gradients) {
  Part part{extent.size, weights.data() + extent.begin, gradients, {}};
  for (std::size_t i = 0; i < accumulators_.size(); ++i) {
    if (starts_[i]) part.accumulators[i] = accumulators_[i].data() + extent.begin;
  }
  return part;
}

void Optimizer::step(std::span<float> weights, std::span<float> gradients) {
  make_states(weights.size());
  if (clip_value_ > 0 || clip_norm_ > 0 || global_clip_norm_ > 0) {
    const float other = clip(gradients);
    if (deferred_ && other != 0) {
      // A gradient for the other rows after all.
      settle(weights);
      const std::vector<std::uint32_t> looked_at = std::move(deferred_->current);
      std::span<float> table = deferred_->table.of(gradients);
      auto next = looked_at.begin();
      for (std::size_t row = 0; row < deferred_->done.size(); ++row) {
        if (next != looked_at.end() && *next == row) {
          ++next;
        } else {
          const std::span<float> values = table.subspan(row * deferred_->row, deferred_->row);
          std::fill(values.begin(), values.end(), other);
        }
      }
      deferred_->current.resize(deferred_->done.size());
      std::iota(deferred_->current.begin(), deferred_->current.end(), 0u);
    }
  }
  const double rate =
      learning_rate_ * rate_factor_ / (1 + decay_ * static_cast<double>(iterations_));
  ++iterations_;
  const Numbers numbers = this->numbers(static_cast<float>(rate), iterations_);
  if (!tables_.empty() && other_rows() != OtherRows::kUpdate) {
    return update_around_tables(numbers, weights, gradients);
  }
  for_parts({0, weights.size()}, [&](const Extent& extent) {
    update(numbers, part(extent, weights, gradients.data() + extent.begin));
  });
  if (!deferred_) return;
  Deferred& d = *deferred_;
  const Probe probe = this->probe(numbers);
  if (!probe.finite) d.bounded = false;  // epsilon 0: 0 / 0
  d.missed.push_back({numbers, probe.rests});
  for (const std::uint32_t row : d.current) {
    assert(d.done[row] + 1 == d.missed.size());
    ++d.done[row];
    d.fresh[row] = 0;
    const Extent extent{d.table.begin + row * d.row, d.row};
    if (!bounded(extent.of(weights))) d.bounded = false;
  }
  if (d.missed.size() == kMostMissed) settle(weights);
}

void Optimizer::update_around_tables(const Numbers& numbers, std::span<float> weights,
                                     std::span<const float> gradients) {
  const auto update_extent = [&](const Extent& extent) {
    if (extent.size > 0) update(numbers, part(extent, weights, gradients.data() + extent.begin));
  };
  std::size_t begin = 0;
  std::vector<float> kept;
  for (const auto& [extent, row_size, looked_up] : tables_) {
    update_extent({begin, extent.begin - begin});
    begin = extent.begin + extent.size;
    auto next = looked_up.begin();
    for (std::size_t row = 0; row < extent.size / row_size; ++row) {
      const Extent own{extent.begin + row * row_size, row_size};
      if (next != looked_up.end() && *next == row) {
        update_extent(own);
        ++next;
      } else if (other_rows() == OtherRows::kStates) {
        const std::span<float> values = own.of(weights);
        kept.assign(values.begin(), values.end());
        update_extent(own);
        std::copy(kept.begin(), kept.end(), values.begin());
      }
    }
  }
  update_extent({begin, weights.size() - begin});
}

void Optimizer::add_table(const Extent& table, std::size_t row) {
  assert(tables_.empty() || tables_.back().extent.begin < table.begin);
  tables_.push_back({table, row, {}});
}

void Optimizer::look_up(std::size_t begin, std::vector<std::uint32_t> rows) {
  for (Table& table : tables_) {
    if (table.extent.begin == begin) table.rows = std::move(rows);
  }
}

Optimizer::State Optimizer::state() const {
  State state{iterations_, product_, {}};
  for (const Buffer& buffer : accumulators_) {
    state.accumulators.emplace_back(buffer.floats().begin(), buffer.floats().end());
  }
  return state;
}

void Optimizer::restore(const State& state) {
  assert(!deferred_ || deferred_->missed.empty());
  iterations_ = state.iterations;
  product_ = state.product;
  accumulators_.clear();
  for (const std::vector<float>& values : state.accumulators) {
    accumulators_.emplace_back(values.size());
    std::copy(values.begin(), values.end(), accumulators_.back().data());
  }
  if (deferred_) std::fill(deferred_->fresh.begin(), deferred_->fresh.end(), 0);
}

void Optimizer::defer(const Extent& table, std::size_t row) {
  assert(row > 0 && table.size % row == 0);
  const std::size_t rows = table.size / row;
  deferred_ = Deferred{table, row, {}, {}, {}, {}, std::vector<float>(row), true};
  deferred_->done.resize(rows);
  deferred_->fresh.resize(rows);
}

void Optimizer::catch_up(std::span<float> weights, std::span<const std::uint32_t> rows) {
  if (!deferred_) return;
  deferred_->current.assign(rows.begin(), rows.end());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (i + 1 < rows.size()) prefetch_row(rows[i + 1], weights);
    replay(rows[i], weights);
  }
}

void Optimizer::settle(std::span<float> weights) {
  if (!deferred_ || deferred_->missed.empty()) return;
  for (std::size_t row = 0; row < deferred_->done.size(); ++row) replay(row, weights);
  deferred_->missed.clear();
  std::fill(deferred_->done.begin(), deferred_->done.end(), 0u);
}

void Optimizer::stop_deferring(std::span<float> weights) {
  settle(weights);
  deferred_.reset();
}

void Optimizer::prefetch_row(std::size_t row, std::span<float> weights) {
  const Part part =
      this->part({deferred_->table.begin + row * deferred_->row, deferred_->row}, weights, nullptr);
  prefetch(part.w, part.size);
  for (const float* accumulator : part.accumulators) {
    if (accumulator) prefetch(accumulator, part.size);
  }
}

void Optimizer::replay(std::size_t row, std::span<float> weights) {
  Deferred& d = *deferred_;
  const Part part = this->part({d.table.begin + row * d.row, d.row}, weights, d.zeros.data());
  for (std::size_t k = d.done[row]; k < d.missed.size(); ++k) {
    if (d.missed[k].rests && (d.fresh[row] != 0 || idles())) continue;
    update(d.missed[k].numbers, part);
    d.fresh[row] = 0;
  }
  d.done[row] = static_cast<std::uint32_t>(d.missed.size());
}

/// All optimisers but Ftrl add something to a weight that doesn't depend on
/// it, and Ftrl makes it anew; so three weights tell for all: 1, 0 and, for the sign, -0.
Optimizer::Probe Optimizer::probe(const Numbers& numbers) const {
  constexpr std::array<float, 3> kWeights{1, 0, -0.0f}, kGradients{};
  std::array<float, 3> w = kWeights;
  std::array<std::array<float, 3>, 3> states{}, before{};
  Part part{w.size(), w.data(), kGradients.data(), {}};
  for (std::size_t i = 0; i < starts_.size(); ++i) {
    if (!starts_[i]) continue;
    before[i].fill(*starts_[i]);
    states[i] = before[i];
    part.accumulators[i] = states[i].data();
  }
  update(numbers, part);
  return {std::memcmp(&w, &kWeights, sizeof w) == 0 &&
              std::memcmp(&states, &before, sizeof states) == 0,
          std::all_of(w.begin(), w.end(), [](float v) { return std::isfinite(v); })};
}

/// The largest weight is far from infinity: no row gets there in kMostMissed steps with gradients
/// of 0, in which a weight moves at most about 1 / (1 - momentum) times as far as in its last step
/// (with Adam, beta_1 / sqrt(beta_2) in place of the momentum).
bool Optimizer::bounded(std::span<const float> weights) {
  return largest(weights.size(), weights.data()) <= std::bit_cast<std::uint32_t>(1e30f);
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

}  // namespace neutra::training
