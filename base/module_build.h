#pragma once

#include "neutra/build_info.h"

namespace neutra {

/// A module and the command that opens it must be of one build: they share classes.
inline constexpr const char* kModuleBuild = NEUTRA_VERSION
    " " NEUTRA_GIT_COMMIT " " NEUTRA_COMPILER " " NEUTRA_BUILD_TYPE " " NEUTRA_SANITIZERS;

}  // namespace neutra
