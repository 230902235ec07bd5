#include "training/torch_build.h"

extern "C" const char* neutra_torch_build() { return neutra::training::kTorchBuild; }
