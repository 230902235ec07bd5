#pragma once

#include <cmath>

#include "base/json.h"

namespace neutra {

/// NaN and infinity as null, which is what JSON has for them.
inline Json json_number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace neutra
