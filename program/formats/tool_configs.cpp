#include "program/formats/tool_configs.h"

#include "base/error.h"
#include "program/formats/keras_config.h"
#include "program/formats/keras_dialect.h"
#include "program/formats/pickle.h"
#include "program/rate_schedule.h"

namespace neutra::program {

std::string tool_config(const Program& program, const std::string& dataset) {
  const Json fit = program.document.value("fit", Json::object());
  const ResolvedProgram resolved = resolve(program);
  const auto refuse = [](const std::string& path, const std::string& found,
                         const std::string& allowed) {
    throw input_error(describe("", path, found, allowed + " (the tool's config has no other)"));
  };
  if (!resolved.callbacks.empty()) refuse("/fit/callbacks", resolved.callbacks.dump(), "[]");
  if (schedule_of(resolved)) refuse("/fit/schedule", fit.at("schedule").dump(), "null");
  if (resolved.loop != LoopStyle{}) refuse("/fit/loop", fit.at("loop").dump(), "{}");
  require_drawn_weights(program.document);
  if (!resolved.shuffle) refuse("/fit/shuffle", "false", "true");
  if (!resolved.class_weights.empty()) {
    refuse("/fit/class_weight", fit.at("class_weight").dump(), "null");
  }
  if (resolved.sample_weights) refuse("/data/arguments", "weights of rows", "none");
  if (resolved.loss_options.from_logits || resolved.loss_options.label_smoothing != 0) {
    refuse("/compile/loss", program.document.at("compile").at("loss").dump(), "a loss's name");
  }
  if (!resolved.trained_mutations.empty()) {
    refuse("/trained/mutations", resolved.trained_mutations.dump(), "[]");
  }
  const Json compile = keras_compile_config(program, KerasSpelling::kLegacy);
  const Json& optimizer = compile.at("optimizer_config");
  Json arguments = Json::object();
  for (const auto& [name, value] : optimizer.at("config").items()) {
    if (name != "name") arguments[name == "learning_rate" ? "lr" : name] = value;
  }
  return pickle({{"optimizer", optimizer.at("class_name")},
                 {"opt_kwargs", std::move(arguments)},
                 {"loss", compile.at("loss")},
                 {"dataset", dataset},
                 {"batchsize", resolved.batch_size},
                 {"epoch", resolved.epochs},
                 {"callbacks", Json::array()}});
}

}  // namespace neutra::program
