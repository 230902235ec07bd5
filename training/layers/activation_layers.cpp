#include "training/layers/module.h"
#include "training/variables.h"

/// Activation and the activations that have a class of their own. Source: tf.keras 2.4
/// layers/advanced_activations.py and backend.py (relu, elu).
namespace neutra::training {
namespace {

using at::Tensor;

class ActivationModule final : public Module {
 public:
  explicit ActivationModule(const std::string& name)
      : name_(name), activation_(find_activation(name)) {}
  Tensor forward(const Tensor& x, std::span<Tensor>, const ForwardPass&) const override {
    return activation_ ? activation_(x) : x;
  }
  std::string take_activation() override {
    activation_ = nullptr;
    return name_;
  }
  bool is_identity() const override { return name_ == "linear"; }

 private:
  std::string name_;
  Activation activation_;
};

/// f(x) of the layer's configuration.
template <typename F>
class Function final : public Module {
 public:
  explicit Function(F f) : f_(std::move(f)) {}
  Tensor forward(const Tensor& x, std::span<Tensor>, const ForwardPass&) const override {
    return f_(x);
  }

 private:
  F f_;
};
template <typename F>
std::unique_ptr<Module> function(F f) {
  return std::make_unique<Function<F>>(std::move(f));
}

/// Keras's generalised relu, step by step: the negative part is taken before threshold and maximum
/// apply.
Tensor general_relu(const Tensor& x, double slope, double threshold, std::optional<double> max) {
  if (slope != 0 && !max && threshold == 0) return at::leaky_relu(x, slope);
  Tensor y = threshold != 0 ? x * (x > threshold).to(x.scalar_type()) : training::relu(x);
  if (max) y = at::clamp(y, 0, *max);
  if (slope != 0) y = y - slope * training::relu(threshold != 0 ? threshold - x : -x);
  return y;
}

/// max(x, 0) - alpha max(-x, 0), alpha a weight of each element of a row but along shared axes.
class PRelu final : public Module {
 public:
  explicit PRelu(const program::ResolvedLayer& layer) : shape_(layer.weights[0].shape) {}
  Tensor forward(const Tensor& x, std::span<Tensor> weights, const ForwardPass&) const override {
    return training::relu(x) - weights[0].view(shape_) * training::relu(-x);
  }

 private:
  program::Shape shape_;
};

}  // namespace

std::unique_ptr<Module> module::prelu(const program::ResolvedLayer& layer) {
  return std::make_unique<PRelu>(layer);
}

std::unique_ptr<Module> module::activation(const program::ResolvedLayer& layer) {
  return std::make_unique<ActivationModule>(layer.config.at("activation"));
}

std::unique_ptr<Module> module::softmax(const program::ResolvedLayer&) {  // over the last axis only
  return std::make_unique<ActivationModule>("softmax");
}

std::unique_ptr<Module> module::relu(const program::ResolvedLayer& layer) {
  const double slope = number_or(layer.config, "negative_slope", 0);
  const double threshold = number_or(layer.config, "threshold", 0);
  std::optional<double> max;
  if (layer.config.value("max_value", Json()).is_number()) max = layer.config["max_value"];
  return function([=](const Tensor& x) { return general_relu(x, slope, threshold, max); });
}

std::unique_ptr<Module> module::leaky_relu(const program::ResolvedLayer& layer) {
  const double alpha = number_or(layer.config, "alpha", 0.3);
  return function([=](const Tensor& x) { return at::leaky_relu(x, alpha); });
}

std::unique_ptr<Module> module::elu(const program::ResolvedLayer& layer) {
  const double alpha = number_or(layer.config, "alpha", 1);
  return function([=](const Tensor& x) { return training::elu(x, alpha); });
}

}  // namespace neutra::training
