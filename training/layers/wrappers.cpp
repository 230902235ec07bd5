#include "program/layer.h"
#include "training/layers/module.h"
#include "training/variables.h"

/// Layers that run other ones. Source: tf.keras 2.4 layers/wrappers.py.
namespace neutra::training {
namespace {

using at::Tensor;

/// The layer on each step alone: on rows times steps rows.
class TimeDistributed final : public Module {
 public:
  explicit TimeDistributed(const program::ResolvedLayer& layer)
      : module_(make_module(program::wrapped_layers(layer).front())) {}

  Tensor forward(const Tensor& x, std::span<Tensor> weights,
                 const ForwardPass& pass) const override {
    ForwardPass own = pass;
    own.mask = at::Tensor();
    const Tensor y = module_->forward(x.reshape(merged(x)), weights, own);
    std::vector<std::int64_t> extents = y.sizes().vec();
    extents.front() = x.size(1);
    extents.insert(extents.begin(), x.size(0));
    return y.reshape(extents);
  }

 private:
  static std::vector<std::int64_t> merged(const Tensor& x) {
    std::vector<std::int64_t> extents = x.sizes().vec();
    extents.erase(extents.begin());
    extents.front() *= x.size(0);
    return extents;
  }
  std::unique_ptr<Module> module_;
};

/// A recurrent layer forwards and one backwards. Keras gives masked steps of sequences zeros.
class Bidirectional final : public Module {
 public:
  explicit Bidirectional(const program::ResolvedLayer& layer)
      : merge_(layer.config.at("merge_mode")) {
    std::vector<program::ResolvedLayer> layers = program::wrapped_layers(layer);
    layers[1].index += kBackwardIndex;  // for random numbers of its own
    forward_weights_ = layers[0].weights.size();
    for (program::ResolvedLayer& one : layers) {
      sequences_ = flag_or(one.config, "return_sequences", false);
      one.config["zero_output_for_mask"] = sequences_;
    }
    forward_ = make_module(layers[0]);
    backward_ = make_module(layers[1]);
  }

  Tensor forward(const Tensor& x, std::span<Tensor> weights,
                 const ForwardPass& pass) const override {
    const Tensor a = forward_->forward(x, weights.first(forward_weights_), pass);
    Tensor b = backward_->forward(x, weights.subspan(forward_weights_), pass);
    if (sequences_) b = b.flip(1);
    if (merge_ == "concat") return at::cat({a, b}, -1);
    if (merge_ == "mul") return a * b;
    return merge_ == "sum" ? a + b : (a + b) / 2;
  }

 private:
  static constexpr int kBackwardIndex = 1 << 16;  ///< more layers than a program can have

  std::string merge_;
  std::unique_ptr<Module> forward_, backward_;
  std::size_t forward_weights_ = 0;
  bool sequences_ = false;
};

}  // namespace

std::unique_ptr<Module> module::time_distributed(const program::ResolvedLayer& layer) {
  return std::make_unique<TimeDistributed>(layer);
}
std::unique_ptr<Module> module::bidirectional(const program::ResolvedLayer& layer) {
  return std::make_unique<Bidirectional>(layer);
}

}  // namespace neutra::training
