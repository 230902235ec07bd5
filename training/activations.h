#pragma once

#include <string>
#include <vector>

#include "training/torch.h"

namespace neutra::training {

/// An activation function of tf.keras 2.4; nullptr is linear.
using Activation = at::Tensor (*)(const at::Tensor&);

/// By canonical name. Throws input_error for one that isn't there.
Activation find_activation(const std::string& name);
/// The Keras names that there are, sorted.
std::vector<std::string> activation_names();

/// alpha (exp(x) - 1) below 0.
at::Tensor elu(const at::Tensor& x, double alpha);

/// TensorFlow's relu. Its gradient is gradient * (x > 0), so that NaN and infinity go through as
/// NaN where x <= 0; LibTorch's own gives 0 there and lets a program live whose weights Keras turns
/// into NaN (a row of zeros that a categorical cross entropy divides by their sum).
at::Tensor relu(const at::Tensor& x);

}  // namespace neutra::training
