#include "training/losses.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/error.h"
#include "training/keras_release.h"

namespace neutra::training {
namespace {

using at::Tensor;

constexpr double kEpsilon = 1e-7;  ///< keras.backend.epsilon()

/// tf.clip_by_value(p, eps, 1 - eps): no gradient outside, nor for NaN.
Tensor clipped(const Tensor& p) { return at::clamp(p, kEpsilon, 1 - kEpsilon); }

/// Targets of 0 and 1 become -1 and 1, if the whole batch is made of them.
Tensor signed_labels(const Tensor& y) {
  const Tensor dense = y.contiguous();
  const float* values = dense.data_ptr<float>();
  for (std::int64_t i = 0; i < dense.numel(); ++i) {
    if (values[i] != 0 && values[i] != 1) return y;
  }
  return 2 * y - 1;
}

/// x / |x| along the last axis, with TensorFlow's floor of 1e-12 on the square.
Tensor unit(const Tensor& x) { return x * at::rsqrt(at::clamp_min((x * x).sum(-1, true), 1e-12)); }

/// TensorFlow's: that of NaN is NaN.
Tensor tensorflow_sign(const Tensor& x) { return at::where(x.isnan(), x, x.sign()); }

/// Rows of outputs and one class index for each (Keras flattens targets of other ranks).
struct SparsePair {
  Tensor rows, labels;
};
SparsePair sparse_pair(const Tensor& output, const Tensor& target) {
  return {output.reshape({-1, output.size(-1)}), target.reshape({-1}).to(at::kLong)};
}

Tensor sparse_values(const Tensor& logits, const Tensor& target) {
  const auto [rows, labels] = sparse_pair(logits, target);
  return at::nll_loss(at::log_softmax(rows, -1), labels, {}, at::Reduction::None);
}

Tensor sparse_gradient(const Tensor& logits, const Tensor& target) {
  const auto [rows, labels] = sparse_pair(logits, target);
  Tensor gradient = at::softmax(rows, -1);
  float* values = gradient.data_ptr<float>();
  const std::int64_t* label = labels.data_ptr<std::int64_t>();
  const std::int64_t n = rows.size(0), width = rows.size(1);
  for (std::int64_t i = 0; i < n; ++i) values[i * width + label[i]] -= 1;
  return gradient.div_(n).view(logits.sizes());
}

/// Of probabilities, in double: where a class is certain, the logits' softmax - 1 loses its digits.
Tensor sparse_probability_gradient(const Tensor& output, const Tensor& target) {
  const auto [rows, labels] = sparse_pair(output, target);
  const Tensor p = clipped(rows).to(at::kDouble), index = labels.unsqueeze(-1);
  const Tensor slope = p.sum(-1, true).reciprocal().expand_as(p).clone();
  slope.scatter_add_(-1, index, -p.gather(-1, index).reciprocal());
  const Tensor inside = (rows >= kEpsilon).logical_and(rows <= 1 - kEpsilon);
  return at::where(inside, slope / rows.size(0), at::zeros_like(p)).to(at::kFloat).view_as(output);
}

Tensor binary_values(const Tensor& z, const Tensor& y) {
  return (at::clamp_min(z, 0) - z * y + at::log1p(at::exp(-z.abs()))).mean(-1);
}

Tensor squared_hinge(const Tensor& o, const Tensor& labels) {
  return at::square(at::clamp_min(1 - labels * o, 0)).mean(-1);
}
Tensor hinge(const Tensor& o, const Tensor& labels) {
  return at::clamp_min(1 - labels * o, 0).mean(-1);
}
Tensor categorical_values(const Tensor& o, const Tensor& y) {
  return -(y * at::log(clipped(o / o.sum(-1, true)))).sum(-1);
}
Tensor sparse_probability_values(const Tensor& o, const Tensor& y) {
  return sparse_values(at::log(clipped(o)), y);
}

struct Entry {
  Loss::Values values;
  Loss::Gradient gradient = nullptr;
  /// The activation whose input the loss is computed from, with the formulas for that.
  const char* activation = nullptr;
  Loss::Values logit_values = nullptr;
  Loss::Gradient logit_gradient = nullptr;
};

/// Source of each: tf.keras 2.4 losses.py and backend.py. o: output, y: target.
const std::map<std::string, Entry>& registry() {
  static const std::map<std::string, Entry> kRegistry{
      {"mean_squared_error",
       {[](const Tensor& o, const Tensor& y) { return at::square(o - y).mean(-1); },
        [](const Tensor& o, const Tensor& y) {
          return (o - y).mul_(2.0 / static_cast<double>(o.numel()));
        }}},
      {"mean_absolute_error",
       {[](const Tensor& o, const Tensor& y) { return at::abs(o - y).mean(-1); },
        [](const Tensor& o, const Tensor& y) {
          return tensorflow_sign(o - y).div_(static_cast<double>(o.numel()));
        }}},
      {"mean_absolute_percentage_error",
       {[](const Tensor& o, const Tensor& y) {
          return 100 * at::abs((y - o) / at::clamp_min(y.abs(), kEpsilon)).mean(-1);
        },
        [](const Tensor& o, const Tensor& y) {
          return tensorflow_sign(o - y).mul_(100.0 / static_cast<double>(o.numel())) /
                 at::clamp_min(y.abs(), kEpsilon);
        }}},
      {"mean_squared_logarithmic_error", {[](const Tensor& o, const Tensor& y) {
         const Tensor first = at::log(at::clamp_min(o, kEpsilon) + 1);
         return at::square(first - at::log(at::clamp_min(y, kEpsilon) + 1)).mean(-1);
       }}},
      {"squared_hinge",
       {[](const Tensor& o, const Tensor& y) { return squared_hinge(o, signed_labels(y)); }}},
      {"hinge", {[](const Tensor& o, const Tensor& y) { return hinge(o, signed_labels(y)); }}},
      {"categorical_hinge",  // amax shares its gradient among ties, as reduce_max does
       {[](const Tensor& o, const Tensor& y) {
         return at::clamp_min(at::amax((1 - y) * o, -1) - (y * o).sum(-1) + 1, 0);
       }}},
      {"logcosh",
       {[](const Tensor& o, const Tensor& y) {
          const Tensor d = o - y;
          return (d + at::softplus(-2 * d) - std::log(2.0)).mean(-1);
        },
        // The sum's own gradient, 1 - 2 sigmoid(-2d), has few digits near 0.
        [](const Tensor& o, const Tensor& y) {
          return at::tanh(o - y).div_(static_cast<double>(o.numel()));
        }}},
      {"huber",  // delta 1
       {[](const Tensor& o, const Tensor& y) {
         const Tensor d = o - y, size = at::abs(d);
         return at::where(size <= 1, 0.5 * at::square(d), size - 0.5).mean(-1);
       }}},
      {"cosine_similarity",
       {[](const Tensor& o, const Tensor& y) { return -(unit(y) * unit(o)).sum(-1); }}},
      {"kullback_leibler_divergence", {[](const Tensor& o, const Tensor& y) {
         const Tensor t = at::clamp(y, kEpsilon, 1);
         return (t * at::log(t / at::clamp(o, kEpsilon, 1))).sum(-1);
       }}},
      {"poisson",
       {[](const Tensor& o, const Tensor& y) { return (o - y * at::log(o + kEpsilon)).mean(-1); }}},
      {"categorical_crossentropy",
       {categorical_values, nullptr, "softmax",
        [](const Tensor& z, const Tensor& y) { return -(y * at::log_softmax(z, -1)).sum(-1); },
        // TensorFlow's kernel returns this gradient even where a target doesn't sum to one, which
        // isn't that of the value.
        [](const Tensor& z, const Tensor& y) {
          return at::softmax(z, -1).sub_(y).div_(z.numel() / z.size(-1));
        }}},
      {"sparse_categorical_crossentropy",  // probabilities: their logarithms serve as logits
       {sparse_probability_values, sparse_probability_gradient, "softmax", sparse_values,
        sparse_gradient}},
      {"binary_crossentropy",
       {[](const Tensor& o, const Tensor& y) {
          const Tensor p = clipped(o);
          return -(y * at::log(p + kEpsilon) + (1 - y) * at::log(1 - p + kEpsilon)).mean(-1);
        },
        nullptr, "sigmoid", binary_values,
        [](const Tensor& z, const Tensor& y) { return at::sigmoid(z).sub_(y).div_(z.numel()); }}},
      // Those of Keras 2.2.4 that are others: losses.py, backend/tensorflow_backend.py.
      {"keras-2.2.4/squared_hinge", {squared_hinge}},
      {"keras-2.2.4/hinge", {hinge}},
      {"keras-2.2.4/categorical_crossentropy", {categorical_values}},
      {"keras-2.2.4/sparse_categorical_crossentropy",
       {sparse_probability_values, sparse_probability_gradient}},
      {"keras-2.2.4/binary_crossentropy",
       {[](const Tensor& o, const Tensor& y) {
          const Tensor p = clipped(o);
          return binary_values(at::log(p / (1 - p)), y);
        },
        [](const Tensor& o, const Tensor& y) {
          const Tensor p = clipped(o);
          const Tensor slope = (p - y) / (p * (1 - p)) / o.numel();
          const Tensor inside = (o >= kEpsilon).logical_and(o <= 1 - kEpsilon);
          return at::where(inside, slope, at::zeros_like(slope));
        }}},
  };
  return kRegistry;
}

/// Keras's remove_squeezable_dimensions.
Tensor squeezed(const Tensor& longer, const Tensor& shorter) {
  return longer.dim() == shorter.dim() + 1 && longer.size(-1) == 1 ? longer.squeeze(-1) : longer;
}

}  // namespace

Loss::Loss(const std::string& name, const std::string& output_activation,
           const program::LossOptions& options)
    : sparse_(takes_class_indices(name)),
      smoothing_(options.label_smoothing),
      binary_(name == "binary_crossentropy") {
  const auto it = registry().find(name);
  if (it == registry().end()) throw input_error("loss " + name + " is not available yet");
  const Entry& entry = it->second;
  on_logits_ = entry.activation != nullptr && output_activation == entry.activation;
  const bool of_logits = on_logits_ || (options.from_logits && entry.activation != nullptr);
  values_ = of_logits ? entry.logit_values : entry.values;
  gradient_ = of_logits ? entry.logit_gradient : entry.gradient;
}

Tensor Loss::smoothed(const Tensor& target) const {
  if (smoothing_ == 0) return target;
  const double classes = binary_ ? 2 : static_cast<double>(target.size(-1));
  return target * (1 - smoothing_) + smoothing_ / classes;
}

Tensor Loss::mean(const Tensor& output, const Tensor& target, const Tensor& weights) const {
  // Class indices of one rank less are what sparse losses expect: nothing to drop.
  const Tensor values = sparse_
                            ? values_(output, target)
                            : values_(squeezed(output, target), smoothed(squeezed(target, output)));
  if (!weights.defined()) return values.mean();
  return (values.reshape({weights.numel(), -1}) * weights.reshape({-1, 1})).mean();
}

std::optional<Tensor> Loss::gradient(const Tensor& output, const Tensor& target,
                                     const Tensor& weights) const {
  if (gradient_ == nullptr || (!sparse_ && !output.sizes().equals(target.sizes()))) return {};
  const at::NoGradGuard guard;
  Tensor gradient = gradient_(output, smoothed(target));
  if (weights.defined()) {
    std::vector<std::int64_t> extents(static_cast<std::size_t>(gradient.dim()), 1);
    std::copy(weights.sizes().begin(), weights.sizes().end(), extents.begin());
    gradient.mul_(weights.view(extents));
  }
  return gradient;
}

std::vector<std::string> loss_names() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : registry()) {
    if (name.find('/') == std::string::npos) names.push_back(name);  // not one of an old Keras
  }
  return names;
}

}  // namespace neutra::training
