#pragma once

#include <vector>

namespace neutra::program {

/// A model's variables by position in ResolvedProgram::layers, in Keras's order and layout.
using ModelWeights = std::vector<std::vector<std::vector<float>>>;

}  // namespace neutra::program
