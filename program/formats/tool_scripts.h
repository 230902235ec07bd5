#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/formats/keras_script.h"
#include "program/program.h"

namespace neutra::program {

/// Scripts as published fault-localisation tools want them.
struct ToolScript {
  std::string name;   ///< "umlaut", ...
  std::string about;  ///< one line for people
  /// Throws input_error for what the tool can't read or Keras can't do.
  std::string (*write)(const Program& program, const KerasScriptOptions& options);
};

/// "deepdiagnosis", "keras" (no tool's), "neuralint", "umlaut".
const std::vector<ToolScript>& tool_scripts();
/// By name; nullptr for an unknown one.
const ToolScript* find_tool_script(std::string_view name);

}  // namespace neutra::program
