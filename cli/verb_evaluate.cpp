#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/json.h"
#include "base/numbers.h"
#include "cli/imports.h"
#include "cli/originals.h"
#include "cli/outputs.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "experiments/catalog.h"
#include "program/edit.h"
#include "program/formats/keras_model.h"
#include "program/layer.h"
#include "program/metric_name.h"
#include "training/data/npy.h"
#include "training/metrics.h"
#include "training/torch_script.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// What is evaluated.
struct Subject {
  std::string id;
  fs::path file;                            ///< from whose folder data are looked up
  std::optional<program::Program> program;  ///< none: a TorchScript module alone
  std::vector<program::Assumption> assumptions;
  std::optional<program::KerasModel> model;  ///< that the program was made of
};

Subject subject_of(const Arguments& arguments) {
  const std::string& name = arguments.positional.front();
  const fs::path file = name;
  if (training::is_torch_script(file)) return {name, file, std::nullopt, {}, {}};
  const std::string extension = file.extension().string();
  if (program::is_keras_model_file(file) || program::is_keras_json(file) || extension == ".h5" ||
      extension == ".keras") {
    ImportedModel imported = import_model(arguments, file, file);
    return {name, file, program::Program{std::move(imported.import.document)},
            std::move(imported.import.assumptions), std::move(imported.model)};
  }
  for (const char* option : {"data", "training"}) {
    if (arguments.has(option)) {
      throw usage_error(std::string("--") + option +
                        ": found beside a program, which has its own; allowed: with model files");
    }
  }
  const experiments::Fault fault = experiments::load_fault(name);
  return {fault.id, fault.file, chosen_version(fault, arguments), {}, {}};
}

training::Array read_rows(const fs::path& file) {
  ByteReader reader = ByteReader::open(file);
  const training::Table table = training::read_npy(reader);
  if (table.extents.empty() || table.rows() == 0) {
    throw input_error(describe(file.string(), "", "no rows", "an array of rows"));
  }
  training::Array array{table.extents, {table.values.begin(), table.values.end()}};
  if (array.extents.size() == 1) array.extents.push_back(1);  // Keras makes a column of a vector
  return array;
}

/// The typed program for rows of another shape than its data's, or without data.
program::ResolvedProgram resolved_for(program::Program program, const program::Shape& row,
                                      const std::string& file) {
  program::Shape declared;
  try {
    declared = program::resolve(program).input_shape;
  } catch (const Error&) {  // what is wrong is said below
  }
  if (!declared.empty() && declared != row) {
    throw input_error(
        describe("--input", "", "rows " + program::to_string(row),
                 "rows as the program declares them: " + program::to_string(declared)));
  }
  Json shape = Json::array({nullptr});
  for (const std::int64_t extent : row) shape.push_back(extent);
  program::set_layer_field(program.document, 0, "batch_input_shape", shape);
  program::require_valid(program.document, file);
  return program::resolve(program);
}

program::Shape row_of(const training::Array& array) {
  return {array.extents.begin() + 1, array.extents.end()};
}

program::ModelWeights read_weights(const fs::path& file, const program::ResolvedProgram& program,
                                   const std::optional<program::KerasModel>& model) {
  const auto read = [&] {
    return program::KerasModelFile(file).weights(program, model ? &*model : nullptr);
  };
  read_in_child(file, [&] { read(); });
  return read();
}

training::Array features_of(const training::DataRows& rows) {
  training::Array array{rows.row, {rows.features.begin(), rows.features.end()}};
  array.extents.insert(array.extents.begin(), rows.count);
  return array;
}

training::DataRows rows_of(const std::shared_ptr<const training::Dataset>& data) {
  const training::Array &x = data->x_holdout, &y = data->y_holdout;
  return {x.rows(), row_of(x), row_of(y), x.values, y.values, data};
}

/// Does what was assumed say anything of what is printed? How a model would be trained does not,
/// and predictions alone need no more than the model.
bool matters(const program::Assumption& assumption, bool evaluated) {
  const std::string& field = assumption.field;
  if (field == "model" || field.starts_with("model.")) return true;
  return evaluated && !field.starts_with("fit.") && !field.starts_with("compile.optimizer");
}

std::string finite_text(double value) {
  return std::isfinite(value) ? shortest(value) : "not finite";
}

/// What a model with given weights gives.
struct Evaluated {
  Subject subject;
  fs::path weights;
  std::string metric = "loss", goal = "minimize";
  std::string hash;                                ///< of the program; "": there is none
  std::optional<training::Evaluation> evaluation;  ///< on the rows that give the metric
  std::optional<training::Array> predictions;      ///< for the rows of --input
  std::string predicted;                           ///< the file with the outputs; "": none
};

