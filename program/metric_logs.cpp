#include "program/metric_logs.h"

#include <algorithm>
#include <cctype>

#include "program/vocabulary.h"

namespace neutra::program {
namespace {

/// Name of an object of a class: MeanSquaredError is mean_squared_error, AUC auc (tf.keras 2.4,
/// generic_utils.py: to_snake_case).
std::string snake_case(const std::string& name) {
  const auto is = [&](std::size_t i, int (*kind)(int)) {
    return i < name.size() && kind(static_cast<unsigned char>(name[i])) != 0;
  };
  std::string text;
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool word = is(i + 1, std::islower) || is(i + 1, std::isdigit) || is(i - 1, std::islower);
    if (i > 0 && is(i, std::isupper) && word) text += '_';
    text += static_cast<char>(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return text;
}

}  // namespace

std::vector<MetricLog> metric_logs(const Json& document) {
  std::vector<MetricLog> logs;
  const Json compile = document.value("compile", Json::object());
  if (!compile.is_object()) return logs;
  Json metrics = compile.value("metrics", Json::array());
  if (metrics.is_array() && metrics.size() == 1 && metrics[0].is_array()) {
    metrics = Json(metrics[0]);
  }
  for (const Json& metric : metrics) {
    std::string name;
    if (metric.is_string()) {
      name = metric;
      // A class that has no function of its own: AUC, Precision, Recall.
      const Entry* entry = find(Vocabulary::kMetric, name);
      if (entry != nullptr && entry->name == name) name = snake_case(name);
    } else if (metric.is_object()) {
      const Json config = metric.value("config", Json::object());
      const Json given = config.is_object() ? config.value("name", Json()) : Json();
      const Json type = metric.value("class_name", Json());
      if (given.is_string()) {
        name = given;
      } else if (type.is_string()) {
        name = snake_case(type);
      }
    }
    const Entry* entry = find(Vocabulary::kMetric, name);
    if (!name.empty()) logs.push_back({name, entry != nullptr ? entry->name : name});
  }
  return logs;
}

void keep_effective_callbacks(Json& normal, const Json& document) {
  if (!normal.is_object() || !normal.contains("fit") || !normal["fit"].is_object()) return;
  Json& fit = normal["fit"];
  if (!fit.contains("callbacks") || !fit["callbacks"].is_array()) return;
  const auto logs = metric_logs(document);
  Json kept = Json::array();
  for (Json callback : fit["callbacks"]) {
    const std::string type = callback.is_object() ? callback.value("class_name", "") : "";
    const bool watches = type == "EarlyStopping" || type == "ReduceLROnPlateau";
    Json config = watches ? callback.value("config", Json::object()) : Json();
    if (config.is_object() && config.contains("monitor") && config["monitor"].is_string()) {
      const std::string monitor = config["monitor"];
      const std::string prefix = monitor.starts_with("val_") ? "val_" : "";
      const std::string name = monitor.substr(prefix.size());
      const auto log = std::find_if(logs.begin(), logs.end(),
                                    [&](const MetricLog& known) { return known.name == name; });
      if (name != "loss" && log == logs.end()) continue;
      if (log != logs.end()) callback["config"]["monitor"] = prefix + log->metric;
    }
    kept.push_back(std::move(callback));
  }
  fit["callbacks"] = std::move(kept);
}

}  // namespace neutra::program
