#include "training/fused/builder.h"

#include <algorithm>
#include <utility>

#include "program/layer.h"

namespace neutra::training::fused {
namespace {

/// Rows to columns or columns to rows.
class Transpose final : public Step {
 public:
  Transpose(const Tensor& x, const Tensor& y) : x_(x), y_(y) {}
  void forward(const Pass& pass) override { move(x_.layout, x_.values, y_.values, pass.lanes); }
  void backward(const Pass& pass) override {
    if (x_.needs_gradient) move(y_.layout, y_.gradient, x_.gradient, pass.lanes);
  }

 private:
  void move(Layout layout, const float* from, float* to, Lanes lanes) {
    (layout == Layout::kRows ? table_.from_rows : table_.to_rows)(x_.features, from, to, lanes);
  }

  Tensor x_, y_;
  const KernelTable<float>& table_ = kernels();
};

Tensor transpose(Builder& builder, Layout layout) {
  const Tensor x = builder.current();
  const Tensor y = builder.tensor(x.shape, layout, x.needs_gradient);
  builder.add(std::make_unique<Transpose>(x, y));
  builder.set_current(y);
  return y;
}

}  // namespace

std::size_t Builder::batch_floats(std::size_t features, std::size_t rows) {
  constexpr std::size_t kLargestWidth = 16;
  return features * ((rows + kLargestWidth - 1) / kLargestWidth * kLargestWidth);
}

float* Builder::floats(std::size_t size) {
  float* at = memory_ ? memory_ + used_ : nullptr;
  used_ += whole_lines(size);
  return at;
}

Tensor Builder::tensor(const program::Shape& shape, Layout layout, bool needs_gradient) {
  Tensor made;
  made.shape = shape;
  made.features = static_cast<std::size_t>(program::element_count(shape));
  made.layout = layout;
  made.values = floats(batch_floats(made.features, capacity_));
  made.needs_gradient = needs_gradient;
  if (needs_gradient) made.gradient = floats(batch_floats(made.features, batch_));
  return made;
}

std::shared_ptr<const Scratch> Builder::scratch(std::size_t size) {
  scratch_->size = std::max(scratch_->size, size);
  return scratch_;
}

std::size_t value_count(const Tensor& tensor, const Pass& pass) {
  if (tensor.layout == Layout::kColumns) return tensor.features * pass.lanes.stride;
  const std::size_t width = kernels().width;
  return (tensor.features * pass.lanes.rows + width - 1) / width * width;
}

void Builder::begin_layer(std::size_t position, const program::ResolvedLayer& layer, bool reached) {
  position_ = position;
  layer_ = &layer;
  reached_ = reached;
}

Parameter Builder::parameter(std::size_t k) const {
  if (weights_ == nullptr) return {};
  const Weights::Variable& variable = weights_->of_layer(position_)[k];
  const bool has_gradient = variable.trainable && variable.reached;
  return {variable.extent.of(weights_->all()).data(),
          has_gradient ? variable.extent.of(weights_->gradients()).data() : nullptr};
}

bool Builder::has_trainable() const {
  return reached_ && flag_or(layer_->config, "trainable", true) &&
         std::any_of(layer_->weights.begin(), layer_->weights.end(),
                     [](const program::Weight& weight) { return weight.trainable; });
}

bool Builder::take_sparse_input() {
  if (!steps_.empty() || current_.features < static_cast<std::size_t>(kSparseFeatures)) {
    return false;
  }
  sparse_layer_ = position_;
  return true;
}

Tensor to_columns(Builder& builder) { return transpose(builder, Layout::kColumns); }
Tensor to_rows(Builder& builder) { return transpose(builder, Layout::kRows); }

std::vector<std::uint32_t> broadcast_places(const program::Shape& shape,
                                            const program::Shape& extents) {
  std::vector<std::uint32_t> places(static_cast<std::size_t>(program::element_count(shape)));
  for (std::size_t f = 0; f < places.size(); ++f) {
    auto rest = static_cast<std::int64_t>(f);
    std::int64_t place = 0, step = 1;
    for (std::size_t i = shape.size(); i-- > 0;) {
      if (extents[i] > 1) place += rest % shape[i] * step;
      step *= extents[i];
      rest /= shape[i];
    }
    places[f] = static_cast<std::uint32_t>(place);
  }
  return places;
}

void rename(Builder& builder, const program::Shape& shape) {
  Tensor tensor = builder.current();
  tensor.shape = shape;
  builder.set_current(std::move(tensor));
}

}  // namespace neutra::training::fused
