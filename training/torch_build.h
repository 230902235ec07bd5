#pragma once

#include "neutra/build_info.h"

namespace neutra::training {

/// neutra_torch.so and the command that loads it must be of one build: they share classes.
inline constexpr const char* kTorchBuild = NEUTRA_VERSION
    " " NEUTRA_GIT_COMMIT " " NEUTRA_COMPILER " " NEUTRA_BUILD_TYPE " " NEUTRA_SANITIZERS;

}  // namespace neutra::training
