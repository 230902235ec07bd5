#pragma once

#include "program/json.h"
#include "program/parameters.h"

namespace neutra {

/// What `to` has otherwise than `from`: values by key, null for a key that it lacks.
Json changes(const Parameters& from, const Parameters& to);

}  // namespace neutra
