#include <algorithm>
#include <cmath>

#include "training/fused/images.h"
#include "training/fused/layers/registry.h"

namespace neutra::training::fused {
namespace {

struct Settings {
  float momentum, epsilon;
  bool trainable;
  bool sample;  ///< the moving variance gets that of a sample
};
struct Variables {
  Parameter gamma, beta, mean, variance;
};

/// See training/layers/batch_normalization.cpp. x and y share their gradient.
class BatchNormalization final : public Step {
 public:
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
    const auto rows = static_cast<float>(pass.lanes.rows);
    const float sample = settings_.sample && rows > 1 ? rows / (rows - 1) : 1;
    for (std::size_t f = 0; f < x_.features; ++f) {
      mean.values[f] = mean.values[f] * kept + memory_.mean[f] * taken;
      variance.values[f] = variance.values[f] * kept + memory_.variance[f] * sample * taken;
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

/// The same over images and sequences: statistics of each channel over rows and pixels. Source of
/// the moving variance: see training/layers/batch_normalization.cpp.
class ImageNormalization final : public Step {
 public:
  /// One number for each channel.
  struct Memory {
    float *mean, *scale, *slope, *along, *offset;
    double *sums, *products;
  };
  ImageNormalization(const Tensor& x, const Tensor& y, const Settings& settings,
                     const Variables& variables, const Memory& memory)
      : channels_(static_cast<std::size_t>(x.shape.back())),
        x_(x),
        y_(y),
        settings_(settings),
        variables_(variables),
        memory_(memory) {}

  void forward(const Pass& pass) override {
    if (uses_batch(pass)) {
      measure(pass.lanes.rows);
    } else {
      for (std::size_t c = 0; c < channels_; ++c) {
        memory_.mean[c] = variables_.mean.values[c];
        memory_.scale[c] = 1 / std::sqrt(variables_.variance.values[c] + settings_.epsilon);
      }
    }
    for (std::size_t c = 0; c < channels_; ++c) {
      memory_.slope[c] = gamma(c) * memory_.scale[c];
      memory_.offset[c] = variables_.beta.values ? variables_.beta.values[c] : 0.0f;
    }
    scale_channels(extents(pass.lanes.rows), x_.values, memory_.mean, memory_.slope, memory_.offset,
                   y_.values);
  }

  void backward(const Pass& pass) override {
    if (!x_.needs_gradient && !variables_.gamma.gradient && !variables_.beta.gradient) return;
    std::fill_n(memory_.along, channels_, 0.0f);
    std::fill_n(memory_.offset, channels_, 0.0f);
    if (uses_batch(pass)) {
      channel_products(extents(pass.lanes.rows), x_.values, y_.gradient, memory_.mean, memory_.sums,
                       memory_.products);
      const double count = static_cast<double>(pass.lanes.rows * x_.features / channels_);
      for (std::size_t c = 0; c < channels_; ++c) {
        const double scale = memory_.scale[c], slope = memory_.slope[c];
        if (variables_.gamma.gradient) {
          variables_.gamma.gradient[c] = static_cast<float>(memory_.products[c] * scale);
        }
        if (variables_.beta.gradient) {
          variables_.beta.gradient[c] = static_cast<float>(memory_.sums[c]);
        }
        memory_.along[c] = static_cast<float>(-slope * scale * scale * memory_.products[c] / count);
        memory_.offset[c] = static_cast<float>(-slope * memory_.sums[c] / count);
      }
    }
    if (!x_.needs_gradient) return;
    combine_channels(extents(pass.lanes.rows), x_.values, memory_.mean, memory_.slope,
                     memory_.along, memory_.offset, y_.gradient);
  }

 private:
  bool uses_batch(const Pass& pass) const { return pass.training && settings_.trainable; }
  Extents extents(std::size_t rows) const { return {rows, x_.features / channels_, channels_}; }
  float gamma(std::size_t c) const {
    return variables_.gamma.values ? variables_.gamma.values[c] : 1.0f;
  }

  /// The batch's mean and variance, in two passes; moves the moving ones.
  void measure(std::size_t rows) {
    const auto count = static_cast<double>(rows * x_.features / channels_);
    // See TensorFlow's fused kernel, for images.
    const double sample = settings_.sample && count > 1 ? count / (count - 1) : 1;
    channel_moments(extents(rows), x_.values, nullptr, memory_.sums, memory_.products);
    for (std::size_t c = 0; c < channels_; ++c) {
      memory_.mean[c] = static_cast<float>(memory_.sums[c] / count);
    }
    channel_moments(extents(rows), x_.values, memory_.mean, memory_.sums, memory_.products);
    const float kept = settings_.momentum, taken = 1 - kept;
    for (std::size_t c = 0; c < channels_; ++c) {
      const double rest = memory_.sums[c] / count;  // the mean's rounding
      const double variance = memory_.products[c] / count - rest * rest;
      memory_.scale[c] =
          static_cast<float>(1 / std::sqrt(variance + static_cast<double>(settings_.epsilon)));
      float &mean = variables_.mean.values[c], &moving = variables_.variance.values[c];
      mean = mean * kept + memory_.mean[c] * taken;
      moving = moving * kept + static_cast<float>(variance * sample) * taken;
    }
  }

  std::size_t channels_;
  Tensor x_, y_;
  Settings settings_;
  Variables variables_;
  Memory memory_;
};

}  // namespace

void layers::batch_normalization(Builder& builder, const program::ResolvedLayer& layer) {
  Tensor x = builder.current();
  const bool pixels = x.shape.size() > 1;
  if (pixels) {
    x = to_images(builder);
  } else if (x.layout == Layout::kRows) {
    x = to_columns(builder);
  }
  const bool scale = flag_or(layer.config, "scale", true);
  const bool center = flag_or(layer.config, "center", true);
  const std::size_t n = layer.weights.size();
  const bool sample = flag_or(layer.config, "sample_variance", false);
  const double least = x.shape.size() == 3 && !sample ? 1.001e-5 : 0.0;
  const Settings settings{
      static_cast<float>(number_or(layer.config, "momentum", 0.99)),
      static_cast<float>(std::max(number_or(layer.config, "epsilon", 0.001), least)),
      flag_or(layer.config, "trainable", true), sample || x.shape.size() == 3};
  const Variables variables{scale ? builder.parameter(0) : Parameter{},
                            center ? builder.parameter(scale ? 1 : 0) : Parameter{},
                            builder.parameter(n - 2), builder.parameter(n - 1)};
  Tensor y = builder.tensor(x.shape, x.layout, !x.needs_gradient && builder.has_trainable());
  if (x.needs_gradient) {
    y.gradient = x.gradient;
    y.needs_gradient = true;
  }
  if (pixels) {
    const auto channels = static_cast<std::size_t>(x.shape.back());
    const auto floats = [&] { return builder.floats(channels); };
    const auto doubles = [&] { return reinterpret_cast<double*>(builder.floats(2 * channels)); };
    const ImageNormalization::Memory memory{floats(), floats(),  floats(), floats(),
                                            floats(), doubles(), doubles()};
    builder.add(std::make_unique<ImageNormalization>(x, y, settings, variables, memory));
  } else {
    const std::size_t f = x.features;
    const BatchNormalization::Memory memory{
        builder.floats(f), builder.floats(f), builder.floats(f),
        builder.floats(Builder::batch_floats(f, builder.batch()))};
    builder.add(std::make_unique<BatchNormalization>(x, y, settings, variables, memory));
  }
  builder.set_current(y);
}

}  // namespace neutra::training::fused
