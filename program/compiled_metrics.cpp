#include "program/compiled_metrics.h"

#include <algorithm>
#include <set>

#include "base/json.h"
#include "program/normal.h"
#include "program/vocabulary.h"

namespace neutra::program {

namespace {

/// A field of the compile section in normal form; null where there is none.
Json compile_field(const Json& document, const char* field) {
  std::vector<Problem> problems;
  const Json normal = normal_form(document, Defaults::kFill, problems);
  const Json* compile = member(normal, "compile");
  const Json* value = compile != nullptr ? member(*compile, field) : nullptr;
  return value != nullptr ? *value : Json();
}

}  // namespace

std::vector<std::string> compiled_metrics(const Json& document) {
  std::vector<std::string> names;
  const Json metrics = compile_field(document, "metrics");
  if (!metrics.is_array()) return names;
  for (const Json& metric : metrics) {
    if (!metric.is_string()) continue;
    const Entry* entry = find(Vocabulary::kMetric, metric.get<std::string>());
    if (entry != nullptr && entry->facts.contains("goal") && entry->name != "loss" &&
        std::find(names.begin(), names.end(), entry->name) == names.end()) {
      names.push_back(entry->name);
    }
  }
  return names;
}

Program script_of(Program program) {
  Json& document = program.document;
  if (!document.is_object()) return program;
  static const std::set<std::string> kOfAnyTargets{"accuracy", "mae", "mse"};
  const std::vector<std::string> metrics = compiled_metrics(document);
  const bool fits = !metrics.empty() && kOfAnyTargets.contains(metrics.front());
  document["metric"] = {{"name", fits ? metrics.front() : "loss"}};
  if (const Json* task = member(document, "task"); task != nullptr && !task->is_null()) {
    return program;
  }
  Json loss = compile_field(document, "loss");
  if (loss.is_object()) loss = loss.value("class_name", Json());
  const bool classifies =
      std::find(metrics.begin(), metrics.end(), "accuracy") != metrics.end() ||
      (loss.is_string() && loss.get<std::string>().find("crossentropy") != std::string::npos);
  document["task"] = classifies ? "classification" : "regression";
  return program;
}

}  // namespace neutra::program
