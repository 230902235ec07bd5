#include "training/layers/module.h"
#include "training/variables.h"

/// Layers that go through the steps of sequences. Sources: tf.keras 2.4 layers/recurrent.py,
/// recurrent_v2.py.
namespace neutra::training {
namespace {

using at::Tensor;

Tensor apply(Activation f, const Tensor& x) { return f ? f(x) : x; }

/// Dropout masks: none, one for all gates, or one for each.
using GateMasks = std::vector<Tensor>;

/// Those of one pass. Keras draws masks in the loop over the steps: each step has its own, while
/// those of an unrolled loop are the same at all steps. With recurrent dropout, or `implementation`
/// 1, each gate has masks of its own, but for a layer that cuDNN could do (`like_cudnn`).
class Masks {
 public:
  Masks(const program::ResolvedLayer& layer, std::int64_t gates, bool like_cudnn)
      : rate_(static_cast<float>(number_or(layer.config, "dropout", 0))),
        recurrent_rate_(static_cast<float>(number_or(layer.config, "recurrent_dropout", 0))),
        unrolled_(flag_or(layer.config, "unroll", false)),
        index_(static_cast<std::uint32_t>(layer.index)) {
    const bool separate = recurrent_rate_ != 0 || number_or(layer.config, "implementation", 2) == 1;
    count_ = separate && !like_cudnn ? gates : 1;
  }

  /// Of inputs (rows, steps, features), to be multiplied with them.
  GateMasks of_inputs(const Tensor& x, const ForwardPass& pass) const {
    if (!pass.training || rate_ == 0) return {};
    return make({count_, x.size(0), unrolled_ ? 1 : x.size(1), x.size(2)}, rate_, stream(pass))
        .unbind(0);
  }
  /// Of states (rows, units), for each step.
  std::vector<GateMasks> of_states(std::int64_t steps, const Tensor& h,
                                   const ForwardPass& pass) const {
    std::vector<GateMasks> masks(static_cast<std::size_t>(steps));
    if (!pass.training || recurrent_rate_ == 0) return masks;
    RandomStream own = stream(pass);
    own.key = derived_key(own);
    const Tensor all =
        make({unrolled_ ? 1 : steps, count_, h.size(0), h.size(1)}, recurrent_rate_, own);
    for (std::int64_t t = 0; t < steps; ++t) {
      masks[static_cast<std::size_t>(t)] = all[unrolled_ ? 0 : t].unbind(0);
    }
    return masks;
  }

 private:
  RandomStream stream(const ForwardPass& pass) const {
    return {pass.key, Stream::kDropout, index_, pass.step};
  }
  static Tensor make(const std::vector<std::int64_t>& extents, float rate,
                     const RandomStream& stream) {
    const Tensor masks = at::empty(extents);
    fill_dropout_mask(stream, rate,
                      {masks.data_ptr<float>(), static_cast<std::size_t>(masks.numel())});
    return masks;
  }

  float rate_, recurrent_rate_;
  bool unrolled_;
  std::int64_t count_;
  std::uint32_t index_;
};

/// x kernel + bias where each gate has a mask of x of its own, or all have one, or none.
Tensor masked_product(const Tensor& x, const GateMasks& masks, const Tensor& kernel,
                      const Tensor& bias) {
  Tensor y;
  if (masks.empty()) {
    y = at::matmul(x, kernel);
  } else if (masks.size() == 1) {
    y = at::matmul(x * masks[0], kernel);
  } else {
    const auto parts = kernel.chunk(static_cast<std::int64_t>(masks.size()), 1);
    std::vector<Tensor> gates;
    for (std::size_t g = 0; g < masks.size(); ++g) {
      gates.push_back(at::matmul(x * masks[g], parts[g]));
    }
    y = at::cat(gates, -1);
  }
  return bias.defined() ? y + bias : y;
}

/// What the layers have in common: the part of the inputs, for all steps at once, and the steps.
class Recurrent : public Module {
 public:
  Recurrent(const program::ResolvedLayer& layer, std::int64_t gates, bool like_cudnn)
      : units_(layer.config.at("units")),
        activation_(find_activation(layer.config.at("activation"))),
        backwards_(flag_or(layer.config, "go_backwards", false)),
        sequences_(flag_or(layer.config, "return_sequences", false)),
        zeros_(flag_or(layer.config, "zero_output_for_mask", false)),
        masks_(layer, gates, like_cudnn) {}

  Tensor forward(const Tensor& x, std::span<Tensor> weights,
                 const ForwardPass& pass) const override {
    const std::int64_t rows = x.size(0), steps = x.size(1);
    State state;
    state.kernel = weights[1];
    state.bias = recurrent_bias(weights);
    state.h = state.c = at::zeros({rows, units_});
    const std::vector<GateMasks> masks = masks_.of_states(steps, state.h, pass);
    const Tensor inputs =
        masked_product(x, masks_.of_inputs(x, pass), weights[0], input_bias(weights));
    Tensor output;
    std::vector<Tensor> outputs;
    for (std::int64_t t = 0; t < steps; ++t) {
      const std::int64_t place = backwards_ ? steps - 1 - t : t;
      const Tensor h = state.h, c = state.c;
      state.masks = masks[static_cast<std::size_t>(t)];
      step(inputs.select(1, place), state);
      output = state.h;
      if (pass.mask.defined()) {
        // A step that doesn't count leaves states and output as they were.
        const Tensor counts = pass.mask.select(1, place).unsqueeze(-1);
        if (zeros_) output = at::where(counts, state.h, at::zeros_like(h));
        state.h = at::where(counts, state.h, h);
        state.c = at::where(counts, state.c, c);
        if (!zeros_) output = state.h;
      }
      if (sequences_) outputs.push_back(output);
    }
    return sequences_ ? at::stack(outputs, 1) : output;
  }

