#include "training/layers/module.h"

/// Layers that only change the shape.
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

}  // namespace neutra
