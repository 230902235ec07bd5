#include <algorithm>

#include "training/fused/builder.h"
#include "training/fused/layers/registry.h"

/// Rules and sources: training/layers/activation_layers.cpp.
namespace neutra::training::fused {
namespace {

class PRelu final : public Step {
 public:
  PRelu(const Tensor& x, const Tensor& y, Parameter alpha, std::vector<std::uint32_t> at)
      : x_(x),
        y_(y),
        alpha_(alpha),
        at_(std::move(at)),
        sums_(*std::max_element(at_.begin(), at_.end()) + std::size_t{1}) {}

  void forward(const Pass& pass) override {
    for_rows(pass, [this](std::size_t i, std::size_t f) {
      const float x = x_.values[i];
      y_.values[i] = x < 0 ? alpha_.values[at_[f]] * x : x;
    });
  }

  void backward(const Pass& pass) override {
    if (!y_.needs_gradient) return;
    std::fill(sums_.begin(), sums_.end(), 0.0);
    for_rows(pass, [this](std::size_t i, std::size_t f) {
      const float x = x_.values[i], dy = y_.gradient[i];
      if (x < 0) sums_[at_[f]] += static_cast<double>(dy) * x;
      if (x_.needs_gradient) {
        x_.gradient[i] = x > 0 ? dy : dy * (x < 0 ? alpha_.values[at_[f]] : 0.0F);
      }
    });
    if (alpha_.gradient == nullptr) return;
    std::transform(sums_.begin(), sums_.end(), alpha_.gradient,
                   [](double sum) { return static_cast<float>(sum); });
  }

 private:
  /// Calls visit(value's index, feature) for all values of the rows.
  template <typename Visit>
  void for_rows(const Pass& pass, Visit visit) {
    const bool columns = x_.layout == Layout::kColumns;
    for (std::size_t f = 0; columns && f < x_.features; ++f) {
      for (std::size_t b = 0; b < pass.lanes.rows; ++b) visit(f * pass.lanes.stride + b, f);
    }
    for (std::size_t b = 0; !columns && b < pass.lanes.rows; ++b) {
      for (std::size_t f = 0; f < x_.features; ++f) visit(b * x_.features + f, f);
    }
  }

  Tensor x_, y_;
  Parameter alpha_;
  std::vector<std::uint32_t> at_;  ///< for each feature, the place of its alpha
  std::vector<double> sums_;
};

}  // namespace

void layers::prelu(Builder& builder, const program::ResolvedLayer& layer) {
  const Tensor x = builder.current();
  const Tensor y = builder.tensor(x.shape, x.layout, x.needs_gradient || builder.has_trainable());
  builder.add(std::make_unique<PRelu>(x, y, builder.parameter(0),
                                      broadcast_places(layer.input_shape, layer.weights[0].shape)));
  builder.set_current(y);
}

}  // namespace neutra::training::fused
