#include <algorithm>

#include "training/fused/images.h"
#include "training/fused/layers/registry.h"

namespace neutra::training::fused {
namespace {

class ZeroPadding final : public Step {
 public:
  ZeroPadding(std::size_t top, std::size_t left, const Tensor& x, const Tensor& y)
      : top_(top), left_(left), x_(x), y_(y) {}

  void forward(const Pass& pass) override {
    std::fill_n(y_.values, y_.features * pass.lanes.rows, 0.0f);
    for_lines(pass, [this](std::size_t from, std::size_t to, std::size_t count) {
      std::copy_n(x_.values + from, count, y_.values + to);
    });
  }
  void backward(const Pass& pass) override {
    if (!x_.needs_gradient) return;
    for_lines(pass, [this](std::size_t from, std::size_t to, std::size_t count) {
      std::copy_n(y_.gradient + to, count, x_.gradient + from);
    });
  }

 private:
  /// Calls visit(x's index, y's index, values) for each line of the image.
  template <typename Visit>
  void for_lines(const Pass& pass, Visit visit) {
    const auto extent = [](const Tensor& t, std::size_t axis) {
      return static_cast<std::size_t>(t.shape[axis]);
    };
    const std::size_t height = extent(x_, 0), width = extent(x_, 1), channels = extent(x_, 2);
    const std::size_t outer_height = extent(y_, 0), outer_width = extent(y_, 1);
    for (std::size_t row = 0; row < pass.lanes.rows; ++row) {
      for (std::size_t h = 0; h < height; ++h) {
        visit((row * height + h) * width * channels,
              ((row * outer_height + top_ + h) * outer_width + left_) * channels, width * channels);
      }
    }
  }

  std::size_t top_, left_;
  Tensor x_, y_;
};

}  // namespace

void layers::zero_padding_2d(Builder& builder, const program::ResolvedLayer& layer) {
  const auto padding = layer.config.at("padding").get<std::vector<std::vector<std::size_t>>>();
  const Tensor x = to_images(builder);
  const Tensor y = builder.tensor(layer.output_shape, Layout::kRows, x.needs_gradient);
  builder.add(std::make_unique<ZeroPadding>(padding[0][0], padding[1][0], x, y));
  builder.set_current(y);
}

}  // namespace neutra::training::fused
