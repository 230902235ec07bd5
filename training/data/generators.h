#pragma once

#include "base/json.h"
#include "training/data/table.h"

namespace neutra::training {

/// Source `generator`: synthetic data sets by `name`: linear, sine, blobs, xor, circles, moons
/// (docs/formats/data.md). The same arguments give the same rows everywhere. Throws input_error for
/// an unknown name or field.
RawData generate(const Json& arguments, Reading reading = Reading::kAll);

}  // namespace neutra::training
