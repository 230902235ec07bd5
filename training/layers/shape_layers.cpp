#include "training/layers/module.h"

/// Layers that only move values.
namespace neutra {
namespace {

class Identity final : public Module {
 public:
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>, const Pass&) const override {
    return x;
  }
  bool is_identity() const override { return true; }
};

class Reshape final : public Module {
 public:
  explicit Reshape(const Shape& shape) : extents_{-1} {
    extents_.insert(extents_.end(), shape.begin(), shape.end());
  }
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>, const Pass&) const override {
    return x.reshape(extents_);
  }

 private:
  std::vector<std::int64_t> extents_;
};

class ZeroPadding2D final : public Module {
 public:
  explicit ZeroPadding2D(const ResolvedLayer& layer)
      : padding_(layer.config.at("padding").get<std::vector<Shape>>()) {}
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>, const Pass&) const override {
    const Shape &height = padding_[0], &width = padding_[1];
    return at::constant_pad_nd(x, {0, 0, width[0], width[1], height[0], height[1]});
  }

 private:
  std::vector<Shape> padding_;  ///< {{top, bottom}, {left, right}}
};

}  // namespace

std::unique_ptr<Module> module::input_layer(const ResolvedLayer&) {
  return std::make_unique<Identity>();
}
std::unique_ptr<Module> module::flatten(const ResolvedLayer& layer) {
  return std::make_unique<Reshape>(layer.output_shape);
}
std::unique_ptr<Module> module::reshape(const ResolvedLayer& layer) {
  return std::make_unique<Reshape>(layer.output_shape);
}
std::unique_ptr<Module> module::zero_padding_2d(const ResolvedLayer& layer) {
  return std::make_unique<ZeroPadding2D>(layer);
}

}  // namespace neutra
