#include <algorithm>
#include <memory>
#include <optional>

#include "base/error.h"
#include "base/numbers.h"
#include "base/printable.h"
#include "base/words.h"
#include "cli/network_text.h"
#include "cli/originals.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "experiments/benchmark/fault_kinds.h"
#include "experiments/catalog.h"
#include "experiments/network_warnings.h"
#include "experiments/scoring_metric.h"
#include "mutators/reach.h"
#include "mutators/registry.h"
#include "program/graph.h"
#include "program/layer.h"
#include "program/layer_titles.h"
#include "program/warnings.h"
#include "search/options.h"
#include "training/data/data_header.h"

namespace neutra::cli {
namespace {

/// "Constant(value 0.1)" of {class_name, config}; any other value as it is.
std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  const Json* class_name = member(value, "class_name");
  if (class_name == nullptr || !class_name->is_string()) return value.dump();
  std::vector<std::string> inner;
  if (const Json* config = member(value, "config"); config != nullptr && config->is_object()) {
    for (const auto& [name, setting] : config->items())
      if (!setting.is_null()) inner.push_back(name + " " + value_text(setting));
  }
  return class_name->get<std::string>() + (inner.empty() ? "" : "(" + join(inner) + ")");
}

/// The settings of a layer that differ from nothing worth saying: name and dtype are left out.
/// Where its input is not the layer before, what it is comes first.
std::string settings(const program::ResolvedLayer& layer, const std::vector<std::string>& names) {
  std::vector<std::string> texts;
  const bool usual =
      layer.index == 0 ||
      layer.inputs == std::vector<std::size_t>{static_cast<std::size_t>(layer.index) - 1};
  for (const std::size_t input : layer.inputs) {
    if (!usual) texts.push_back((texts.empty() ? "of " : "") + names[input]);
  }
  if (layer.weights_of) texts.push_back(names[*layer.weights_of] + " once more");
  for (const auto& [key, value] : layer.config.items()) {
    if (layer.weights_of) break;
    if (value.is_null() || key == "name" || key == "dtype" || key == "batch_input_shape" ||
        (key == "trainable" && value == true))
      continue;
    texts.push_back(key + "=" + value_text(value));
  }
  return join(texts);
}

/// How many numbers a layer, or a model, learns and keeps.
struct WeightCount {
  std::int64_t trained = 0, all = 0;
};

WeightCount weights_of(const program::ResolvedLayer& layer) {
  const bool trainable = layer.config.value("trainable", Json(true)) != false;
  WeightCount count;
  if (layer.weights_of) return count;  // that layer's
  for (const program::Weight& weight : layer.weights) {
    const std::int64_t elements = program::element_count(weight.shape);
    count.all += elements;
    if (trainable && weight.trainable) count.trained += elements;
  }
  return count;
}

/// A program of a fault, with all that its own document and the headers of its data tell.
struct Shown {
  std::shared_ptr<const experiments::Fault> fault;
  std::string version;  ///< "buggy" or "fixed"
  program::ResolvedProgram resolved;
  std::optional<training::DataHeader> rows;
  std::string no_rows;  ///< why `rows` are missing
  std::vector<program::Warning> warnings;

