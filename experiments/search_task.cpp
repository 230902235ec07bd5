#include "experiments/search_task.h"

namespace neutra::experiments {

MetricInfo metric_of(const program::Program& program, const std::string& file) {
  program::require_valid(program.document, file);
  const auto resolved = program::resolve(program);
  return {resolved.metric, resolved.goal, search::metric_bound(resolved.metric, resolved.goal)};
}

search::SearchTask search_task(const Fault& fault) {
  const MetricInfo metric = metric_of(fault.buggy, fault.file.string());
  search::SearchTask task;
  task.fault_id = fault.id;
  task.fault_file = std::filesystem::absolute(fault.file).string();
  if (fault.script) task.script = stored_script(*fault.script);
  task.space = &fault.space;
  task.start = fault.space.base_parameters();
  task.fixed = fault.fixed;
  task.fixed_parameters = fault.fixed_parameters;
  task.goal = metric.goal;
  task.metric = metric.name;
  task.metric_bound = metric.bound;
  return task;
}

std::string search_fingerprint(const Fault& fault, training::Trainer& trainer) {
  std::string text = trainer.fingerprint(fault.buggy);
  if (fault.fixed && fault.fixed->document.at("data") != fault.buggy.document.at("data")) {
    text += "; known fix: " + trainer.fingerprint(*fault.fixed);
  }
  return text;
}

}  // namespace neutra::experiments
