#pragma once

#include "training/fused/builder.h"

namespace neutra::training::fused {

/// How the first layer with variables wants its input: in rows where it is a product that goes to
/// sgemm or works on images.
Layout input_layout(const program::ResolvedProgram& program);

}  // namespace neutra::training::fused
