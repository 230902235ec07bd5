#include "fl_adapters/registry.h"

namespace neutra {

// One line for each tool, sorted by name; NAME.cpp defines the object NAME_tool.
#define NEUTRA_TOOLS(TOOL)              \
  TOOL(autotrainer)                     \
  TOOL(deepdiagnosis)                   \
  TOOL(deepfault_dstar)                 \
  TOOL(deepfault_ochiai)                \
  TOOL(deepfault_tarantula)             \
  TOOL(deepfd)                          \
  TOOL(deeplocalize)                    \
  TOOL(deepmufl_metallaxis1_ochiai_avg) \
  TOOL(deepmufl_metallaxis1_ochiai_max) \
  TOOL(deepmufl_metallaxis1_sbi_avg)    \
  TOOL(deepmufl_metallaxis1_sbi_max)    \
  TOOL(deepmufl_metallaxis2_ochiai_avg) \
  TOOL(deepmufl_metallaxis2_ochiai_max) \
  TOOL(deepmufl_metallaxis2_sbi_avg)    \
  TOOL(deepmufl_metallaxis2_sbi_max)    \
  TOOL(deepmufl_muse)                   \
  TOOL(neuralint)                       \
  TOOL(symptoms)                        \
  TOOL(thedeepchecker)                  \
  TOOL(umlaut)

#define NEUTRA_DECLARE(name) extern const Tool name##_tool;
#define NEUTRA_ADDRESS(name) &name##_tool,

NEUTRA_TOOLS(NEUTRA_DECLARE)

const std::vector<const Tool*>& tools() {
  static const std::vector<const Tool*> list{NEUTRA_TOOLS(NEUTRA_ADDRESS)};
  return list;
}

const Tool* find_tool(std::string_view name) {
  for (const Tool* tool : tools()) {
    if (tool->name == name) return tool;
  }
  return nullptr;
}

}  // namespace neutra