  bool has_shapes() const { return !resolved.layers.back().output_shape.empty(); }
  std::optional<WeightCount> weights() const {
    if (!has_shapes()) return std::nullopt;
    WeightCount sum;
    for (const program::ResolvedLayer& layer : resolved.layers) {
      const WeightCount count = weights_of(layer);
      sum.trained += count.trained;
      sum.all += count.all;
    }
    return sum;
  }
};

/// Without the rows themselves: what targets hold, for one, isn't known.
program::DataInfo info_of(const training::DataHeader& rows) {
  program::DataInfo info;
  info.x = rows.x;
  info.y = rows.y;
  info.training_rows = rows.training.value_or(0);
  info.y_is_integer = true;
  return info;
}

Shown shown_of(const program::Program& program,
               const std::vector<std::filesystem::path>& data_path) {
  Shown shown;
  shown.warnings = program::warnings_of(program);
  try {
    shown.rows = training::read_data_header(program.document.at("data"), data_path);
  } catch (const MissingData& error) {
    shown.no_rows = error.what();  // what is wrong, without what to do
    for (const char* end : {"; looked for\n", ". "})
      shown.no_rows = shown.no_rows.substr(0, shown.no_rows.find(end));
  } catch (const Error& error) {
    shown.no_rows = error.what();
    shown.warnings.push_back({"/data", "the data can't be read: " + shown.no_rows});
  }
  if (shown.rows) {
    const program::DataInfo info = info_of(*shown.rows);
    const std::vector<program::Problem> problems = program::validate(program.document, &info);
    if (problems.empty()) {
      shown.resolved = program::resolve(program, &info);
      return shown;
    }
    for (const program::Problem& problem : problems)
      shown.warnings.push_back(
          {problem.path, "Keras refuses to train this program on its data: " + to_string(problem)});
  }
  shown.resolved = program::resolve(program);
  return shown;
}

/// A type of fault with what is known of it.
struct FaultClass {
  std::string type, meaning;
  experiments::FaultKind kind;
};

/// What the known fix repairs; without one, what the program's steps on data and on the trained
/// model make.
std::vector<FaultClass> classes_of(const experiments::Fault& fault,
                                   const program::Program& program) {
  std::set<std::string> types = program::types_of(fault.actual);
  if (!fault.fixed) {
    for (const char* section : {"data", "trained"}) {
      const Json* part = member(program.document, section);
      const Json* steps = part != nullptr ? member(*part, "mutations") : nullptr;
      if (steps == nullptr || !steps->is_array()) continue;
      for (const Json& step : *steps)
        if (const auto* op = mutators::known_mutation_operator(step.value("op", "")))
          types.insert(std::string(op->fault_type));
    }
  }
  std::vector<FaultClass> classes;
  for (const auto& [type, meaning] : program::fault_types()) {
    if (!types.contains(type)) continue;
    const mutators::MutationOperator* op =
        mutators::known_mutation_operator(type);  // the one of this abbreviation
    classes.push_back(
        {type, meaning, op != nullptr ? experiments::fault_kind(*op) : experiments::FaultKind{}});
  }
  return classes;
}

/// "614 for training, 154 for the test"; "" where the header doesn't say how many.
std::string row_counts(const training::DataHeader& rows) {
  if (!rows.training) return "";
  std::string text = std::to_string(*rows.training) + " for training";
  if (rows.validation) text += ", " + std::to_string(*rows.validation) + " for validation";
  text += ", " + std::to_string(*rows.test) + " for the test";
  if (*rows.holdout != *rows.test)
    text += ", of which " + std::to_string(*rows.holdout) + " give the metric";
  return text;
}

/// The rows that are watched while the program trains.
std::string validation_text(const program::ResolvedProgram& program) {
  const Json* own = member(program.data, "validation");
  const bool has_own = own != nullptr && !own->is_null();
  if (program.validation_split > 0)
    return "the last " + shortest(program.validation_split) +
           " of the training rows (fit.validation_split" +
           (has_own ? "; data.validation isn't used)" : ")");
  if (!has_own) return "none";
  return *own == "test"
             ? "the test rows (data.validation)"
             : own->value("test_size", Json()).dump() + " of the training rows (data.validation)";
}

Json json_of(const Shown& shown) {
  const experiments::Fault& fault = *shown.fault;
  const program::Program& program = shown.version == "buggy" ? fault.buggy : *fault.fixed;
  const program::ResolvedProgram& resolved = shown.resolved;
  const std::string scored_by = experiments::scoring_text(fault);
  const auto parameters = fault.space.parameters_of(program);
  Json layers = Json::array();
  const bool chain = program::is_chain(resolved.layers);
  for (const auto& layer : resolved.layers) {
    layers.push_back({{"index", layer.index},
                      {"class_name", layer.class_name},
                      {"output_shape", layer.output_shape},
                      {"weights", shown.has_shapes() ? Json(weights_of(layer).all) : Json()},
                      {"config", layer.config}});
    if (chain) continue;
    layers.back()["inputs"] = layer.inputs;
    layers.back()["weights_of"] = layer.weights_of ? Json(*layer.weights_of) : Json();
  }
  Json keys = Json::array();
  for (const auto& key : fault.space.keys())
    keys.push_back({{"name", key.name}, {"kind", to_string(key.kind)}, {"paths", key.paths}});
  Json rows;
  if (shown.rows) {
    rows = {{"features", shown.rows->x},
            {"targets", shown.rows->y},
            {"training", json_or_null(shown.rows->training)},
            {"validation", json_or_null(shown.rows->validation)},
            {"test", json_or_null(shown.rows->test)},
            {"metric", json_or_null(shown.rows->holdout)}};
  }
  Json weights;
  if (const auto count = shown.weights())
    weights = {{"trained", count->trained}, {"all", count->all}};
  Json classes = Json::array(), warnings = Json::array();
  for (const FaultClass& one : classes_of(fault, program))
    classes.push_back({{"fault", one.type},
                       {"meaning", one.meaning},
                       {"category", one.kind.category},
                       {"bug_type", one.kind.bug_type}});
  for (const program::Warning& warning : shown.warnings)
    warnings.push_back({{"path", warning.path}, {"text", warning.text}});
  Json reach = Json::object();  // of each preset
  const experiments::Fault searched =
      experiments::scored_alike(fault);  // as a search takes it: a metric is no part of a fix
  for (const mutators::Preset preset : {mutators::Preset::kPaper, mutators::Preset::kKeras}) {
    reach[std::string(to_string(preset))] =
        searched.fixed ? to_json(mutators::reach_of(searched.space, *searched.fixed,
                                                    searched.fixed_parameters, preset)
                                     .missing)
                       : Json::array();
  }
  return {{"id", fault.id},
          {"title", fault.title},
          {"version", shown.version},
          {"hash", to_string(program::program_hash(program))},
          {"metric", resolved.metric},
          {"goal", program::to_string(resolved.goal)},
          {"scored_by", scored_by.empty() ? Json() : Json(scored_by)},
          {"parameters", parameters ? Json(program::to_string(*parameters)) : Json(nullptr)},
          {"layers", std::move(layers)},
          {"weights", std::move(weights)},
          {"rows", std::move(rows)},
          {"callbacks", resolved.callbacks},
          {"keys", std::move(keys)},
          {"faults", to_string(fault.actual)},
          {"tools", tools_json(fault)},
          {"out_of_reach", std::move(reach)},
          {"classes", std::move(classes)},
          {"warnings", std::move(warnings)},
          {"program", program.document}};
}

std::string text_of(const Shown& shown) {
  const experiments::Fault& fault = *shown.fault;
  const program::Program& program = shown.version == "buggy" ? fault.buggy : *fault.fixed;
  const program::ResolvedProgram& resolved = shown.resolved;
  std::string text = fault.id + (fault.fixed ? " (" + shown.version + ")" : "") +
                     (fault.title.empty() || fault.title == fault.id ? "" : ": " + fault.title) +
                     "\n\n";
  const std::vector<std::string> names = program::LayerTitles(program.document).names();
  TextTable table({"layer", "name", "class", "output", "weights", "settings"});
  for (const auto& layer : resolved.layers)
    table.add({std::to_string(layer.index), names[static_cast<std::size_t>(layer.index)],
               layer.class_name, shown.has_shapes() ? program::to_string(layer.output_shape) : "?",
               shown.has_shapes() ? std::to_string(weights_of(layer).all) : "?",
               settings(layer, names)});
  text += table.text();
  const auto line = [&](const std::string& name, const std::string& value) {
    constexpr std::size_t kColumn = 12;
    text += name + std::string(kColumn - name.size(), ' ') + value + "\n";
  };
  text += "\n";
  if (const auto count = shown.weights())
    line("weights",
         std::to_string(count->all) + ", " + std::to_string(count->trained) + " of them trained");
  std::string loss = resolved.loss;
  if (resolved.loss_options.from_logits) loss += "  from_logits=true";
  if (const double share = resolved.loss_options.label_smoothing; share != 0)
    loss += "  label_smoothing=" + shortest(share);
  if (resolved.loss_options.any_logits) loss += "  logits=any";
  line("loss", loss);
  std::string optimizer = resolved.optimizer["class_name"];
  for (const auto& [name, value] : resolved.optimizer["config"].items())
    if (!value.is_null() && value != false) optimizer += "  " + name + "=" + value.dump();
  line("optimizer", optimizer);
  line("data", program.document.value("data", Json::object()).dump());
  if (shown.rows) {
    const std::string counts = row_counts(*shown.rows);
    line("rows", "features " + program::to_string(shown.rows->x) + ", targets " +
                     program::to_string(shown.rows->y.empty() ? program::Shape{1} : shown.rows->y) +
                     (counts.empty() ? "" : "; " + counts));
  } else {
    line("rows", "unknown: " + shown.no_rows);
  }
  std::string fit = "batch_size=" + std::to_string(resolved.batch_size) +
                    "  epochs=" + std::to_string(resolved.epochs) +
                    "  shuffle=" + (resolved.shuffle ? "true" : "false");
  const Json section = program.document.value("fit", Json::object());
  for (const char* field : {"schedule", "loop", "class_weight"})
    if (const Json value = section.value(field, Json()); !value.empty())
      fit += std::string("  ") + field + '=' + value.dump();
  line("fit", fit);
  // As they are written: those with a monitor that isn't there have a warning.
  std::vector<std::string> callbacks;
  for (const Json& callback : section.value("callbacks", Json::array()))
    callbacks.push_back(value_text(callback));
  line("callbacks", callbacks.empty() ? "none" : join(callbacks));
  line("validation", validation_text(resolved));
  const std::string scored_by = experiments::scoring_text(fault);
  line("metric", resolved.metric + ", " + std::string(program::to_string(resolved.goal)) +
                     (scored_by.empty() ? "" : "; where programs are compared, " + scored_by));
  line("hash", to_string(program::program_hash(program)));
  const auto parameters = fault.space.parameters_of(program);
  line("parameters", parameters ? program::to_string(*parameters)
                                : std::string("not expressible by the subject's keys"));
  if (fault.fixed)
    line("known fix",
         to_string(fault.actual) + "  (as declared: " + to_string(fault.declared) + ")");
  if (fault.tools)
    line("tools",
         "ran on " + experiments::tools_difference(fault) + "  (" + fault.tools_reason + ")");
  const experiments::Fault searched =
      experiments::scored_alike(fault);  // as a search takes it: a metric is no part of a fix
  for (const mutators::Preset preset : {mutators::Preset::kPaper, mutators::Preset::kKeras})
    for (const std::string& part : experiments::reach_lines(searched, preset))
      line("", "--preset " + std::string(to_string(preset)) + ": " + part);
  for (const FaultClass& one : classes_of(fault, program)) {
    const std::string kind = experiments::kind_text(one.kind);
    line("fault", one.type + ": " + one.meaning + (kind.empty() ? "" : "; " + kind));
  }
  for (const program::Warning& warning : shown.warnings) line("warning", warning.text);
  return printable(text, "\n");
}

Result run(const Arguments& arguments) {
  const auto kept = std::make_shared<const experiments::Fault>(
      experiments::load_fault(arguments.positional.front()));
  const experiments::Fault& fault = *kept;
  const program::Program& program = chosen_version(fault, arguments);
  program::require_valid(program.document, fault.file.string());
  Shown shown = shown_of(program, data_path(arguments, fault.file));
  if (const std::string warning = experiments::scale_warning(fault); !warning.empty())
    shown.warnings.push_back({"/data/preprocess", warning});
  shown.version = arguments.text("version");
  shown.fault = kept;
  return result_of(std::move(shown));
}

}  // namespace

Verb show_verb() {
  return {.name = "show",
          .summary =
              "show one program: layers, shapes, hyperparameter keys, parameter string, warnings",
          .synopsis = "show FAULT|FILE [--version buggy|fixed] [--json]",
          .options = {.names = {"data-dir", "version"},
                      .least_positional = 1,
                      .most_positional = 1,
                      .positional_name = "FAULT|FILE"},
          .description =
              "FAULT is a bundled id (neutra faults, neutra subjects) or a JSON file: a program "
              "(docs/formats/program.md) or a fault\n"
              "(docs/formats/fault.md). Shapes are those of the data's header where the data are "
              "here; rows are not read. Warnings name\n"
              "what Keras trains without an error, but not as it must be meant, such as an "
              "EarlyStopping whose monitor is no metric.",
          .example = "  neutra show D7\n  neutra show my_program.json --json",
          .run = run};
}

}  // namespace neutra::cli
