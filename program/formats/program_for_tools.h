#pragma once

#include "program/program.h"

namespace neutra::program {

/// A program as tools get it: every field that can have more than one value, one spelling of
/// everything, and the shape of its rows where it is known. tf.keras 2.4 reads its model. Its hash
/// is that of `program`. Precondition: the program is valid.
Json program_for_tools(const Program& program, const DataInfo* data);

}  // namespace neutra::program
