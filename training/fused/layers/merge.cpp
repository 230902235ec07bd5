#include <algorithm>
#include <numeric>

#include "program/layer.h"
#include "program/layers/merge.h"
#include "training/fused/layers/registry.h"

/// Layers that make one value of several. Rules and sources: training/layers/merge.cpp.
namespace neutra::training::fused {
namespace {

enum class Combine { kAdd, kSubtract, kMultiply, kMaximum, kMinimum };

/// One input after the other, broadcast.
class Pairwise final : public Step {
 public:
  /// `places`: of each input, for each feature of y the input's; empty where it is the same.
  Pairwise(Combine combine, float divisor, std::vector<Tensor> inputs, const Tensor& y,
           std::vector<std::vector<std::uint32_t>> places)
      : combine_(combine),
        divisor_(divisor),
        inputs_(std::move(inputs)),
        y_(y),
        places_(std::move(places)),
        from_(inputs_.size(), 0),
        broadcasts_(std::any_of(places_.begin(), places_.end(),
                                [](const auto& places) { return !places.empty(); })) {}

  void forward(const Pass& pass) override {
    for_runs(pass, [this](std::size_t to, std::size_t count) {
      float* y = y_.values + to;
      std::copy_n(x(0), count, y);
      for (std::size_t k = 1; k < inputs_.size(); ++k) {
        const float* other = x(k);
        for (std::size_t i = 0; i < count; ++i) y[i] = combined(y[i], other[i]);
      }
      if (divisor_ != 1) {
        for (std::size_t i = 0; i < count; ++i) y[i] /= divisor_;
      }
    });
  }

  void backward(const Pass& pass) override {
    if (!y_.needs_gradient) return;
    for (std::size_t k = 0; k < inputs_.size(); ++k) {
      const Tensor& input = inputs_[k];
      if (input.needs_gradient && !places_[k].empty()) {
        std::fill_n(input.gradient, value_count(input, pass), 0.0f);
      }
    }
    for_runs(pass, [this](std::size_t to, std::size_t count) {
      const float* dy = y_.gradient + to;
      for (std::size_t k = 0; k < inputs_.size(); ++k) {
        if (!inputs_[k].needs_gradient) continue;
        float* dx = inputs_[k].gradient + from_[k];
        if (places_[k].empty()) {
          for (std::size_t i = 0; i < count; ++i) dx[i] = slope(k, i, dy[i]);
        } else {
          for (std::size_t i = 0; i < count; ++i) dx[i] += slope(k, i, dy[i]);
        }
      }
    });
  }

 private:
  const float* x(std::size_t k) const { return inputs_[k].values + from_[k]; }

  float combined(float a, float b) const {
    switch (combine_) {
      case Combine::kAdd:
        return a + b;
      case Combine::kSubtract:
        return a - b;
      case Combine::kMultiply:
        return a * b;
      default:
        return keeps(a, b) ? a : b;
    }
  }
  /// Is the first of two the maximum or minimum? NaN stays.
  bool keeps(float a, float b) const {
    return (combine_ == Combine::kMaximum ? a >= b : a <= b) || a != a;
  }

  /// What input k's value i of a run gets of the gradient `dy`.
  float slope(std::size_t k, std::size_t i, float dy) const {
    switch (combine_) {
      case Combine::kAdd:
        return dy / divisor_;
      case Combine::kSubtract:
        return k == 0 ? dy : -dy;
      case Combine::kMultiply: {
        float others = dy;
        for (std::size_t j = 0; j < inputs_.size(); ++j) {
          if (j != k) others *= x(j)[i];
        }
        return others;
      }
      default: {
        std::size_t winner = 0;
        for (std::size_t j = 1; j < inputs_.size(); ++j) {
          if (!keeps(x(winner)[i], x(j)[i])) winner = j;
        }
        return winner == k ? dy : 0.0f;
      }
    }
  }

  /// Calls visit(begin in y, values) for runs of values that are consecutive in all tensors; from_
  /// has where they begin in the inputs.
  template <typename Visit>
  void for_runs(const Pass& pass, Visit visit) {
    if (!broadcasts_) {
      std::fill(from_.begin(), from_.end(), std::size_t{0});
      return visit(std::size_t{0}, value_count(y_, pass));
    }
    const bool columns = y_.layout == Layout::kColumns;
    const std::size_t unit = columns ? pass.lanes.stride : 1, rows = columns ? 1 : pass.lanes.rows;
    for (std::size_t b = 0; b < rows; ++b) {
      for (std::size_t f = 0; f < y_.features; ++f) {
        for (std::size_t k = 0; k < inputs_.size(); ++k) {
          const std::size_t place = places_[k].empty() ? f : places_[k][f];
          from_[k] = (b * inputs_[k].features + place) * unit;
        }
        visit((b * y_.features + f) * unit, unit);
      }
    }
  }

  Combine combine_;
  float divisor_;
  std::vector<Tensor> inputs_;
  Tensor y_;
  std::vector<std::vector<std::uint32_t>> places_;
  std::vector<std::size_t> from_;
  bool broadcasts_;
};

class Concatenation final : public Step {
 public:
  /// `outer`: places before the axis; `blocks`: of each input, features from there on.
  Concatenation(std::vector<Tensor> inputs, const Tensor& y, std::size_t outer,
                std::vector<std::size_t> blocks)
      : inputs_(std::move(inputs)), y_(y), outer_(outer), blocks_(std::move(blocks)) {}

