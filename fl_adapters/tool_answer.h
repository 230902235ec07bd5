#pragma once

#include <string>

#include "fl_adapters/tool.h"

namespace neutra::fl_adapters {

/// Reads what an external tool answers about a program: docs/formats/answer.md. Layers and neurons
/// must be the program's. Throws input_error: `file`, place in it, what was found, what is allowed.
/// Faults and messages are filled in, the ranking sorted; seconds are not.
Localisation read_tool_answer(const Json& answer, const std::string& file,
                              const program::Program& program);

}  // namespace neutra::fl_adapters
