#include <array>
#include <limits>
#include <utility>

#include "training/fused/builder.h"
#include "training/fused/layers/registry.h"

/// Activation and the activations that have a class of their own. Source: tf.keras 2.4
/// layers/advanced_activations.py and backend.py (relu, elu).
namespace neutra::training::fused {
namespace {

constexpr std::array<std::pair<const char*, Function>, 13> kNames{{
    {"linear", Function::kLinear},
    {"relu", Function::kRelu},
    {"elu", Function::kElu},
    {"selu", Function::kSelu},
    {"softplus", Function::kSoftplus},
    {"softsign", Function::kSoftsign},
    {"swish", Function::kSwish},
    {"gelu", Function::kGelu},
    {"tanh", Function::kTanh},
    {"sigmoid", Function::kSigmoid},
    {"exponential", Function::kExponential},
    {"hard_sigmoid", Function::kHardSigmoid},
    {"softmax", Function::kSoftmax},
}};

/// x and y share their gradient, and may share their values where that is computed from the output.
class Elementwise final : public Step {
 public:
  Elementwise(const Activation& f, const Tensor& x, const Tensor& y) : f_(f), x_(x), y_(y) {}
  void forward(const Pass& pass) override {
    table_.activate(f_, value_count(x_, pass), x_.values, y_.values);
  }
  void backward(const Pass& pass) override {
    if (!x_.needs_gradient) return;
    table_.differentiate(f_, value_count(x_, pass),
                         needs_input(f_.function) ? x_.values : y_.values, y_.gradient);
  }

 private:
  Activation f_;
  Tensor x_, y_;
  const KernelTable<float>& table_ = kernels();
};

class Softmax final : public Step {
 public:
  Softmax(const Tensor& x, const Tensor& y) : x_(x), y_(y) {}
  void forward(const Pass& pass) override {
    table_.softmax(x_.features, x_.values, y_.values, pass.lanes);
  }
  void backward(const Pass& pass) override {
    if (x_.needs_gradient) {
      table_.differentiate_softmax(x_.features, y_.values, y_.gradient, pass.lanes);
    }
  }

 private:
  Tensor x_, y_;
  const KernelTable<float>& table_ = kernels();
};

}  // namespace

Activation named_activation(const std::string& name) {
  for (const auto& [known, function] : kNames) {
    if (name == known) return {function, function == Function::kElu ? 1.0 : 0.0};
  }
  throw NotCovered{"activation " + name};
}

void add_activation(Builder& builder, const Activation& f, bool in_place) {
  if (f.function == Function::kLinear) return;
  Tensor x = builder.current();
  const bool softmax = f.function == Function::kSoftmax;
  if (softmax) {
    // Along the last axis of images it would need another kernel.
    if (x.shape.size() != 1) {
      throw NotCovered{"softmax over values of shape " + program::to_string(x.shape)};
    }
    if (x.layout == Layout::kRows) x = to_columns(builder);
  } else if (f.function == Function::kRelu && in_place && x.shape.size() == 3) {
    x.relu_due = true;
    builder.set_current(x);
    return;
  }
  Tensor y = x;
  if (needs_input(f.function) || !in_place) {
    y.values = builder.floats(Builder::batch_floats(x.features, builder.capacity()));
  }
  if (softmax) {
    builder.add(std::make_unique<Softmax>(x, y));
  } else {
    builder.add(std::make_unique<Elementwise>(f, x, y));
  }
  builder.set_current(y);
}

void settle_relu(Builder& builder) {
  Tensor x = builder.current();
  if (!x.relu_due) return;
  x.relu_due = false;
  builder.add(std::make_unique<Elementwise>(Activation{Function::kRelu}, x, x));
  builder.set_current(x);
}

void layers::activation(Builder& builder, const program::ResolvedLayer& layer) {
  add_activation(builder, named_activation(layer.config.at("activation")), false);
}
void layers::softmax(Builder& builder, const program::ResolvedLayer&) {
  add_activation(builder, {Function::kSoftmax}, false);
}
void layers::relu(Builder& builder, const program::ResolvedLayer& layer) {
  Activation f{Function::kGeneralRelu, number_or(layer.config, "negative_slope", 0),
               number_or(layer.config, "threshold", 0), std::numeric_limits<double>::infinity()};
  const Json max = layer.config.value("max_value", Json());
  if (max.is_number()) f.c = max.get<double>();
  if (f.b == 0 && !max.is_number()) {
    f = f.a == 0 ? Activation{Function::kRelu} : Activation{Function::kLeakyRelu, f.a};
  }
  add_activation(builder, f, false);
}
void layers::leaky_relu(Builder& builder, const program::ResolvedLayer& layer) {
  add_activation(builder, {Function::kLeakyRelu, number_or(layer.config, "alpha", 0.3)}, false);
}
void layers::elu(Builder& builder, const program::ResolvedLayer& layer) {
  const double alpha = number_or(layer.config, "alpha", 1);
  // The gradient is computed from the output, whose sign must be the input's.
  if (!(alpha > 0)) throw NotCovered{"ELU with alpha " + std::to_string(alpha)};
  add_activation(builder, {Function::kElu, alpha}, false);
}

}  // namespace neutra::training::fused
