#include "evaluators/symptoms.h"

#include "base/numbers.h"
#include "fl_adapters/messages.h"
#include "fl_adapters/trained_model.h"
#include "training/monitor.h"

/// Symptoms of faulty data in a training, and what they say about the data:
/// docs/methods/symptoms.md.
namespace neutra::fl_adapters::symptoms {
namespace {

const MessageTable& message_table() {
  static const MessageTable table = table_of_tool("symptoms");
  return table;
}

ToolMessage message_of(const evaluators::Symptom& symptom) {
  ToolMessage message;
  message.code = symptom.rule->id;
  message.severity = "Symptom";
  message.text = symptom.rule->name + ": " + symptom.rule->meaning;
  message.detail = symptom.explanation();
  for (const evaluators::SymptomLayer& layer : symptom.layers) message.layers.insert(layer.index);
  return message;
}

std::string detail_of(const evaluators::DataFaultScore& score) {
  return "log-odds " + shortest(python_round(score.log_odds, 2)) + " against clean data";
}

void judge(const evaluators::MonitoredRun& run, Localisation& result) {
  const std::vector<evaluators::Symptom> found = evaluators::find_symptoms(run);
  for (const evaluators::Symptom& symptom : found) record(result.messages, message_of(symptom));
  const std::vector<evaluators::DataFaultScore> scores = evaluators::rank_data_faults(found);
  for (const evaluators::DataFaultScore& score : scores) {
    if (score.log_odds <= message_table().threshold("log_odds")) break;
    ToolMessage message = message_table().message(score.fault->id, {}, detail_of(score));
    for (const program::FaultEntry& fault : message.faults) {
      result.ranking.push_back({-1, -1, fault.type, score.probability});
    }
    if (score.fault != scores.front().fault) {
      message.faults.clear();
      message.ignored = "another fault is likelier";
    }
    record(result.messages, std::move(message));
  }
  for (ToolMessage& message : result.messages) {
    message.epochs = {static_cast<std::int64_t>(run.epochs.size()) - 1};
  }
}

Localisation localise(const FaultyProgram& faulty, const LocaliseContext& context) {
  if (const Trouble trouble = program_trouble(faulty, context);
      trouble.status != LocalisationStatus::kOk) {
    return with_trouble({}, trouble);
  }
  Watch watch(context);
  training::TrainingMonitor monitor(context.trainer->resolved(faulty.program));
  const LocalisationStatus status = watch.train(faulty.program, monitor);
  Localisation result;
  const evaluators::MonitoredRun run =
      monitor.run({&faulty.program, context.seed, context.run}, {});
  if (status == LocalisationStatus::kOk && !run.epochs.empty()) judge(run, result);
  return watch.finish(std::move(result), status, watch.reason());
}

}  // namespace

std::vector<Tool> tools() {
  return {Tool{
      "symptoms",
      "2024-12",
      ToolKind::kNative,
      {ToolNeed::kTraining},
      "symptoms of faulty data in gradients, weights, biases and losses; ranks faults of the data",
      "Shah, Understanding the Challenges of Reproducing Deep Learning Bugs, Dalhousie University, "
      "2024; the rules' decisions are neutra's",
      localise,
      message_table}};
}

}  // namespace neutra::fl_adapters::symptoms
