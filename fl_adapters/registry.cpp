#include "fl_adapters/registry.h"

#include <utility>

#include "fl_adapters/messages.h"
#include "program/compiled_metrics.h"
#include "program/graph.h"

namespace neutra::fl_adapters {

// One line for each file or folder of tools/, sorted by name. It defines the function tools() in
// the namespace of its name.
#define NEUTRA_TOOLS(TOOL) \
  TOOL(autotrainer)        \
  TOOL(deepdiagnosis)      \
  TOOL(deepfault)          \
  TOOL(deepfd)             \
  TOOL(deeplocalize)       \
  TOOL(deepmufl)           \
  TOOL(neuralint)          \
  TOOL(pysiassist)         \
  TOOL(symptoms)           \
  TOOL(thedeepchecker)     \
  TOOL(umlaut)

#define NEUTRA_DECLARE(name) \
  namespace name {           \
  std::vector<Tool> tools(); \
  }
#define NEUTRA_ADDRESS(name) name::tools,

NEUTRA_TOOLS(NEUTRA_DECLARE)

namespace {

/// A native tool stands for one that sees a script, which knows nothing of neutra's `metric`.
Tool of_the_script(Tool tool) {
  tool.localise = [native = std::move(tool.localise), chains_only = tool.chains_only](
                      const FaultyProgram& faulty, const LocaliseContext& context) {
    if (chains_only && !program::is_chain(program::resolve(faulty.program).layers)) {
      Localisation none;
      none.faults.applicable = false;
      none.status = LocalisationStatus::kNotApplicable;
      none.reason = "the tool reads Sequential models, and this one's layers are no chain";
      return none;
    }
    FaultyProgram seen = faulty;
    seen.program = program::script_of(faulty.program);
    return native(seen, context);
  };
  return tool;
}

}  // namespace

const std::vector<const Tool*>& tools() {
  static const std::vector<Tool> made = [] {
    std::vector<Tool> all;
    for (const auto tools_of_file : {NEUTRA_TOOLS(NEUTRA_ADDRESS)}) {
      for (Tool& tool : tools_of_file()) all.push_back(of_the_script(std::move(tool)));
    }
    return all;
  }();
  static const std::vector<const Tool*> list = [] {
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
