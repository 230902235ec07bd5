#pragma once

#include <optional>
#include <string>
#include <vector>

#include "fl_adapters/messages.h"

/// NeuraLint (Nikanjam, Braiek, Morovati and Khomh, TOSEM 2021), after its public behaviour:
/// docs/methods/neuralint.md has every rule, which ones no Keras program can break, and what
/// `repaired` fixes.
namespace neutra::fl_adapters::neuralint {

/// Messages and thresholds: tools/neuralint.json.
const MessageTable& message_table();

/// Is it one of the messages on the activation of the last layer? They are about the learner in the
/// tool's words. The study drops them where that layer is a softmax already.
bool asks_for_activation(const std::string& code);

/// Why the tool can't read the program; nullopt: it can.
std::optional<std::string> unreadable(const program::Program& program, ToolVariant variant);

/// The layers as the tool counts them: element k - 1 is the index over config.layers of its layer
/// k. An activation is a layer of its own; layers that the tool doesn't know are left out.
/// Precondition: unreadable() is empty.
std::vector<int> layer_numbers(const program::Program& program, ToolVariant variant);

/// All rules: those on the learner, on the architecture, on each layer, by code. Looks at the
/// document alone, which need not be a program that Keras accepts. Precondition: unreadable() is
/// empty.
/// `data`: of its rows, where they are known; the size of a label is theirs.
std::vector<ToolMessage> check_program(const program::Program& program, ToolVariant variant,
                                       std::optional<program::DataInfo> data = std::nullopt);

}  // namespace neutra::fl_adapters::neuralint
