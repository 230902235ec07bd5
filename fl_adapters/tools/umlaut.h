#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fl_adapters/messages.h"

/// UMLAUT (Schoop, Huang and Hartmann, CHI 2021), after its public behaviour:
/// docs/methods/umlaut.md has every rule, and what `repaired` fixes.
namespace neutra::fl_adapters::umlaut {

/// Messages and thresholds: tools/umlaut.json.
const MessageTable& message_table();

/// The rules that look at the model, before the training. Precondition: the program is valid.
/// `data`: of its rows, for what the repaired tool may ask.
std::vector<ToolMessage> check_program(const program::Program& program, ToolVariant variant,
                                       std::optional<program::DataInfo> data = std::nullopt);

/// The input that the tool looks at.
struct Input {
  program::Shape row;      ///< extents of one row
  float min = 0, max = 0;  ///< NaN where there is a NaN, as NumPy's
  bool floating = true;
};
/// Of rows of this shape: all their values, one row after the other. Precondition: there is one.
Input summary(const program::Shape& row, std::span<const float> values);

/// What the tool knows after an epoch.
struct Epoch {
  std::int64_t number = 0;             ///< from 0
  std::map<std::string, double> logs;  ///< Keras's: "loss", "val_loss", "accuracy", "val_accuracy"
  std::map<std::string, double> previous;  ///< logs of the epoch before; empty in the first
  Input input;
  double learning_rate = 0;  ///< as compiled
};
/// The rules for the end of an epoch, in the tool's order. A rule whose quantity isn't logged says
/// nothing.
std::vector<ToolMessage> check_epoch(const Epoch& epoch);

}  // namespace neutra::fl_adapters::umlaut
