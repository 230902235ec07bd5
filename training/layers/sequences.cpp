#include "training/layers/module.h"
#include "training/layers/windows.h"

namespace neutra::training {
namespace {

/// What a module makes of sequences as images of one row.
class OverSequences final : public Module {
 public:
  OverSequences(program::Shape output, std::unique_ptr<Module> images)
      : output_(std::move(output)), images_(std::move(images)) {
    output_.insert(output_.begin(), -1);
  }
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor> weights,
                     const ForwardPass& pass) const override {
    return images_->forward(x.unsqueeze(1), weights, pass).reshape(output_);
  }
  std::string take_activation() override { return images_->take_activation(); }

 private:
  program::Shape output_;
  std::unique_ptr<Module> images_;
};

}  // namespace

std::unique_ptr<Module> over_sequences(
    const program::ResolvedLayer& layer,
    std::unique_ptr<Module> (*images)(const program::ResolvedLayer&)) {
  return std::make_unique<OverSequences>(layer.output_shape, images(as_image_layer(layer)));
}

}  // namespace neutra::training
