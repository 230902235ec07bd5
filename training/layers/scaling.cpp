#include "program/layers/scaling.h"

#include "training/layers/module.h"
#include "training/variables.h"

/// Layers that scale their input by numbers that no training changes. Source: tf.keras 2.15
/// layers/preprocessing/image_preprocessing.py (Rescaling), normalization.py.
namespace neutra::training {
namespace {

using at::Tensor;

constexpr double kEpsilon = 1e-7;  ///< keras.backend.epsilon()

/// Numbers of a config that broadcast against `extents`.
Tensor numbers(const Json& values, const program::Shape& extents) {
  std::int64_t count = 1;
  for (const std::int64_t extent : extents) count *= extent;
  std::vector<float> floats = program::spread(values, count);
  return at::from_blob(floats.data(), extents, at::kFloat).clone();
}

class Rescaling final : public Module {
 public:
  explicit Rescaling(const program::ResolvedLayer& layer)
      : scale_(of(layer, "scale")), offset_(of(layer, "offset")) {}
  Tensor forward(const Tensor& x, std::span<Tensor>, const ForwardPass&) const override {
    return x * scale_ + offset_;
  }

 private:
  static Tensor of(const program::ResolvedLayer& layer, const char* field) {
    const Json& values = layer.config.at(field);
    const bool several = values.is_array() && values.size() > 1;
    return numbers(values, {several ? layer.input_shape.back() : 1});
  }
  Tensor scale_, offset_;
};

/// (x - mean) / sqrt(variance), the root at least epsilon; `invert`: the way back.
class Normalization final : public Module {
 public:
  explicit Normalization(const program::ResolvedLayer& layer)
      : extents_(program::statistics_extents(layer.config, layer.input_shape)),
        invert_(flag_or(layer.config, "invert", false)) {
    if (!layer.weights.empty()) return;
    mean_ = numbers(layer.config.at("mean"), extents_);
    variance_ = numbers(layer.config.at("variance"), extents_);
  }
  Tensor forward(const Tensor& x, std::span<Tensor> weights, const ForwardPass&) const override {
    const Tensor mean = weights.empty() ? mean_ : weights[0].view(extents_);
    const Tensor variance = weights.empty() ? variance_ : weights[1].view(extents_);
    const Tensor deviation = at::clamp_min(variance.sqrt(), kEpsilon);
    return invert_ ? mean + x * deviation : (x - mean) / deviation;
  }

 private:
  program::Shape extents_;
  bool invert_;
  Tensor mean_, variance_;  ///< where they are no weights
};

}  // namespace

std::unique_ptr<Module> module::rescaling(const program::ResolvedLayer& layer) {
  return std::make_unique<Rescaling>(layer);
}
std::unique_ptr<Module> module::normalization(const program::ResolvedLayer& layer) {
  return std::make_unique<Normalization>(layer);
}

}  // namespace neutra::training
