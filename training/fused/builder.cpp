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

/// The gradient of a value that several layers take: the sum of theirs.
class Fork final : public Step {
 public:
  Fork(const Tensor& x, std::vector<const float*> gradients)
      : x_(x), gradients_(std::move(gradients)) {}
  void forward(const Pass&) override {}
  void backward(const Pass& pass) override {
    const std::size_t count = value_count(x_, pass);
    std::copy_n(gradients_.front(), count, x_.gradient);
    for (std::size_t k = 1; k < gradients_.size(); ++k) {
      for (std::size_t i = 0; i < count; ++i) x_.gradient[i] += gradients_[k][i];
    }
  }

 private:
  Tensor x_;
  std::vector<const float*> gradients_;
};

Tensor transpose(Builder& builder, Layout layout) {
  const Tensor x = builder.current();
  const Tensor y = builder.tensor(x.shape, layout, x.needs_gradient);
  builder.add(std::make_unique<Transpose>(x, y));
  builder.set_current(y);
  return y;
}

}  // namespace

/// The gradients of variables that several calls of a layer have: the sums of the calls'.
class Builder::SharedGradients final : public Step {
 public:
  void forward(const Pass&) override {}
  void backward(const Pass&) override {
    for (const Sum& sum : sums_) {
      float* to = sum.gradient;
      std::fill_n(to, sum.size, 0.0f);
      for (const float* call : sum.calls) {
        for (std::size_t i = 0; i < sum.size; ++i) to[i] += call[i];
      }
    }
  }
  /// Adds a call's gradient of variable k.
  void add(std::size_t k, float* gradient, std::size_t size, const float* call) {
    if (sums_.size() <= k) sums_.resize(k + 1);
    sums_[k].gradient = gradient;
    sums_[k].size = size;
    sums_[k].calls.push_back(call);
  }

 private:
  struct Sum {
    float* gradient = nullptr;
    std::size_t size = 0;  ///< 0: no call has a gradient
    std::vector<const float*> calls;
  };
  std::vector<Sum> sums_;
};

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

std::vector<Tensor> branch_out(Builder& builder, const std::vector<bool>& reached) {
  if (reached.size() == 1) return {builder.current()};
  settle_relu(builder);
  const Tensor x = builder.current();
  std::vector<Tensor> branches(reached.size(), x);
  std::vector<const float*> gradients;
  for (std::size_t k = 0; k < branches.size(); ++k) {
    Tensor& branch = branches[k];
    branch.needs_gradient = x.needs_gradient && reached[k];
    branch.gradient = nullptr;
    if (!branch.needs_gradient) continue;
    branch.gradient = builder.floats(Builder::batch_floats(x.features, builder.batch()));
    gradients.push_back(branch.gradient);
  }
  if (!gradients.empty()) builder.add(std::make_unique<Fork>(x, std::move(gradients)));
  return branches;
}

std::size_t value_count(const Tensor& tensor, const Pass& pass) {
  if (tensor.layout == Layout::kColumns) return tensor.features * pass.lanes.stride;
  const std::size_t width = kernels().width;
  return (tensor.features * pass.lanes.rows + width - 1) / width * width;
}

void Builder::begin_layer(std::size_t position, const program::ResolvedLayer& layer, bool reached) {
  position_ = variables_ = position;
  layer_ = &layer;
  reached_ = reached;
  own_gradients_.reset();
}

void Builder::select(std::vector<Tensor> inputs) {
  inputs_ = std::move(inputs);
  current_ = inputs_.front();
  selected_ = true;
}

void Builder::share_parameters(std::size_t owner) {
  variables_ = owner;
  SharedGradients*& sums = shared_[owner];
  if (sums == nullptr) {
    auto made = std::make_unique<SharedGradients>();
    sums = made.get();
    // Behind what the layer reads, so that its steps don't take what is before them over.
    steps_.push_back(std::move(made));
    selected_ = true;
  }
  own_gradients_.emplace();
  for (std::size_t k = 0; k < layer_->weights.size(); ++k) {
    const auto size = static_cast<std::size_t>(program::element_count(layer_->weights[k].shape));
    float* own = reached_ && layer_->weights[k].trainable ? floats(size) : nullptr;
    own_gradients_->push_back(own);
    if (weights_ == nullptr || own == nullptr) continue;
    const Weights::Variable& variable = weights_->of_layer(owner)[k];
    if (!variable.trainable || !variable.reached) continue;
    sums->add(k, variable.extent.of(weights_->gradients()).data(), size, own);
  }
}

Parameter Builder::parameter(std::size_t k) const {
  if (weights_ == nullptr) return {};
  const Weights::Variable& variable = weights_->of_layer(variables_)[k];
  const bool has_gradient = variable.trainable && variable.reached;
  float* gradient = !has_gradient    ? nullptr
                    : own_gradients_ ? (*own_gradients_)[k]
                                     : variable.extent.of(weights_->gradients()).data();
  return {variable.extent.of(weights_->all()).data(), gradient};
}

bool Builder::has_trainable() const {
  return reached_ && flag_or(layer_->config, "trainable", true) &&
         std::any_of(layer_->weights.begin(), layer_->weights.end(),
                     [](const program::Weight& weight) { return weight.trainable; });
}

bool Builder::take_sparse_input() {
  if (!steps_.empty() || !sparse_allowed_ ||
      current_.features < static_cast<std::size_t>(kSparseFeatures)) {
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
