#pragma once

#include "base/json.h"

namespace neutra::cli {

/// Versions, machine and build: for file headers and --version.
Json provenance();

}  // namespace neutra::cli
