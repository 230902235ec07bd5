#include "training/activations.h"

#include <map>

#include "program/error.h"

namespace neutra {
namespace {

using at::Tensor;

/// Source of each: tf.keras 2.4 activations.py; gradients at kinks are TensorFlow's (relu 0 at 0,
/// clip 1 at its bounds).
const std::map<std::string, Activation>& registry() {
  static const std::map<std::string, Activation> kRegistry{
      {"linear", nullptr},
      {"relu", [](const Tensor& x) { return at::relu(x); }},
      {"elu", [](const Tensor& x) { return at::elu(x); }},
      {"selu", [](const Tensor& x) { return at::selu(x); }},
      {"softplus", [](const Tensor& x) { return at::softplus(x); }},
      {"softsign", [](const Tensor& x) { return x / (x.abs() + 1); }},
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

Activation find_activation(const std::string& name) {
  const auto it = registry().find(name);
  if (it == registry().end()) throw input_error("activation " + name + " is not available yet");
  return it->second;
}

std::vector<std::string> activation_names() {
  std::vector<std::string> names;
  for (const auto& [name, unused] : registry()) names.push_back(name);
  return names;
}

}  // namespace neutra
