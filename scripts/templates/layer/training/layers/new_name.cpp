#include "training/layers/module.h"

namespace neutra::training {
namespace {

/// What it computes. Source: the file of tf.keras 2.4 that says so.
class NewName final : public Module {
 public:
  at::Tensor forward(const at::Tensor& x, std::span<at::Tensor>,
                     const ForwardPass&) const override {
    return x;
  }
};

}  // namespace

std::unique_ptr<Module> module::new_name(const program::ResolvedLayer&) {
  return std::make_unique<NewName>();
}

}  // namespace neutra::training
