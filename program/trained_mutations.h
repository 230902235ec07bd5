#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "program/layer_titles.h"

namespace neutra::program {

/// What steps of trained.mutations may change (docs/mutators/index.md, "Trained models"; their
/// fields: keras_names.json).

/// Has the layer a kernel of its own, whose weights steps change? Dense and Conv2D have.
bool has_kernel(const ResolvedLayer& layer);

/// Why the layer at a position can't be changed by a step, as the end of "found ...": "layer 4,
/// flatten (Flatten), which is neither Dense nor Conv2D"; "" where it can. Unknown shapes fit.
std::string trained_step_refusal(std::string_view op, const std::vector<ResolvedLayer>& layers,
                                 std::size_t position, const LayerTitles& titles);

}  // namespace neutra::program