Json json_of(const Evaluated& evaluated) {
  Json json{{"format", "neutra-evaluate"},
            {"version", 1},
            {"program", evaluated.subject.id},
            {"hash", evaluated.hash.empty() ? Json() : Json(evaluated.hash)},
            {"weights", evaluated.weights.string()},
            {"metric", evaluated.metric},
            {"goal", evaluated.goal}};
  if (const auto& evaluation = evaluated.evaluation) {
    json["rows"] = evaluation->rows;
    json["loss"] = json_number(evaluation->loss);
    json["value"] = json_number(evaluation->metric);
    if (evaluation->total >= 0 && evaluation->correct >= 0) {
      json["correct"] = evaluation->correct;
      json["total"] = evaluation->total;
    }
    json["backend"] = evaluation->backend;
  }
  json["assumptions"] = to_json(evaluated.subject.assumptions);
  return json;
}

/// The outputs that --predict takes.
const training::Array& outputs_of(const Evaluated& evaluated) {
  return evaluated.predictions ? *evaluated.predictions : evaluated.evaluation->outputs;
}

std::string text_of(const Evaluated& evaluated) {
  const auto& evaluation = evaluated.evaluation;
  std::string text;
  if (evaluation) {
    text = evaluated.subject.id + " with the weights of " + evaluated.weights.string() + ", " +
           std::to_string(evaluation->rows) + " rows\n";
    // A module alone has no loss.
    if (evaluated.subject.program) text += "loss " + finite_text(evaluation->loss) + "\n";
    if (evaluated.metric != "loss")
      text += evaluated.metric + " " + finite_text(evaluation->metric) + "\n";
  }
  if (!evaluated.predicted.empty())
    text += "outputs for " + std::to_string(outputs_of(evaluated).rows()) + " rows in " +
            evaluated.predicted + "\n";
  std::vector<program::Assumption> matter;
  for (const program::Assumption& each : evaluated.subject.assumptions)
    if (matters(each, evaluation.has_value())) matter.push_back(each);
  return matter.empty() ? text : text + "\n" + to_text(matter);
}

/// A TorchScript module without a program.
void evaluate_module(const Arguments& arguments, Evaluated& evaluated) {
  Subject& subject = evaluated.subject;
  const bool has_input = arguments.has("input");
  evaluated.metric = "mse";
  if (has_input)
    evaluated.predictions =
        training::run_torch_script(evaluated.weights, read_rows(arguments.text("input")));
  if (!arguments.has("data")) {
    if (has_input) return;
    throw usage_error("--data: found nothing; allowed: the rows to evaluate " + subject.id + " on");
  }
  const auto data = training::load_dataset(
      data_section(arguments.text("data"), subject.file, subject.assumptions),
      data_path(arguments, subject.file));
  const bool whole = data->info().y_is_integer;
  if (whole) evaluated.metric = "accuracy";
  evaluated.goal = whole ? "maximize" : "minimize";
  subject.assumptions.push_back(
      {"metric", evaluated.metric,
       whole ? "the targets are whole numbers" : "the targets are numbers"});
  const training::DataRows rows = rows_of(data);
  evaluated.evaluation =
      training::evaluate_outputs(training::run_torch_script(evaluated.weights, features_of(rows)),
                                 rows, "", {}, evaluated.metric);
}

/// What a TorchScript module gives for the rows of a program.
training::Evaluation module_on_rows(const Arguments& arguments, const Evaluated& evaluated,
                                    const program::ResolvedProgram& resolved,
                                    training::LocalTrainer& trainer) {
  const program::Program& program = *evaluated.subject.program;
  const training::DataRows rows = trainer.rows(program, training::DataPart::kHoldout);
  training::Evaluation evaluation =
      training::evaluate_outputs(training::run_torch_script(evaluated.weights, features_of(rows)),
                                 rows, resolved.loss, resolved.loss_options, evaluated.metric);
  if (!program::parse_metric_name(evaluated.metric).original_scale) return evaluation;
  training::Metric sum(evaluated.metric,
                       training::target_scale(program.document.at("data"),
                                              data_path(arguments, evaluated.subject.file)));
  program::Shape targets = rows.target.empty() ? program::Shape{1} : rows.target;
  targets.insert(targets.begin(), rows.count);
  const training::Array& outputs = evaluation.outputs;
  sum.add({outputs.values, outputs.extents}, {rows.targets, targets});
  evaluation.metric = sum.value();
  return evaluation;
}

/// The rows of --input, and the program for them. `resolved`: of a program with data.
training::Array input_rows(const Arguments& arguments, const Subject& subject,
                           std::optional<program::ResolvedProgram>& resolved) {
  training::Array inputs = read_rows(arguments.text("input"));
  if (!resolved) {
    resolved = resolved_for(*subject.program, row_of(inputs), subject.file.string());
  } else if (resolved->input_shape != row_of(inputs)) {
    throw input_error(
        describe("--input", "", "rows " + program::to_string(row_of(inputs)),
                 "rows as the program's: " + program::to_string(resolved->input_shape)));
  }
  return inputs;
}

