#include "program/formats/tool_scripts.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "base/numbers.h"
#include "program/graph.h"

namespace neutra::program {
namespace {

/// UMLAUT's callback is made with the model before it is compiled; it needs validation rows.
/// Source: BerkeleyHCI/umlaut, umlaut_example.py.
std::string umlaut_script(const Program& program, const KerasScriptOptions& options) {
  KerasScriptOptions with = options;
  with.dialect = KerasDialect::kTfKeras;
  with.hook.imports = "from umlaut import UmlautCallback\n";
  with.hook.before_compile =
      "umlaut = UmlautCallback(model, session_name=\"neutra\", offline=True)\n";
  with.hook.callback = "umlaut";
  with.hook.needs_validation = true;
  return keras_script(program, with);
}

/// DeepDiagnosis is a Keras 2.2.4 whose callbacks.py has classes more; it writes to an open file.
/// Source: DeepDiagnosis/ICSE2022, callback/callbacks.py, mapFaluireToFix.
std::string deepdiagnosis_script(const Program& program, const KerasScriptOptions& options) {
  const ResolvedProgram resolved = resolve(program);
  require_chain(resolved, "DeepDiagnosis reads no other");
  KerasScriptOptions with = options;
  with.dialect = KerasDialect::kKeras224;
  with.hook.imports = std::string(options.standalone ? "" : "import sys\n") +
                      "import time\nfrom keras.callbacks import mapFaluireToFix\n";
  const double rate = resolved.optimizer.at("config").at("learning_rate").get<double>();
  with.hook.callback = "mapFaluireToFix(x_train, y_train, len(model.layers), " +
                       std::to_string(resolved.batch_size) + ", time.clock(), " +
                       python_repr(rate) + ", sys.stdout, " + std::to_string(resolved.epochs) + ")";
  return keras_script(program, with);
}

/// DeepLocalize's class prints, and ends the script with status 1 at the first error. Source:
/// Wardat-ISU/DeepLocalize, Our Callback/callbacks.py, DeepLocalize; DeepDiagnosis has it, too.
std::string deeplocalize_script(const Program& program, const KerasScriptOptions& options) {
  const ResolvedProgram resolved = resolve(program);
  require_chain(resolved, "DeepLocalize reads no other");
  KerasScriptOptions with = options;
  with.dialect = KerasDialect::kKeras224;
  with.hook.imports = "import time\nfrom keras.callbacks import DeepLocalize\n";
  with.hook.callback = "DeepLocalize(x_train, y_train, len(model.layers), " +
                       std::to_string(resolved.batch_size) + ", time.clock())";
  return keras_script(program, with);
}

/// NeuraLint reads model.add, model.compile and model.fit of a Keras 2 script without running it;
/// an optimiser it only knows by a variable or a word. Source: neuralint/neuralint,
/// parser_Keras.py, nodes_Keras.py.
std::string neuralint_script(const Program& program, const KerasScriptOptions& options) {
  constexpr std::array<std::string_view, 7> kLosses{"binary_crossentropy",
                                                    "categorical_crossentropy",
                                                    "hinge",
                                                    "huber",
                                                    "mean_absolute_error",
                                                    "mean_squared_error",
                                                    "sparse_categorical_crossentropy"};
  const ResolvedProgram resolved = resolve(program);
  if (std::find(kLosses.begin(), kLosses.end(), resolved.loss) == kLosses.end()) {
    throw input_error(describe("", "/compile/loss", resolved.loss,
                               "losses that NeuraLint reads: binary_crossentropy, "
                               "categorical_crossentropy, hinge, huber, mean_absolute_error, "
                               "mean_squared_error, sparse_categorical_crossentropy"));
  }
  if (resolved.loop.sum) {
    throw input_error(describe("", "/fit/loop/reduction", "sum",
                               "\"mean\": NeuraLint reads losses that are words"));
  }
  require_chain(resolved, "NeuraLint reads no other");
  if (resolved.layers.size() < 2) {
    throw input_error(
        describe("", "/model/config/layers", "one layer", "two or more for NeuraLint"));
  }
  KerasScriptOptions with = options;
  with.dialect = KerasDialect::kKeras23;
  with.hook.names_optimizer = true;
  return keras_script(program, with);
}

}  // namespace

const std::vector<ToolScript>& tool_scripts() {
  static const std::vector<ToolScript> all{
      {"deepdiagnosis", "Keras 2.2.4 script with DeepDiagnosis's callback", deepdiagnosis_script},
      {"deeplocalize", "Keras 2.2.4 script with DeepLocalize's callback", deeplocalize_script},
      {"keras", "script for tf.keras 2.4 to 2.15", keras_script},
      {"neuralint", "Keras 2 script in what NeuraLint reads", neuralint_script},
      {"umlaut", "tf.keras script with UMLAUT's callback", umlaut_script},
  };
  return all;
}

const ToolScript* find_tool_script(std::string_view name) {
  const auto it = std::find_if(tool_scripts().begin(), tool_scripts().end(),
                               [&](const ToolScript& script) { return script.name == name; });
  return it == tool_scripts().end() ? nullptr : &*it;
}

}  // namespace neutra::program
