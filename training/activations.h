#pragma once

#include <string>
#include <vector>

#include "training/torch.h"

namespace neutra {

/// An activation function of tf.keras 2.4; nullptr is linear.
using Activation = at::Tensor (*)(const at::Tensor&);

/// By canonical name. Throws input_error for one that isn't there.
Activation find_activation(const std::string& name);
std::vector<std::string> activation_names();

}  // namespace neutra