/// A program with weights, or with a TorchScript module in the place of its model.
void evaluate_program(const Arguments& arguments, training::LocalTrainer& trainer,
                      Evaluated& evaluated) {
  const Subject& subject = evaluated.subject;
  const program::Program& program = *subject.program;
  evaluated.hash = to_string(program::program_hash(program));
  const bool has_data = program.document.at("data").value("source", "") != "none";
  std::optional<program::ResolvedProgram> resolved;
  if (has_data) {
    if (const auto reason = trainer.refusal(program))
      throw input_error(subject.file.string() + ": " + *reason);
    resolved = trainer.resolved(program);
    evaluated.metric = resolved->metric;
    evaluated.goal = program::to_string(resolved->goal);
  } else if (!arguments.has("input")) {
    throw input_error(describe(subject.file.string(), "", "a program without data",
                               "--data with the rows, or --input with --predict"));
  }
  std::optional<training::Array> inputs;
  if (arguments.has("input")) inputs = input_rows(arguments, subject, resolved);
  if (training::is_torch_script(evaluated.weights)) {
    if (has_data && program::masked_outputs(resolved->layers).back()) {
      throw input_error(describe(evaluated.weights.string(), "",
                                 "a TorchScript module, which gives no mask, for a program whose "
                                 "outputs have a mask of steps",
                                 "weights of a Keras file (.h5, .keras)"));
    }
    if (inputs) evaluated.predictions = training::run_torch_script(evaluated.weights, *inputs);
    if (has_data) evaluated.evaluation = module_on_rows(arguments, evaluated, *resolved, trainer);
    return;
  }
  const program::ModelWeights weights = read_weights(evaluated.weights, *resolved, subject.model);
  if (inputs)
    evaluated.predictions = training::predict(*resolved, weights, *inputs,
                                              *training::parse_backend(arguments.text("backend")));
  if (has_data)
    evaluated.evaluation = trainer.evaluate(program, training::DataPart::kHoldout, weights);
}

/// Can the outputs go where --predict says? Throws input_error and usage_error.
void require_predict_file(const Arguments& arguments) {
  require_text_output(arguments.text("predict"), "--predict");
  std::vector<fs::path> read{arguments.positional.front()};
  for (const char* option : {"input", "data", "weights", "training"})
    if (arguments.has(option)) read.emplace_back(arguments.text(option));
  require_not_read(arguments.text("predict"), "--predict", read);
}

Result run(const Arguments& arguments) {
  Evaluated evaluated;
  evaluated.subject = subject_of(arguments);
  const Subject& subject = evaluated.subject;
  const bool predicts = arguments.has("predict");
  if (arguments.has("input") && !predicts) throw usage_error("--input: found without --predict");
  if (predicts) require_predict_file(arguments);
  evaluated.weights = arguments.positional.front();
  if (arguments.has("weights")) {
    evaluated.weights = arguments.text("weights");
  } else if (subject.program && !program::is_keras_model_file(evaluated.weights)) {
    throw usage_error("--weights: found nothing; allowed: a file with the weights of " +
                      subject.id);
  }
  const auto trainer = make_trainer(arguments, subject.file);
  if (subject.program)
    evaluate_program(arguments, *trainer, evaluated);
  else
    evaluate_module(arguments, evaluated);
  if (predicts) {
    evaluated.predicted = arguments.text("predict");
    training::write_npy(evaluated.predicted, outputs_of(evaluated));
  }
  return result_of(std::move(evaluated));
}

}  // namespace

Verb evaluate_verb() {
  return {
      .name = "evaluate",
      .summary = "evaluate a model with given weights on a program's data",
      .synopsis =
          "evaluate FAULT|FILE --weights FILE [--predict FILE.npy [--input FILE.npy]] [options]",
      .options = {.names = {"backend", "data", "data-dir", "input", "predict", "training",
                            "version", "weights"},
                  .least_positional = 1,
                  .most_positional = 1,
                  .positional_name = "FAULT|FILE"},
      .description =
          "Loss and metric of the program's model with these weights, in inference mode, on the "
          "rows that give its metric: its\n"
          "test rows, or its holdout. FILE may be a Keras model with --data: .h5 or .keras, whose "
          "own weights are then the\n"
          "default, or the JSON of to_json() with --weights. Weights are those of .h5, .keras or "
          ".weights.h5 files, matched by\n"
          "order as Keras does. A TorchScript file, as --weights or alone with --data, brings a "
          "model of its own: its code is\n"
          "run, so take none that you don't trust (docs/formats/keras_model.md).",
      .example =
          "  neutra evaluate D7 --weights model.h5\n"
          "  neutra evaluate model.keras --data rows.npz --json\n"
          "  neutra evaluate model.h5 --input x.npy --predict y.npy\n"
          "  neutra evaluate model.json --weights model.weights.h5 --data rows.npz",
      .run = run};
}

}  // namespace neutra::cli