 protected:
  struct State {
    Tensor kernel, bias;  ///< recurrent ones
    Tensor h, c;
    GateMasks masks;  ///< of h
    Tensor product() const { return masked_product(h, masks, kernel, bias); }
  };
  /// `x`: the inputs' part (rows, gates times units) of one step.
  virtual void step(const Tensor& x, State& state) const = 0;
  virtual Tensor input_bias(std::span<Tensor> weights) const {
    if (weights.size() < 3) return {};
    return weights[2].dim() == 2 ? weights[2].sum(0) : weights[2];  // two_biases
  }
  virtual Tensor recurrent_bias(std::span<Tensor>) const { return {}; }
  Tensor activate(const Tensor& x) const { return apply(activation_, x); }

  std::int64_t units_;

 private:
  Activation activation_;
  bool backwards_, sequences_;
  bool zeros_;  ///< the output of a step that doesn't count is 0, not that of the step before
  Masks masks_;
};

/// Could cuDNN do the layer?
bool like_cudnn(const program::ResolvedLayer& layer) {
  const Json& config = layer.config;
  return config.at("activation") == "tanh" && config.at("recurrent_activation") == "sigmoid" &&
         number_or(config, "recurrent_dropout", 0) == 0 && !flag_or(config, "unroll", false) &&
         flag_or(config, "use_bias", true) && flag_or(config, "reset_after", true);
}

/// h = activation(x + h recurrent_kernel).
class SimpleRnn final : public Recurrent {
 public:
  explicit SimpleRnn(const program::ResolvedLayer& layer) : Recurrent(layer, 1, false) {}

 private:
  void step(const Tensor& x, State& s) const override { s.h = activate(x + s.product()); }
};

/// c = f c + i activation(z), h = o activation(c), with gates i, f, z, o in this order.
class Lstm final : public Recurrent {
 public:
  explicit Lstm(const program::ResolvedLayer& layer)
      : Recurrent(layer, 4, like_cudnn(layer)),
        gate_(find_activation(layer.config.at("recurrent_activation"))) {}

 private:
  void step(const Tensor& x, State& s) const override {
    const std::vector<Tensor> z = (x + s.product()).chunk(4, -1);
    s.c = apply(gate_, z[1]) * s.c + apply(gate_, z[0]) * activate(z[2]);
    s.h = apply(gate_, z[3]) * activate(s.c);
  }
  Activation gate_;
};

/// h = z h + (1 - z) activation(x + r (h recurrent_kernel)), with gates z, r, and the candidate.
/// With reset_after the candidate's product has a bias of its own, and r is multiplied with it
/// afterwards; else h is multiplied with r before.
class Gru final : public Recurrent {
 public:
  explicit Gru(const program::ResolvedLayer& layer)
      : Recurrent(layer, 3, like_cudnn(layer)),
        gate_(find_activation(layer.config.at("recurrent_activation"))),
        after_(flag_or(layer.config, "reset_after", true)) {}

 private:
  void step(const Tensor& x, State& s) const override {
    const std::vector<Tensor> from_x = x.chunk(3, -1);
    std::vector<Tensor> from_h;
    if (after_) {
      from_h = s.product().chunk(3, -1);
    } else {
      GateMasks masks = s.masks;
      if (masks.size() > 1) masks.pop_back();
      from_h = masked_product(s.h, masks, s.kernel.narrow(1, 0, 2 * units_), {}).chunk(2, -1);
    }
    const Tensor z = apply(gate_, from_x[0] + from_h[0]);
    const Tensor r = apply(gate_, from_x[1] + from_h[1]);
    Tensor candidate;
    if (after_) {
      candidate = r * from_h[2];
    } else {
      const Tensor h = s.masks.empty() ? s.h : s.h * s.masks.back();
      candidate = at::mm(r * h, s.kernel.narrow(1, 2 * units_, units_));
    }
    s.h = z * s.h + (1 - z) * activate(from_x[2] + candidate);
  }
  Tensor input_bias(std::span<Tensor> weights) const override {
    return after_ && weights.size() > 2 ? weights[2].select(0, 0) : Recurrent::input_bias(weights);
  }
  Tensor recurrent_bias(std::span<Tensor> weights) const override {
    return after_ && weights.size() > 2 ? weights[2].select(0, 1) : Tensor();
  }
  Activation gate_;
  bool after_;
};

}  // namespace

std::unique_ptr<Module> module::simple_rnn(const program::ResolvedLayer& layer) {
  return std::make_unique<SimpleRnn>(layer);
}
std::unique_ptr<Module> module::lstm(const program::ResolvedLayer& layer) {
  return std::make_unique<Lstm>(layer);
}
std::unique_ptr<Module> module::gru(const program::ResolvedLayer& layer) {
  return std::make_unique<Gru>(layer);
}

}  // namespace neutra::training
