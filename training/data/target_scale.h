#pragma once

#include <filesystem>
#include <vector>

#include "base/json.h"

namespace neutra::training {

/// What takes targets back to the scale that they had before data.preprocess, element by element of
/// a row: value * factor + offset. Empty: they have it.
struct TargetScale {
  std::vector<double> factor, offset;
};

/// Of the test rows of a `data` section. Reads the data; throws like load_dataset().
TargetScale target_scale(const Json& data, const std::vector<std::filesystem::path>& search_path);

}  // namespace neutra::training
