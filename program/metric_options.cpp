#include "program/metric_options.h"

#include "program/document.h"

namespace neutra::program {
namespace {

constexpr const char* kAsTrained = "as_trained";  ///< the usual scale

/// The options that the first of compile.metrics has as a class: k is the metric's, too. What
/// would make another number of it is refused, since nothing here computes that.
void take_options(Json& metric, const Json& compiled, std::vector<Problem>& problems) {
  const Json& name = metric["name"];
  const Entry* entry =
      name.is_string() ? find(Vocabulary::kMetric, name.get<std::string>()) : nullptr;
  if (entry == nullptr) return;
  const Json* k = member(compiled, "k");
  if (k != nullptr && entry->facts.contains("k")) metric["k"] = *k;
  const Json* logits = member(compiled, "from_logits");
  if (logits != nullptr && entry->facts.contains("logits")) metric["from_logits"] = *logits;
  const Json* threshold = member(compiled, "threshold");
  if (threshold != nullptr && entry->facts.contains("threshold")) metric["threshold"] = *threshold;
  if (const auto option = unusual_metric_option(entry->name, compiled)) {
    problems.push_back({"/compile/metrics/0/config/" + option->path, option->found,
                        option->allowed + ", or another metric (/metric) to judge by"});
  }
}

/// A metric has the options that its entry has; the usual scale goes without saying.
void complete_options(Json& metric, const Entry& entry, Defaults defaults,
                      std::vector<Problem>& problems) {
  const Json usual = entry.facts.value("k", Json());
  const Json k = metric.value("k", Json());
  if (usual.is_null() && !k.is_null()) {
    problems.push_back({"/metric/k", shown(k), "nothing: " + entry.name + " has none"});
  }
  if (usual.is_null() || (defaults == Defaults::kDrop && (k.is_null() || k == usual))) {
    metric.erase("k");
  } else if (k.is_null()) {
    metric["k"] = usual;
  }
  const Json scale = metric.value("scale", Json(kAsTrained));
  const bool scales = entry.facts.value("scale", false) || entry.name == "r2";
  if (!scales && scale == "original") {
    problems.push_back({"/metric/scale", shown(scale),
                        std::string(kAsTrained) + ": " + entry.name + " is no error on a scale"});
  }
  if (scale == kAsTrained) metric.erase("scale");
  if (metric.value("threshold", Json(0.5)) == 0.5) {
    metric.erase("threshold");
  } else if (!entry.facts.contains("threshold")) {
    problems.push_back({"/metric/threshold", shown(metric["threshold"]),
                        "nothing: " + entry.name + " has none; binary_accuracy has"});
  }
  if (metric.value("from_logits", Json(false)) == false) {
    metric.erase("from_logits");
  } else if (!entry.facts.value("logits", false)) {
    problems.push_back(
        {"/metric/from_logits", "true", "false: " + entry.name + " is no cross entropy"});
  }
}

}  // namespace

void complete_metric(Json& document, const Json& compiled, Defaults defaults,
                     std::vector<Problem>& problems) {
  Json metric = document.value("metric", Json());
  if (metric.is_null()) {
    const Json compile = document.value("compile", Json());
    const Json* metrics = member(compile, "metrics");
    metric = {{"name", "loss"}};
    if (metrics != nullptr && metrics->is_array() && !metrics->empty()) {
      metric["name"] = metrics->front();
      take_options(metric, compiled, problems);
    }
  }
  if (metric.is_object()) {
    const Json name = metric.value("name", Json());
    const Entry* entry =
        name.is_string() ? find(Vocabulary::kMetric, name.get<std::string>()) : nullptr;
    const std::string usual = entry != nullptr ? entry->facts.value("goal", "") : "";
    if (metric.value("goal", Json()).is_null()) metric["goal"] = usual;
    if (defaults == Defaults::kDrop && metric["goal"] == usual) metric.erase("goal");
    if (entry != nullptr) complete_options(metric, *entry, defaults, problems);
  }
  document["metric"] = metric;
}

std::optional<Problem> unusual_metric_option(const std::string& name, const Json& config) {
  const Entry* entry = find(Vocabulary::kMetric, name);
  if (entry == nullptr) return std::nullopt;
  const Json usual_options = entry->facts.value("usual", Json::object());
  for (const auto& [option, usual] : usual_options.items()) {
    const Json* value = member(config, option);
    if (value != nullptr && normal_number(*value) != usual) {
      return Problem{option, shown(*value), shown(usual)};
    }
  }
  return std::nullopt;
}

}  // namespace neutra::program
