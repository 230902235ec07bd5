#include "cli/originals.h"

#include "base/error.h"

namespace neutra::cli {

experiments::Fault with_fewer_rows(experiments::Fault fault, const Arguments& arguments) {
  if (!arguments.has("rows-train")) return fault;
  const auto limit = [&](program::Program& program) {
    Json& data = program.document["data"];
    Json steps = Json::array(
        {{{"op", "take"}, {"rows", arguments.integer("rows-train")}, {"part", "train"}}});
    for (const Json& step : data.value("preprocess", Json::array())) steps.push_back(step);
    data["preprocess"] = std::move(steps);
  };
  limit(fault.buggy);
  if (fault.fixed) limit(*fault.fixed);
  if (fault.tools) limit(*fault.tools);
  return fault;
}

const program::Program& chosen_version(const experiments::Fault& fault,
                                       const Arguments& arguments) {
  if (arguments.text("version") == "buggy") return fault.buggy;
  if (!fault.fixed)
    throw input_error(describe(fault.file.string(), "/fixed", "no known fix", "--version buggy"));
  return *fault.fixed;
}

const program::Program& tool_version(const experiments::Fault& fault, const Arguments& arguments) {
  return arguments.text("version") == "buggy" ? experiments::tools_program(fault)
                                              : chosen_version(fault, arguments);
}

Json tools_json(const experiments::Fault& fault) {
  if (!fault.tools) return nullptr;
  return {{"difference", experiments::tools_difference(fault)},
          {"reason", fault.tools_reason},
          {"hash", to_string(program::program_hash(*fault.tools))}};
}

Original load_original(const Arguments& arguments, bool for_tool) {
  const experiments::Fault fault =
      with_fewer_rows(experiments::load_fault(arguments.positional.front()), arguments);
  return {fault.id, for_tool ? tool_version(fault, arguments) : chosen_version(fault, arguments),
          fault.space, fault.file};
}

}  // namespace neutra::cli
