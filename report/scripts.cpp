#include "report/scripts.h"

#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/text_diff.h"
#include "program/formats/keras_script.h"

namespace neutra::report {
namespace {

using Lines = std::vector<std::string>;

/// Lines of a program's script; nullopt where it has none, and then `refusal` says why.
std::optional<Lines> script_of(const program::Program& program, Json& refusal) {
  if (const auto known = program::keras_script_refusal(program)) {
    refusal = *known;
    return std::nullopt;
  }
  try {
    return lines_of(program::keras_script(program, {}));
  } catch (const Error& error) {
    // What only writing the script finds out, such as a loop that Keras's fit doesn't have.
    if (error.exit() != Exit::kBadInput) throw;
    refusal = error.what();
    return std::nullopt;
  }
}

/// Lines of the difference; null where the other one has no script, and then `refusal` says why.
Json difference(const Lines& buggy, const program::Program& program, const std::string& name,
                Json& refusal) {
  const std::optional<Lines> script = script_of(program, refusal);
  return script ? Json(unified_diff(buggy, *script, "buggy.py", name)) : Json(nullptr);
}

}  // namespace

Json scripts_json(const experiments::NetworkFile& loaded, std::size_t most) {
  if (!loaded.fault) return nullptr;
  const experiments::Fault& fault = *loaded.fault;
  Json scripts = {{"dialect", "tf_keras"},
                  {"refusal", nullptr},
                  {"buggy", nullptr},
                  {"fix", nullptr},
                  {"repairs", Json::object()}};
  const std::optional<Lines> buggy = script_of(fault.buggy, scripts["refusal"]);
  if (!buggy) return scripts;
  scripts["buggy"] = *buggy;
  if (fault.fixed) {
    scripts["fix"] = difference(*buggy, *fault.fixed, "fixed.py", scripts["refusal"]);
  }
  Json ignored;  // a repair without a script is null, whyever
  for (const search::RepairSize& repair : experiments::repairs_by_size(loaded.network, &fault)) {
    if (scripts["repairs"].size() == most) break;
    const std::string name = search::node_name(*repair.node);
    try {
      scripts["repairs"][name] =
          difference(*buggy, fault.space.instantiate(repair.node->parameters),
                     "program_" + name + ".py", ignored);
    } catch (const Error&) {
      // A network of other keys or values than those of the fault.
    }
  }
  return scripts;
}

}  // namespace neutra::report
