#include "training/activations.h"

#include <map>

#include <torch/csrc/autograd/custom_function.h>

#include "base/error.h"
#include "training/registry_names.h"

namespace neutra::training {
namespace {

using at::Tensor;

struct Relu : torch::autograd::Function<Relu> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x) {
    Tensor y = at::relu(x);
    context->save_for_backward({y});
    return y;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Tensor y = context->get_saved_variables().front().contiguous();
    const Tensor gradient = gradients.front().contiguous();
    Tensor result = at::empty_like(gradient);
    const float* from = gradient.data_ptr<float>();
    const float* on = y.data_ptr<float>();
    float* to = result.data_ptr<float>();
    const std::int64_t size = y.numel();  // a call in the loop would keep it from being vectorised
    for (std::int64_t i = 0; i < size; ++i) to[i] = from[i] * (on[i] > 0 ? 1.0f : 0.0f);
    return {result};
  }
};

/// By expm1, which keeps the digits near 0, and with TensorFlow's gradient, made of the output.
struct Elu : torch::autograd::Function<Elu> {
  static Tensor values(const Tensor& x, double alpha) {
    return at::where(x > 0, x, alpha * at::expm1(at::clamp_max(x, 0)));
  }
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x, double alpha) {
    Tensor y = values(x, alpha);
    context->save_for_backward({y});
    context->saved_data["alpha"] = alpha;
    return y;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Tensor y = context->get_saved_variables().front(), &dy = gradients.front();
    const double alpha = context->saved_data["alpha"].toDouble();
    return {at::where(y <= 0, (y + alpha) * dy, dy), Tensor()};
  }
};

/// With TensorFlow's gradient, dy / (1 + |x|)^2, which is 0 where x is infinite.
struct Softsign : torch::autograd::Function<Softsign> {
  static Tensor forward(torch::autograd::AutogradContext* context, const Tensor& x) {
    context->save_for_backward({x});
    return x / (x.abs() + 1);
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 torch::autograd::variable_list gradients) {
    const Tensor x = context->get_saved_variables().front();
    return {gradients.front() / at::square(x.abs() + 1)};
  }
};

/// Slope at 0 from the positive side, as TensorFlow has it.
Tensor selu(const Tensor& x) {
  constexpr double kScale = 1.0507009873554805, kAlpha = 1.6732632423543772;
  return at::where(x < 0, kScale * kAlpha * at::expm1(at::clamp_max(x, 0)), kScale * x);
}

/// Source of each: tf.keras 2.4 activations.py; gradients at kinks are TensorFlow's (relu 0 at 0,
/// clip 1 at its bounds).
const std::map<std::string, Activation>& registry() {
  static const std::map<std::string, Activation> kRegistry{
      {"linear", nullptr},
      {"relu", relu},
      {"elu", [](const Tensor& x) { return elu(x, 1); }},
      {"selu", selu},
      {"softplus", [](const Tensor& x) { return at::softplus(x); }},
      {"softsign",
       [](const Tensor& x) {
         return at::GradMode::is_enabled() ? Softsign::apply(x) : x / (x.abs() + 1);
       }},
      {"swish", [](const Tensor& x) { return at::silu(x); }},
      {"gelu", [](const Tensor& x) { return at::gelu(x); }},
      {"tanh", [](const Tensor& x) { return at::tanh(x); }},
      {"sigmoid", [](const Tensor& x) { return at::sigmoid(x); }},
      {"exponential", [](const Tensor& x) { return at::exp(x); }},
      {"hard_sigmoid", [](const Tensor& x) { return at::clamp(x * 0.2 + 0.5, 0, 1); }},
      {"softmax", [](const Tensor& x) { return at::softmax(x, -1); }},
  };
  return kRegistry;
}

}  // namespace

Tensor elu(const Tensor& x, double alpha) {
  // Elsewhere a negative alpha turns the output's sign.
  if (!(alpha > 0)) return Elu::values(x, alpha);
  return at::GradMode::is_enabled() ? Elu::apply(x, alpha) : Elu::values(x, alpha);
}

Tensor relu(const Tensor& x) { return at::GradMode::is_enabled() ? Relu::apply(x) : at::relu(x); }

Activation find_activation(const std::string& name) {
  const auto it = registry().find(name);
  if (it == registry().end()) throw input_error("activation " + name + " is not available yet");
  return it->second;
}

std::vector<std::string> activation_names() { return registry_names(registry()); }

}  // namespace neutra::training
