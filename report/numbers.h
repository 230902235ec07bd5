#pragma once

#include <cmath>

#include "program/json.h"

namespace neutra {

/// What a report's document holds of a number: null for NaN and infinity, which JSON lacks.
inline Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

}  // namespace neutra
