#include <cmath>

#include "training/fused/plan.h"

namespace neutra::fused {
namespace {

/// See training/layers/batch_normalization.cpp. x and y share their gradient.
class BatchNormalization final : public Step {
 public:
  struct Settings {
    float momentum, epsilon;
    bool trainable;
  };
  struct Variables {
    Parameter gamma, beta, mean, variance;
  };
  struct Memory {
    float *mean, *variance, *scale, *normalised;
  };
  BatchNormalization(const Tensor& x, const Tensor& y, const Settings& settings,
                     const Variables& variables, const Memory& memory)
      : x_(x), y_(y), settings_(settings), variables_(variables), memory_(memory) {}

  void forward(const Pass& pass) override {
    const auto& [gamma, beta, mean, variance] = variables_;
    if (!uses_batch(pass)) {
      for (std::size_t f = 0; f < x_.features; ++f) {
        memory_.scale[f] = 1 / std::sqrt(variance.values[f] + settings_.epsilon);
      }
      table_.scale(x_.features, x_.values, gamma.values, beta.values, mean.values, memory_.scale,
                   y_.values, pass.lanes);
      return;
    }
    table_.normalise(x_.features, x_.values, gamma.values, beta.values, settings_.epsilon,
                     memory_.mean, memory_.variance, memory_.scale, memory_.normalised, y_.values,
                     pass.lanes);
    const float kept = settings_.momentum, taken = 1 - kept;
    for (std::size_t f = 0; f < x_.features; ++f) {
      mean.values[f] = mean.values[f] * kept + memory_.mean[f] * taken;
      variance.values[f] = variance.values[f] * kept + memory_.variance[f] * taken;
    }
  }

  void backward(const Pass& pass) override {
    if (!x_.needs_gradient && !variables_.gamma.gradient && !variables_.beta.gradient) return;
    if (uses_batch(pass)) {
      table_.differentiate_normalise(x_.features, memory_.normalised, variables_.gamma.values,
                                     memory_.scale, variables_.gamma.gradient,
                                     variables_.beta.gradient, y_.gradient, pass.lanes);
      return;
    }
    for (std::size_t f = 0; f < x_.features; ++f) {
      const float gamma = variables_.gamma.values ? variables_.gamma.values[f] : 1.0f;
      float* dy = y_.gradient + f * pass.lanes.stride;
      for (std::size_t b = 0; b < pass.lanes.stride; ++b) dy[b] *= gamma * memory_.scale[f];
    }
  }

 private:
  bool uses_batch(const Pass& pass) const { return pass.training && settings_.trainable; }

  Tensor x_, y_;
  Settings settings_;
  Variables variables_;
  Memory memory_;
  const KernelTable<float>& table_ = kernels();
};

}  // namespace

void layers::batch_normalization(Builder& builder, const ResolvedLayer& layer) {
  Tensor x = builder.current();
  if (x.shape.size() != 1) {
    throw NotCovered{"BatchNormalization over inputs of shape " + to_string(x.shape)};
  }
  if (x.layout == Layout::kRows) x = to_columns(builder);
  const bool scale = flag_or(layer.config, "scale", true);
  const bool center = flag_or(layer.config, "center", true);
  const std::size_t n = layer.weights.size();
  const BatchNormalization::Settings settings{
      static_cast<float>(number_or(layer.config, "momentum", 0.99)),
      static_cast<float>(number_or(layer.config, "epsilon", 0.001)),
      flag_or(layer.config, "trainable", true)};
  const BatchNormalization::Variables variables{
      scale ? builder.parameter(0) : Parameter{},
      center ? builder.parameter(scale ? 1 : 0) : Parameter{}, builder.parameter(n - 2),
      builder.parameter(n - 1)};
  const std::size_t f = x.features;
  const BatchNormalization::Memory memory{
      builder.floats(f), builder.floats(f), builder.floats(f),
      builder.floats(Builder::batch_floats(f, builder.batch()))};
  Tensor y = builder.tensor(x.shape, x.layout, !x.needs_gradient && builder.has_trainable());
  if (x.needs_gradient) {
    y.gradient = x.gradient;
    y.needs_gradient = true;
  }
  builder.add(std::make_unique<BatchNormalization>(x, y, settings, variables, memory));
  builder.set_current(y);
}

}  // namespace neutra::fused
