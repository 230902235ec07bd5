#include <algorithm>
#include <cmath>

#include "training/clones.h"
#include "training/fused/images.h"

namespace neutra::fused {
namespace {

/// How the values that are normalised together lie: those of one group `step` apart, neighbouring
/// groups `next`.
struct Groups {
  std::size_t count, size, step, next;
};
constexpr std::size_t kTogether = 16;  ///< groups that loops work on side by side

/// Calls visit(first group, its first value, number of groups) for kTogether groups at a time.
template <typename Visit>
inline __attribute__((always_inline)) void for_groups(const Groups& groups, Visit visit) {
  for (std::size_t first = 0; first < groups.count; first += kTogether) {
    visit(first, first * groups.next, std::min(kTogether, groups.count - first));
  }
}

/// normalised = (x - mean) / sqrt(variance + epsilon); scale: the divisor's inverse. y = gamma
/// normalised + beta (null: 1, 0).
NEUTRA_CLONES void normalise(const Groups& g, float epsilon, const float* x, const float* gamma,
                             const float* beta, float* scale, float* normalised, float* y) {
  for_groups(g, [=](std::size_t first, std::size_t at, std::size_t n) {
    float mean[kTogether] = {}, variance[kTogether] = {}, inverse[kTogether] = {};
    const auto size = static_cast<float>(g.size);
    for (std::size_t f = 0; f < g.size; ++f) {
      const float* from = x + at + f * g.step;
      for (std::size_t i = 0; i < n; ++i) mean[i] += from[i * g.next];
    }
    for (std::size_t i = 0; i < n; ++i) mean[i] /= size;
    for (std::size_t f = 0; f < g.size; ++f) {
      const float* from = x + at + f * g.step;
      for (std::size_t i = 0; i < n; ++i) {
        const float d = from[i * g.next] - mean[i];
        variance[i] += d * d;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      inverse[i] = 1 / std::sqrt(variance[i] / size + epsilon);
      scale[first + i] = inverse[i];
    }
    for (std::size_t f = 0; f < g.size; ++f) {
      const float a = gamma ? gamma[f] : 1.0f, b = beta ? beta[f] : 0.0f;
      const std::size_t place = at + f * g.step;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = place + i * g.next;
        normalised[k] = (x[k] - mean[i]) * inverse[i];
        y[k] = normalised[k] * a + b;
      }
    }
  });
}

/// dy becomes the gradient for x.
NEUTRA_CLONES void differentiate(const Groups& g, const float* normalised, const float* scale,
                                 const float* gamma, float* dy) {
  for_groups(g, [=](std::size_t first, std::size_t at, std::size_t n) {
    float sum[kTogether] = {}, product[kTogether] = {};
    const auto size = static_cast<float>(g.size);
    for (std::size_t f = 0; f < g.size; ++f) {
      const float a = gamma ? gamma[f] : 1.0f;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = at + f * g.step + i * g.next;
        sum[i] += dy[k] * a;
        product[i] += dy[k] * a * normalised[k];
      }
    }
    for (std::size_t f = 0; f < g.size; ++f) {
      const float a = gamma ? gamma[f] : 1.0f;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = at + f * g.step + i * g.next;
        dy[k] = scale[first + i] * (dy[k] * a - (sum[i] + normalised[k] * product[i]) / size);
      }
    }
  });
}

/// gradients[f] = sum over groups of dy times `by` (null: 1).
NEUTRA_CLONES void sum_groups(const Groups& g, const float* dy, const float* by, float* gradients) {
  for (std::size_t f = 0; f < g.size; ++f) {
    double sum = 0;
    for (std::size_t i = 0; i < g.count; ++i) {
      const std::size_t k = f * g.step + i * g.next;
      sum +=
          by ? static_cast<double>(dy[k]) * static_cast<double>(by[k]) : static_cast<double>(dy[k]);
    }
    gradients[f] = static_cast<float>(sum);
  }
}

/// See training/layers/layer_normalization.cpp. x and y share their gradient.
class LayerNormalization final : public Step {
 public:
  LayerNormalization(const Tensor& x, const Tensor& y, float epsilon, Parameter gamma,
                     Parameter beta, float* scale, float* normalised)
      : x_(x),
        y_(y),
        epsilon_(epsilon),
        gamma_(gamma),
        beta_(beta),
        scale_(scale),
        normalised_(normalised) {}

  void forward(const Pass& pass) override {
    normalise(groups(pass), epsilon_, x_.values, gamma_.values, beta_.values, scale_, normalised_,
              y_.values);
  }
  void backward(const Pass& pass) override {
    const Groups g = groups(pass);
    if (gamma_.gradient) sum_groups(g, y_.gradient, normalised_, gamma_.gradient);
    if (beta_.gradient) sum_groups(g, y_.gradient, nullptr, beta_.gradient);
    if (x_.needs_gradient) differentiate(g, normalised_, scale_, gamma_.values, y_.gradient);
  }

 private:
  Groups groups(const Pass& pass) const {
    const auto size = static_cast<std::size_t>(x_.shape.back());
    if (x_.layout == Layout::kColumns) return {pass.lanes.rows, size, pass.lanes.stride, 1};
    return {pass.lanes.rows * (x_.features / size), size, 1, size};
  }

  Tensor x_, y_;
  float epsilon_;
  Parameter gamma_, beta_;
  float *scale_, *normalised_;
};

}  // namespace

/// Source: tf.keras 2.4 layers/normalization.py.
void layers::layer_normalization(Builder& builder, const ResolvedLayer& layer) {
  Tensor x = builder.current();
  if (x.shape.size() > 1) {
    x = to_images(builder);
  } else if (x.layout == Layout::kRows) {
    x = to_columns(builder);
  }
  const bool scale = flag_or(layer.config, "scale", true);
  const bool center = flag_or(layer.config, "center", true);
  const Parameter gamma = scale ? builder.parameter(0) : Parameter{};
  const Parameter beta = center ? builder.parameter(scale ? 1 : 0) : Parameter{};
  Tensor y = builder.tensor(x.shape, x.layout, !x.needs_gradient && builder.has_trainable());
  if (x.needs_gradient) {
    y.gradient = x.gradient;
    y.needs_gradient = true;
  }
  const std::size_t groups = x.features / static_cast<std::size_t>(x.shape.back());
  float* inverse = builder.floats(Builder::batch_floats(groups, builder.capacity()));
  float* normalised = builder.floats(Builder::batch_floats(x.features, builder.capacity()));
  builder.add(std::make_unique<LayerNormalization>(
      x, y, static_cast<float>(number_or(layer.config, "epsilon", 0.001)), gamma, beta, inverse,
      normalised));
  builder.set_current(y);
}

}  // namespace neutra::fused
