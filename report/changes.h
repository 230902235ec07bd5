#pragma once

#include "base/json.h"
#include "program/parameters.h"

namespace neutra::report {

/// What `to` has otherwise than `from`: values by key, null for a key that it lacks.
Json changes(const program::Parameters& from, const program::Parameters& to);

}  // namespace neutra::report
