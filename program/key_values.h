#pragma once

#include "program/parameters.h"

namespace neutra::program {

/// The values that a space's keys have in another program, which need not belong to that space.
/// Left out are keys that have no spelling for their value, and keys of layers where the two
/// programs differ in their layers.
Parameters values_in(const ProgramSpace& space, const Program& program);

}  // namespace neutra::program
