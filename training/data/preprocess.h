#pragma once

#include "base/json.h"
#include "training/data/table.h"
#include "training/data/target_scale.h"

namespace neutra::training {

/// Steps of `data.preprocess` (docs/formats/data.md). A source in one piece is processed before
/// `split` by the steps for both parts; steps for one part come after it. `scale`: takes the steps
/// that the targets of test rows went through, unless null. Throws input_error with the step's
/// place.
void preprocess(const Json& steps, RawData& data, bool after_split, TargetScale* scale = nullptr);

}  // namespace neutra::training
