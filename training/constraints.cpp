#include "training/constraints.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "program/layer.h"

namespace neutra::training {
namespace {

constexpr float kEpsilon = 1e-7F;  ///< keras.backend.epsilon()

/// The number of the vector that each element belongs to, where vectors run along `axes`, or along
/// all if that is null.
std::vector<std::uint32_t> vectors_along(const Json& axes, const program::Shape& shape) {
  std::set<std::size_t> along;
  for (const Json& axis : axes) {
    const std::int64_t at = axis;
    along.insert(
        static_cast<std::size_t>(at < 0 ? at + static_cast<std::int64_t>(shape.size()) : at));
  }
  std::vector<std::int64_t> step(shape.size(), 0);
  std::int64_t count = 1;
  for (std::size_t i = shape.size(); i-- > 0;) {
    if (axes.is_null() || along.contains(i)) continue;
    step[i] = count;
    count *= shape[i];
  }
  std::vector<std::uint32_t> numbers(static_cast<std::size_t>(program::element_count(shape)));
  program::Shape index(shape.size());
  std::int64_t at = 0;
  for (std::uint32_t& number : numbers) {
    number = static_cast<std::uint32_t>(at);
    for (std::size_t i = shape.size(); i-- > 0;) {
      at += step[i];
      if (++index[i] < shape[i]) break;
      at -= step[i] * shape[i];
      index[i] = 0;
    }
  }
  return numbers;
}

}  // namespace

Constraints::Constraints(const program::ResolvedProgram& program, const Weights& weights) {
  for (std::size_t i = 0; i < program.layers.size(); ++i) {
    const program::ResolvedLayer& layer = program.layers[i];
    for (std::size_t k = 0; !layer.weights_of && k < layer.weights.size(); ++k) {
      const Json constraint = program::constraint_of(layer.config, layer.weights[k]);
      const Weights::Variable& variable = weights.of_layer(i)[k];
      if (!constraint.is_object() || !variable.updated) continue;
      One one{variable.extent, constraint.at("class_name") == "NonNeg", {}, {}, 0};
      if (!one.not_negative) {
        const Json& config = constraint.at("config");
        const bool unit = constraint.at("class_name") == "UnitNorm";
        one.norm = {unit ? 1 : number_or(config, "min_value", 0),
                    unit ? 1 : config.at("max_value").get<double>(), number_or(config, "rate", 1)};
        one.vector = vectors_along(config.at("axis"), variable.shape);
        one.vectors = *std::max_element(one.vector.begin(), one.vector.end()) + std::size_t{1};
      }
      all_.push_back(std::move(one));
    }
  }
}

void Constraints::apply(std::span<float> weights) {
  for (const One& one : all_) {
    const std::span<float> w = one.extent.of(weights);
    if (one.not_negative) {
      for (float& value : w) value *= value >= 0 ? 1.0F : 0.0F;  // NaN stays
      continue;
    }
    squares_.assign(one.vectors, 0);
    for (std::size_t i = 0; i < w.size(); ++i) {
      squares_[one.vector[i]] += static_cast<double>(w[i]) * static_cast<double>(w[i]);
    }
    scales_.resize(one.vectors);
    for (std::size_t v = 0; v < one.vectors; ++v) {
      const auto norm = static_cast<float>(std::sqrt(squares_[v]));
      const auto least = static_cast<float>(one.norm.least),
                 most = static_cast<float>(one.norm.most), rate = static_cast<float>(one.norm.rate);
      // As K.clip: the maximum with the least comes last only where that is larger.
      const float clipped = std::min(std::max(norm, least), std::max(most, least));
      scales_[v] = (rate * clipped + (1 - rate) * norm) / (kEpsilon + norm);
    }
    for (std::size_t i = 0; i < w.size(); ++i) w[i] *= scales_[one.vector[i]];
  }
}

}  // namespace neutra::training
