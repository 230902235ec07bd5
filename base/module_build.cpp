// Part of each module: what open_module() asks it for.

#include "base/module_build.h"

extern "C" const char* neutra_module_build() { return neutra::kModuleBuild; }
