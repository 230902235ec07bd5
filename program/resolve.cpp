#include <map>

#include "base/error.h"
#include "program/document.h"
#include "program/metric_logs.h"
#include "program/metric_name.h"
#include "program/program.h"
#include "program/training_checks.h"

/// Validation and the typed form: program/program.h.
namespace neutra::program {
namespace {

/// All that is known of a document, and what is wrong with it.
Inference checked(const Json& document, const DataInfo* data, std::vector<Problem>& problems) {
  Inference known = infer_shapes(document, data, problems);
  check_training(known, problems);
  return known;
}

[[noreturn]] void refuse(const std::vector<Problem>& problems, const std::string& file) {
  std::string text;
  for (const Problem& problem : problems) {
    if (!text.empty()) text += "\n";
    text +=
        describe(file, problem.path.empty() ? "/" : problem.path, problem.found, problem.allowed);
  }
  throw input_error(text);
}

LoopStyle loop_style(const Json& loop) {
  using enum LoopStyle::ZeroGrad;
  static const std::map<std::string, LoopStyle::ZeroGrad> words = {{"each_step", kEachStep},
                                                                   {"each_epoch", kEachEpoch},
                                                                   {"never", kNever},
                                                                   {"before_step", kBeforeStep}};
  LoopStyle style;
  style.zero_grad = words.at(loop.at("zero_grad"));
  style.step = loop.at("step");
  style.eval_mode = loop.at("eval_mode");
  style.sum = loop.at("reduction") == "sum";
  style.left_out = loop.at("left_out").get<std::vector<std::size_t>>();
  if (!loop.at("detached").is_null()) style.detached = loop.at("detached");
  return style;
}

}  // namespace

std::vector<Problem> validate(const Json& document, const DataInfo* data) {
  std::vector<Problem> problems;
  checked(document, data, problems);
  return problems;
}

void require_valid(const Json& document, const std::string& file, const DataInfo* data) {
  if (const auto problems = validate(document, data); !problems.empty()) refuse(problems, file);
}

ResolvedProgram resolve(const Program& program, const DataInfo* data) {
  std::vector<Problem> problems;
  Inference known = checked(program.document, data, problems);
  if (!problems.empty()) refuse(problems, "");
  Json& normal = known.normal;
  keep_effective_callbacks(normal, program.document);
  const Json& fit = normal.at("fit");
  ResolvedProgram resolved;
  resolved.input_shape = known.input;
  resolved.layers = std::move(known.layers);
  resolved.optimizer = normal.at("compile").at("optimizer");
  resolved.loss = loss_word(normal.at("compile").at("loss"));
  resolved.loss_options = loss_options(normal.at("compile").at("loss"));
  resolved.loss_options.any_logits = normal.at("compile").at("logits") == "any";
  const Json& metric = normal.at("metric");
  const std::string metric_name = metric.at("name");
  const Entry& measured = *find(Vocabulary::kMetric, metric_name);
  const auto k = metric.value("k", std::int64_t{0});
  resolved.metric =
      to_string(MetricName{metric_name, k == measured.facts.value("k", std::int64_t{0}) ? 0 : k,
                           metric.value("scale", "") == "original",
                           metric.value("from_logits", false), metric.value("threshold", 0.5)});
  resolved.goal = metric.at("goal") == "maximize" ? Goal::kMaximize : Goal::kMinimize;
  resolved.batch_size = fit.at("batch_size");
  resolved.epochs = fit.at("epochs");
  resolved.shuffle = fit.at("shuffle");
  resolved.validation_split = fit.at("validation_split");
  for (const Json& weight : fit.at("class_weight")) {
    resolved.class_weights.push_back(weight.get<double>());
  }
  resolved.sample_weights = has_sample_weights(program.document.at("data"));
  resolved.callbacks = fit.at("callbacks");
  if (const Json& schedule = fit.at("schedule"); !schedule.is_null()) {
    if (schedule.at("kind") == "exponential" && schedule.at("steps") == 1) {
      resolved.schedule = {schedule.at("decay_rate"), schedule.at("every") == "batch"};
    } else {
      resolved.optimizer["config"]["schedule"] = schedule;
    }
  }
  resolved.loop = loop_style(fit.at("loop"));
  resolved.trained_mutations = normal.at("trained").at("mutations");
  resolved.data = program.document.at("data");
  if (normal.at("task").is_null()) {
    // The loss has an entry among the metrics, too.
    const std::string& judge = metric_name == "loss" ? resolved.loss : metric_name;
    resolved.task = find(Vocabulary::kMetric, judge)->facts.value("task", "regression");
  } else {
    resolved.task = normal.at("task");
  }
  return resolved;
}

bool has_sample_weights(const Json& data) {
  const Json* arguments = member(data, "arguments");
  if (arguments == nullptr) return false;
  for (const char* name : {"sample_weight", "sample_weight_train", "sample_weight_test"}) {
    const Json* value = member(*arguments, name);
    if (value != nullptr && (*value == true || value->is_string())) return true;
  }
  return false;
}

}  // namespace neutra::program