  void forward(const Pass& pass) override {
    for_blocks(pass, [this](std::size_t k, std::size_t from, std::size_t to, std::size_t count) {
      std::copy_n(inputs_[k].values + from, count, y_.values + to);
    });
  }
  void backward(const Pass& pass) override {
    if (!y_.needs_gradient) return;
    for_blocks(pass, [this](std::size_t k, std::size_t from, std::size_t to, std::size_t count) {
      if (inputs_[k].needs_gradient) {
        std::copy_n(y_.gradient + to, count, inputs_[k].gradient + from);
      }
    });
  }

 private:
  template <typename Visit>
  void for_blocks(const Pass& pass, Visit visit) {
    const bool columns = y_.layout == Layout::kColumns;
    const std::size_t unit = columns ? pass.lanes.stride : 1, rows = columns ? 1 : pass.lanes.rows;
    const std::size_t whole = std::accumulate(blocks_.begin(), blocks_.end(), std::size_t{0});
    for (std::size_t line = 0; line < rows * outer_; ++line) {
      std::size_t to = line * whole;
      for (std::size_t k = 0; k < inputs_.size(); ++k) {
        visit(k, line * blocks_[k] * unit, to * unit, blocks_[k] * unit);
        to += blocks_[k];
      }
    }
  }

  std::vector<Tensor> inputs_;
  Tensor y_;
  std::size_t outer_;
  std::vector<std::size_t> blocks_;
};

/// The inputs, all in one layout.
std::vector<Tensor> aligned_inputs(Builder& builder, const program::ResolvedLayer& layer) {
  std::vector<Tensor> inputs = builder.inputs();
  const bool alike = std::all_of(inputs.begin(), inputs.end(), [&](const Tensor& input) {
    return input.layout == inputs.front().layout;
  });
  if (alike) return inputs;
  const Layout wanted = layer.output_shape.size() > 1 ? Layout::kRows : Layout::kColumns;
  for (Tensor& input : inputs) {
    if (input.layout == wanted) continue;
    builder.select({input});
    input = wanted == Layout::kRows ? to_rows(builder) : to_columns(builder);
  }
  return inputs;
}

Tensor output_tensor(Builder& builder, const program::ResolvedLayer& layer,
                     const std::vector<Tensor>& inputs) {
  const bool needs_gradient =
      std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return x.needs_gradient; });
  return builder.tensor(layer.output_shape, inputs.front().layout, needs_gradient);
}

void add_pairwise(Builder& builder, const program::ResolvedLayer& layer, Combine combine,
                  bool mean = false) {
  std::vector<Tensor> inputs = aligned_inputs(builder, layer);
  const Tensor y = output_tensor(builder, layer, inputs);
  std::vector<std::vector<std::uint32_t>> places;
  for (const Tensor& input : inputs) {
    program::Shape extents(layer.output_shape.size() - input.shape.size(), 1);
    extents.insert(extents.end(), input.shape.begin(), input.shape.end());
    places.push_back(input.features == y.features ? std::vector<std::uint32_t>()
                                                  : broadcast_places(layer.output_shape, extents));
  }
  const float divisor = mean ? static_cast<float>(inputs.size()) : 1.0f;
  builder.add(
      std::make_unique<Pairwise>(combine, divisor, std::move(inputs), y, std::move(places)));
  builder.set_current(y);
}

}  // namespace

void layers::add(Builder& builder, const program::ResolvedLayer& layer) {
  add_pairwise(builder, layer, Combine::kAdd);
}
void layers::average(Builder& builder, const program::ResolvedLayer& layer) {
  add_pairwise(builder, layer, Combine::kAdd, true);
}
void layers::maximum(Builder& builder, const program::ResolvedLayer& layer) {
  add_pairwise(builder, layer, Combine::kMaximum);
}
void layers::minimum(Builder& builder, const program::ResolvedLayer& layer) {
  add_pairwise(builder, layer, Combine::kMinimum);
}
void layers::multiply(Builder& builder, const program::ResolvedLayer& layer) {
  add_pairwise(builder, layer, Combine::kMultiply);
}
void layers::subtract(Builder& builder, const program::ResolvedLayer& layer) {
  add_pairwise(builder, layer, Combine::kSubtract);
}

void layers::concatenate(Builder& builder, const program::ResolvedLayer& layer) {
  std::vector<Tensor> inputs = aligned_inputs(builder, layer);
  const Tensor y = output_tensor(builder, layer, inputs);
  const auto axis = static_cast<std::ptrdiff_t>(
      program::concatenation_axis(layer.config, layer.output_shape.size()));
  const program::Shape before(layer.output_shape.begin(), layer.output_shape.begin() + axis);
  std::vector<std::size_t> blocks;
  for (const Tensor& input : inputs) {
    blocks.push_back(static_cast<std::size_t>(
        program::element_count({input.shape.begin() + axis, input.shape.end()})));
  }
  builder.add(std::make_unique<Concatenation>(
      std::move(inputs), y, static_cast<std::size_t>(program::element_count(before)),
      std::move(blocks)));
  builder.set_current(y);
}

}  // namespace neutra::training::fused
