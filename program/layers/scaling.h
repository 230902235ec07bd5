#pragma once

#include <vector>

#include "program/program.h"

namespace neutra::program {

/// Numbers of a config, one or several, for `count` places: one is for all.
std::vector<float> spread(const Json& numbers, std::int64_t count);

/// The extents of a Normalization's statistics; {} for one number.
Shape statistics_shape(const Json& config, const Shape& input);
/// The extents of a Normalization's statistics where they meet an input: 1 along axes over which
/// they are taken.
Shape statistics_extents(const Json& config, const Shape& input);

}  // namespace neutra::program
