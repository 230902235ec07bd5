#include "fl_adapters/registry.h"

#include "fl_adapters/messages.h"
#include "program/compiled_metrics.h"

namespace neutra::fl_adapters {

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

namespace {

/// A native tool stands for one that sees a script, which knows nothing of neutra's `metric`.
Tool of_the_script(const Tool& native) {
  Tool tool = native;
  tool.localise = [&native](const FaultyProgram& faulty, const LocaliseContext& context) {
    return native.localise({faulty.id, program::script_of(faulty.program)}, context);
  };
  return tool;
}

}  // namespace

const std::vector<const Tool*>& tools() {
  static const std::vector<const Tool*> list = [] {
    static std::vector<Tool> made;
    for (const Tool* native : {NEUTRA_TOOLS(NEUTRA_ADDRESS)})
      made.push_back(of_the_script(*native));
    std::vector<const Tool*> pointers;
    for (const Tool& tool : made) pointers.push_back(&tool);
    return pointers;
  }();
  return list;
}

std::vector<std::string> tool_names() {
  std::vector<std::string> names;
  for (const Tool* tool : tools()) names.push_back(tool->name);
  return names;
}

const Tool* find_tool(std::string_view name) {
  for (const Tool* tool : tools()) {
    if (tool->name == name) return tool;
  }
  return nullptr;
}

std::set<std::string> fault_types_of(const Tool& tool) {
  std::set<std::string> types;
  if (!tool.messages) return types;
  const MessageTable& table = tool.messages();
  for (const std::string& code : table.codes()) {
    const MessageKind& kind = table.kind(code);
    types.insert(kind.faults.begin(), kind.faults.end());
  }
  return types;
}

}  // namespace neutra::fl_adapters
