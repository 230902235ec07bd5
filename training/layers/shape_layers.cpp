#include "training/layers/module.h"

/// Layers that only move values, or mix those of neighbours.
namespace neutra::training {
namespace {

class Identity final : public Module {
 public:
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass&) const override {
    return x;
  }
  bool is_identity() const override { return true; }
};

class Reshape final : public Module {
 public:
  explicit Reshape(const program::Shape& shape) : extents_{-1} {
    extents_.insert(extents_.end(), shape.begin(), shape.end());
  }
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass&) const override {
    return x.reshape(extents_);
  }

 private:
  std::vector<std::int64_t> extents_;
};

class ZeroPadding2D final : public Module {
 public:
  explicit ZeroPadding2D(const program::ResolvedLayer& layer)
      : padding_(layer.config.at("padding").get<std::vector<program::Shape>>()) {}
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass&) const override {
    const program::Shape &height = padding_[0], &width = padding_[1];
    return at::constant_pad_nd(x, {0, 0, width[0], width[1], height[0], height[1]});
  }

 private:
  std::vector<program::Shape> padding_;  ///< {{top, bottom}, {left, right}}
};

class Permute final : public Module {
 public:
  explicit Permute(const program::ResolvedLayer& layer) : axes_{0} {
    const program::Shape dims =
        layer.config.at("dims").get<program::Shape>();  // counted from 1, behind the batch
    axes_.insert(axes_.end(), dims.begin(), dims.end());
  }
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass&) const override {
    return x.permute(axes_).contiguous();
  }

 private:
  std::vector<std::int64_t> axes_;
};

class RepeatVector final : public Module {
 public:
  explicit RepeatVector(const program::ResolvedLayer& layer) : n_(layer.config.at("n")) {}
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass&) const override {
    return x.unsqueeze(1).repeat({1, n_, 1});
  }

 private:
  std::int64_t n_;
};

/// Steps all of whose features are the mask's value don't count and become zeros. Source: tf.keras
/// 2.4 layers/core.py.
class Masking final : public Module {
 public:
  explicit Masking(const program::ResolvedLayer& layer)
      : value_(static_cast<float>(layer.config.at("mask_value").get<double>())) {}
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass&) const override {
    return x * make_mask(x).unsqueeze(-1);
  }
  at::Tensor make_mask(const at::Tensor& x) const override { return x.ne(value_).any(-1); }

 private:
  float value_;
};

/// Larger images: each cell several times, or between the centres of neighbours by how near they
/// are. Source: tf.keras 2.4 backend.py, resize_images; TensorFlow's resize_bilinear_op.cc with
/// half pixel centers.
class UpSampling2D final : public Module {
 public:
  explicit UpSampling2D(const program::ResolvedLayer& layer)
      : size_(layer.config.at("size").get<program::Shape>()),
        bilinear_(layer.config.at("interpolation") == "bilinear") {}
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass&) const override {
    const std::int64_t height = x.size(1) * size_[0], width = x.size(2) * size_[1];
    if (bilinear_) {
      return at::upsample_bilinear2d(x.permute({0, 3, 1, 2}).contiguous(), {height, width}, false)
          .permute({0, 2, 3, 1})
          .contiguous();
    }
    return x.unsqueeze(2)
        .unsqueeze(4)
        .expand({x.size(0), x.size(1), size_[0], x.size(2), size_[1], x.size(3)})
        .reshape({x.size(0), height, width, x.size(3)});
  }

 private:
  program::Shape size_;
  bool bilinear_;
};

}  // namespace

std::unique_ptr<Module> module::up_sampling_2d(const program::ResolvedLayer& layer) {
  return std::make_unique<UpSampling2D>(layer);
}
std::unique_ptr<Module> module::input_layer(const program::ResolvedLayer&) {
  return std::make_unique<Identity>();
}
std::unique_ptr<Module> module::flatten(const program::ResolvedLayer& layer) {
  return std::make_unique<Reshape>(layer.output_shape);
}
std::unique_ptr<Module> module::reshape(const program::ResolvedLayer& layer) {
  return std::make_unique<Reshape>(layer.output_shape);
}
std::unique_ptr<Module> module::zero_padding_2d(const program::ResolvedLayer& layer) {
  return std::make_unique<ZeroPadding2D>(layer);
}
std::unique_ptr<Module> module::permute(const program::ResolvedLayer& layer) {
  return std::make_unique<Permute>(layer);
}
std::unique_ptr<Module> module::repeat_vector(const program::ResolvedLayer& layer) {
  return std::make_unique<RepeatVector>(layer);
}
std::unique_ptr<Module> module::masking(const program::ResolvedLayer& layer) {
  return std::make_unique<Masking>(layer);
}

}  // namespace neutra::training
