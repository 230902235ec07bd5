#pragma once

#include <string>
#include <vector>

#include "program/faults.h"

namespace neutra::experiments {

/// JSON pointers of the values that a fault is about, by its type and layers (fault_paths.json):
/// "/compile/loss" of LCH, ".../layers/0/config/activation" of ACH(0). Of fields of a layer those
/// that its document has, else the layer. A fault of layers that names none is about each layer
/// that has such a field. A layer that the document lacks is the last one: a missing layer (LRM) is
/// counted by the one in front of which it is missing. Empty for what is no value: faults of the
/// data and of trained models.
std::vector<std::string> paths_of(const program::FaultEntry& fault,
                                  const program::Program& program);

}  // namespace neutra::experiments
