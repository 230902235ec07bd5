#include <algorithm>
#include <cmath>

#include "training/clones.h"
#include "training/fused/images.h"
#include "training/fused/layers/registry.h"
#include "training/fused/vectors.h"

namespace neutra::training::fused {
namespace {

/// How the values that are normalised together lie: those of one group `step` apart, neighbouring
/// groups `next`.
struct Groups {
  std::size_t count, size, step, next;
};
constexpr std::size_t kTogether = 16;  ///< groups that loops work on side by side

/// Calls visit(first group, its first value, number of groups) for kTogether groups at a time.
template <typename Visit>
NEUTRA_INLINE void for_groups(const Groups& groups, Visit visit) {
  for (std::size_t first = 0; first < groups.count; first += kTogether) {
    visit(first, first * groups.next, std::min(kTogether, groups.count - first));
  }
}

/// y = gamma (x - mean) scale + beta (null: 1, 0), scale = 1 / sqrt(variance + epsilon). Writes
/// mean and scale of each group. In double precision, since gradients cancel where groups are
/// small; the variance overflows as a float does.
NEUTRA_CLONES void normalise(const Groups& g, double epsilon, const float* x, const float* gamma,
                             const float* beta, double* means, double* scales, float* y) {
  for_groups(g, [=](std::size_t first, std::size_t at, std::size_t n) NEUTRA_INLINED {
    double mean[kTogether] = {}, scale[kTogether] = {};
    const auto size = static_cast<double>(g.size);
    for (std::size_t f = 0; f < g.size; ++f) {
      const float* from = x + at + f * g.step;
      for (std::size_t i = 0; i < n; ++i) mean[i] += from[i * g.next];
    }
    for (std::size_t i = 0; i < n; ++i) mean[i] /= size;
    for (std::size_t f = 0; f < g.size; ++f) {
      const float* from = x + at + f * g.step;
      for (std::size_t i = 0; i < n; ++i) {
        const double d = from[i * g.next] - mean[i];
        scale[i] += d * d;
      }
    }
    for (std::size_t i = 0; i < n; ++i) {
      const auto variance = static_cast<float>(scale[i] / size);
      means[first + i] = mean[i];
      scales[first + i] = scale[i] = 1 / std::sqrt(variance + epsilon);
    }
    for (std::size_t f = 0; f < g.size; ++f) {
      const double a = gamma ? gamma[f] : 1.0f, b = beta ? beta[f] : 0.0f;
      const std::size_t place = at + f * g.step;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = place + i * g.next;
        y[k] = static_cast<float>((x[k] - mean[i]) * scale[i] * a + b);
      }
    }
  });
}

/// dy becomes the gradient for x.
NEUTRA_CLONES void differentiate(const Groups& g, const float* x, const double* means,
                                 const double* scales, const float* gamma, float* dy) {
  for_groups(g, [=](std::size_t first, std::size_t at, std::size_t n) NEUTRA_INLINED {
    const double *mean = means + first, *scale = scales + first;
    double sum[kTogether] = {}, product[kTogether] = {};
    const auto size = static_cast<double>(g.size);
    for (std::size_t f = 0; f < g.size; ++f) {
      const double a = gamma ? gamma[f] : 1.0f;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = at + f * g.step + i * g.next;
        sum[i] += dy[k] * a;
        product[i] += dy[k] * a * ((x[k] - mean[i]) * scale[i]);
      }
    }
    for (std::size_t f = 0; f < g.size; ++f) {
      const double a = gamma ? gamma[f] : 1.0f;
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t k = at + f * g.step + i * g.next;
        const double along = (x[k] - mean[i]) * scale[i] * product[i];
        dy[k] = static_cast<float>(scale[i] * (dy[k] * a - (sum[i] + along) / size));
      }
    }
  });
}

/// For each feature the sums over groups of dy, and of dy (x - mean) scale; either may be null.
NEUTRA_CLONES void sum_groups(const Groups& g, const float* x, const double* means,
                              const double* scales, const float* dy, float* sums, float* products) {
  for (std::size_t f = 0; f < g.size; ++f) {
    double sum = 0, product = 0;
    for (std::size_t i = 0; i < g.count; ++i) {
      const std::size_t k = f * g.step + i * g.next;
      sum += dy[k];
      product += dy[k] * ((x[k] - means[i]) * scales[i]);
    }
    if (sums) sums[f] = static_cast<float>(sum);
    if (products) products[f] = static_cast<float>(product);
  }
}

/// See training/layers/layer_normalization.cpp. x and y share their gradient.
class LayerNormalization final : public Step {
 public:
  LayerNormalization(const Tensor& x, const Tensor& y, double epsilon, Parameter gamma,
                     Parameter beta, double* means, double* scales)
      : x_(x),
        y_(y),
        epsilon_(epsilon),
        gamma_(gamma),
        beta_(beta),
        means_(means),
        scales_(scales) {}

  void forward(const Pass& pass) override {
    normalise(groups(pass), epsilon_, x_.values, gamma_.values, beta_.values, means_, scales_,
              y_.values);
  }
  void backward(const Pass& pass) override {
    const Groups g = groups(pass);
    if (gamma_.gradient || beta_.gradient) {
      sum_groups(g, x_.values, means_, scales_, y_.gradient, beta_.gradient, gamma_.gradient);
    }
    if (x_.needs_gradient) {
      differentiate(g, x_.values, means_, scales_, gamma_.values, y_.gradient);
    }
  }

 private:
  Groups groups(const Pass& pass) const {
    const auto size = static_cast<std::size_t>(x_.shape.back());
    if (x_.layout == Layout::kColumns) return {pass.lanes.rows, size, pass.lanes.stride, 1};
    return {pass.lanes.rows * (x_.features / size), size, 1, size};
  }

  Tensor x_, y_;
  double epsilon_;
  Parameter gamma_, beta_;
  double *means_, *scales_;
};

}  // namespace

/// Source: tf.keras 2.4 layers/normalization.py.
void layers::layer_normalization(Builder& builder, const program::ResolvedLayer& layer) {
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
  const auto doubles = [&] {
    return reinterpret_cast<double*>(builder.floats(2 * groups * builder.capacity()));
  };
  double *means = doubles(), *scales = doubles();
  builder.add(std::make_unique<LayerNormalization>(x, y, number_or(layer.config, "epsilon", 0.001),
                                                   gamma, beta, means, scales));
  builder.set_current(y);
}

}  // namespace neutra::training::fused
