#include <iostream>

#include "cli/context.h"
#include "cli/verbs.h"
#include "search/options.h"

namespace neutra::cli {
namespace {

/// The settings of a layer that differ from nothing worth saying: name and dtype are left out.
std::string settings(const ResolvedLayer& layer) {
  std::string text;
  for (const auto& [key, value] : layer.config.items()) {
    if (value.is_null() || key == "name" || key == "dtype" || key == "batch_input_shape" ||
        (key == "trainable" && value == true))
      continue;
    std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_object() && value.contains("class_name")) {
      shown = value["class_name"].get<std::string>();
      if (value.contains("config") && !value["config"].empty()) {
        std::string inner;
        for (const auto& [name, setting] : value["config"].items())
          if (!setting.is_null())
            inner += (inner.empty() ? "" : ", ") + name + " " + setting.dump();
        if (!inner.empty()) shown += "(" + inner + ")";
      }
    }
    text += (text.empty() ? "" : ", ") + key + "=" + shown;
  }
  return text;
}

int run(const Arguments& arguments) {
  const Fault fault = load_fault(arguments.positional.front());
  const Program& program = chosen_version(fault, arguments);
  require_valid(program.document, fault.file.string());
  const ResolvedProgram resolved = resolve(program);
  const auto parameters = fault.space.parameters_of(program);
  const std::string goal(to_string(resolved.goal));
  if (arguments.flag("json")) {
    Json layers = Json::array();
    for (const auto& layer : resolved.layers)
      layers.push_back({{"index", layer.index},
                        {"class_name", layer.class_name},
                        {"output_shape", layer.output_shape},
                        {"config", layer.config}});
    Json keys = Json::array();
    for (const auto& key : fault.space.keys())
      keys.push_back({{"name", key.name}, {"kind", to_string(key.kind)}, {"paths", key.paths}});
    std::cout << to_text({{"id", fault.id},
                          {"title", fault.title},
                          {"version", arguments.text("version")},
                          {"hash", to_string(program_hash(program))},
                          {"metric", resolved.metric},
                          {"goal", goal},
                          {"parameters", parameters ? Json(to_string(*parameters)) : Json(nullptr)},
                          {"layers", layers},
                          {"keys", keys},
                          {"faults", to_string(fault.actual)},
                          {"program", program.document}});
    return 0;
  }
  std::cout << fault.id << " (" << (arguments.text("version")) << "): " << fault.title << "\n\n";
  TextTable table({"layer", "class", "output", "settings"});
  for (const auto& layer : resolved.layers)
    table.add({std::to_string(layer.index), layer.class_name, to_string(layer.output_shape),
               settings(layer)});
  std::cout << table.text() << "\nloss        " << resolved.loss << "\noptimizer   "
            << resolved.optimizer["class_name"].get<std::string>();
  for (const auto& [name, value] : resolved.optimizer["config"].items())
    if (!value.is_null() && value != false) std::cout << "  " << name << "=" << value.dump();
  std::cout << "\ndata        " << program.document.value("data", Json::object()).dump();
  std::cout << "\nfit         batch_size=" << resolved.batch_size << "  epochs=" << resolved.epochs
            << "  shuffle=" << (resolved.shuffle ? "true" : "false");
  const Json fit = program.document.value("fit", Json::object());
  for (const char* field : {"schedule", "loop"})
    if (const Json value = fit.value(field, Json()); !value.empty())
      std::cout << "  " << field << '=' << value.dump();
  std::cout << "\nmetric      " << resolved.metric << ", " << goal << "\nhash        "
            << to_string(program_hash(program)) << "\nparameters  "
            << (parameters ? to_string(*parameters)
                           : std::string("not expressible by the subject's keys"))
            << '\n';
  if (fault.fixed)
    std::cout << "known fix   " << to_string(fault.actual)
              << "  (as declared: " << to_string(fault.declared) << ")\n";
  return 0;
}

}  // namespace

Verb show_verb() {
  return {"show",
          "show one program: layers, shapes, hyperparameter keys, parameter string",
          "show FAULT|FILE [--version buggy|fixed] [--json]",
          {{"version"}, 1, 1, "FAULT|FILE"},
          "FAULT is a bundled id (neutra faults, neutra subjects) or a JSON file: a program "
          "(docs/formats/program.md) or a fault\n"
          "(docs/formats/fault.md).",
          "  neutra show D7\n  neutra show my_program.json --json",
          run};
}

}  // namespace neutra::cli
