#include "program/layers/scaling.h"

#include <algorithm>
#include <cmath>

#include "training/fused/builder.h"
#include "training/fused/layers/registry.h"

/// Rules and sources: training/layers/scaling.cpp.
namespace neutra::training::fused {
namespace {

/// Calls visit(value's index, feature) for all values of a batch.
template <typename Visit>
void for_values(const Tensor& tensor, const Pass& pass, Visit visit) {
  if (tensor.layout == Layout::kColumns) {
    for (std::size_t f = 0; f < tensor.features; ++f) {
      for (std::size_t b = 0; b < pass.lanes.stride; ++b) visit(f * pass.lanes.stride + b, f);
    }
    return;
  }
  for (std::size_t b = 0; b < pass.lanes.rows; ++b) {
    for (std::size_t f = 0; f < tensor.features; ++f) visit(b * tensor.features + f, f);
  }
}

/// How y comes from x and the numbers a and b of its feature.
enum class Formula : std::uint8_t {
  kScale,        ///< x a + b
  kNormalise,    ///< (x - b) / a
  kDenormalise,  ///< b + x a
};

/// The numbers of each feature are given, or made of statistics that are variables.
class Scaling final : public Step {
 public:
  struct Numbers {
    std::vector<float> a, b;
  };
  struct Statistics {
    Parameter mean, variance;
    std::vector<std::uint32_t> at;  ///< for each feature
  };
  Scaling(Formula formula, const Tensor& x, const Tensor& y, Numbers numbers, Statistics statistics)
      : formula_(formula),
        x_(x),
        y_(y),
        numbers_(std::move(numbers)),
        statistics_(std::move(statistics)) {}

  void forward(const Pass& pass) override {
    for (std::size_t f = 0; f < statistics_.at.size(); ++f) {
      numbers_.a[f] = deviation(statistics_.variance.values[statistics_.at[f]]);
      numbers_.b[f] = statistics_.mean.values[statistics_.at[f]];
    }
    const float *x = x_.values, *a = numbers_.a.data(), *b = numbers_.b.data();
    float* y = y_.values;
    if (formula_ == Formula::kNormalise) {
      for_values(x_, pass, [=](std::size_t i, std::size_t f) { y[i] = (x[i] - b[f]) / a[f]; });
    } else {
      for_values(x_, pass, [=](std::size_t i, std::size_t f) { y[i] = x[i] * a[f] + b[f]; });
    }
  }

  void backward(const Pass& pass) override {
    if (!x_.needs_gradient) return;
    const float *dy = y_.gradient, *a = numbers_.a.data();
    float* dx = x_.gradient;
    if (formula_ == Formula::kNormalise) {
      for_values(x_, pass, [=](std::size_t i, std::size_t f) { dx[i] = dy[i] / a[f]; });
    } else {
      for_values(x_, pass, [=](std::size_t i, std::size_t f) { dx[i] = dy[i] * a[f]; });
    }
  }

  static float deviation(float variance) {
    constexpr float kEpsilon = 1e-7F;  // keras.backend.epsilon()
    const float root = std::sqrt(variance);
    return root < kEpsilon ? kEpsilon : root;
  }

 private:
  Formula formula_;
  Tensor x_, y_;
  Numbers numbers_;
  Statistics statistics_;
};

void add_scaling(Builder& builder, Formula formula, Scaling::Numbers numbers,
                 Scaling::Statistics statistics = {}) {
  const Tensor x = builder.current();
  const Tensor y = builder.tensor(x.shape, x.layout, x.needs_gradient);
  builder.add(std::make_unique<Scaling>(formula, x, y, std::move(numbers), std::move(statistics)));
  builder.set_current(y);
}

}  // namespace

void layers::rescaling(Builder& builder, const program::ResolvedLayer& layer) {
  const std::size_t features = builder.current().features;
  const auto of = [&](const char* field) {
    const std::int64_t last = layer.input_shape.empty() ? 1 : layer.input_shape.back();
    const std::vector<float> row = program::spread(layer.config.at(field), last);
    std::vector<float> all(features);
    for (std::size_t f = 0; f < features; ++f) all[f] = row[f % row.size()];
    return all;
  };
  add_scaling(builder, Formula::kScale, {of("scale"), of("offset")});
}

void layers::normalization(Builder& builder, const program::ResolvedLayer& layer) {
  const program::Shape extents = program::statistics_extents(layer.config, layer.input_shape);
  const std::vector<std::uint32_t> at = broadcast_places(layer.input_shape, extents);
  const Formula formula =
      flag_or(layer.config, "invert", false) ? Formula::kDenormalise : Formula::kNormalise;
  Scaling::Numbers numbers{std::vector<float>(at.size()), std::vector<float>(at.size())};
  if (!layer.weights.empty()) {
    return add_scaling(builder, formula, std::move(numbers),
                       {builder.parameter(0), builder.parameter(1), at});
  }
  const auto count = static_cast<std::int64_t>(*std::max_element(at.begin(), at.end())) + 1;
  const std::vector<float> mean = program::spread(layer.config.at("mean"), count),
                           variance = program::spread(layer.config.at("variance"), count);
  for (std::size_t f = 0; f < at.size(); ++f) {
    numbers.a[f] = Scaling::deviation(variance[at[f]]);
    numbers.b[f] = mean[at[f]];
  }
  add_scaling(builder, formula, std::move(numbers));
}

}  // namespace neutra::training::fused
