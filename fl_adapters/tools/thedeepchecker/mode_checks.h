#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>

#include "fl_adapters/tools/thedeepchecker/messages.h"

/// During the training of the program: what dropout and batch normalisation change.
namespace neutra::fl_adapters::thedeepchecker {

/// Are outputs in training and in inference alike?
/// `train`, `inference`: outputs of one layer in both modes, row-major, for the same rows.
/// `dropouts`: layers that make the modes differ, and are to blame.
Messages check_modes(const Place& place, bool is_output, const std::set<int>& dropouts,
                     std::span<const float> train, std::span<const float> inference,
                     std::size_t rows, std::int64_t epoch, ToolVariant variant);
/// Are the losses of the same rows in both modes?
Messages check_mode_losses(const std::set<int>& dropouts, double train, double inference,
                           std::int64_t epoch);

}  // namespace neutra::fl_adapters::thedeepchecker
