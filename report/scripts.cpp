#include "report/scripts.h"

#include "program/error.h"
#include "program/formats/keras_script.h"
#include "program/text_diff.h"

namespace neutra {
namespace {

using Lines = std::vector<std::string>;

Lines script_of(const Program& program) { return lines_of(keras_script(program, {})); }

/// Lines of the difference; null where the other one has no script.
Json difference(const Lines& buggy, const Program& program, const std::string& name) {
  if (keras_script_refusal(program)) return nullptr;
  return unified_diff(buggy, script_of(program), "buggy.py", name);
}

}  // namespace

Json scripts_json(const NetworkFile& loaded, std::size_t most) {
  if (!loaded.fault) return nullptr;
  const Fault& fault = *loaded.fault;
  Json scripts = {{"dialect", "tf_keras"},
                  {"refusal", nullptr},
                  {"buggy", nullptr},
                  {"fix", nullptr},
                  {"repairs", Json::object()}};
  if (const auto refusal = keras_script_refusal(fault.buggy)) {
    scripts["refusal"] = *refusal;
    return scripts;
  }
  const Lines buggy = script_of(fault.buggy);
  scripts["buggy"] = buggy;
  if (fault.fixed) {
    if (const auto refusal = keras_script_refusal(*fault.fixed)) scripts["refusal"] = *refusal;
    scripts["fix"] = difference(buggy, *fault.fixed, "fixed.py");
  }
  for (const RepairSize& repair : repairs_by_size(loaded.network, &fault)) {
    if (scripts["repairs"].size() == most) break;
    const std::string name = node_name(*repair.node);
    try {
      scripts["repairs"][name] = difference(buggy, fault.space.instantiate(repair.node->parameters),
                                            "program_" + name + ".py");
    } catch (const Error&) {
      // A network of other keys or values than those of the fault.
    }
  }
  return scripts;
}

}  // namespace neutra
