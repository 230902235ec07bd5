#pragma once

#include "program/parameters.h"

namespace neutra::program {

/// What the keys of a space are in another program, which need not be one of that space. Keys
/// without a spelling for their value are left out, and those of layers where the two programs have
/// other layers.
Parameters values_in(const ProgramSpace& space, const Program& program);

}  // namespace neutra::program
