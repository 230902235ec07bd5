#include "program/formats/metric_script.h"

#include <algorithm>

#include "base/numbers.h"
#include "program/metric_name.h"
#include "program/vocabulary.h"

namespace neutra::program {

bool is_streamed(const std::string& metric) {
  const std::string name = parse_metric_name(metric).name;
  return name == "accuracy" || name == "mae" || name == "mse";
}

std::string metric_of_rows(const std::string& metric) {
  MetricName given = parse_metric_name(metric);
  given.original_scale = false;
  return to_string(given);
}

std::string metric_call(const std::string& metric, const std::string& targets,
                        const std::string& outputs) {
  const MetricName given = parse_metric_name(metric);
  return "metric_" + given.name + "(" + targets + ", " + outputs +
         (given.k != 0 ? ", " + std::to_string(given.k) : "") +
         (given.from_logits ? ", True" : "") +
         (given.threshold != 0.5 ? ", " + python_repr(given.threshold) : "") + ")";
}

std::string metric_label(const std::string& metric) {
  const MetricName given = parse_metric_name(metric);
  return given.original_scale ? given.name + " (on the scale of y_test.npy)" : metric;
}

Json keras_metrics(const Json& given, const Json& names) {
  const Json& words = given.size() == 1 && given[0].is_array() ? given[0] : given;
  Json result = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Entry* entry = find(Vocabulary::kMetric, names[i].get<std::string>());
    const Json keras = entry != nullptr ? entry->facts.value("keras", Json(entry->name)) : names[i];
    if (keras.is_null()) continue;
    const Json own = entry != nullptr ? entry->facts.value("own", Json::array()) : Json::array();
    const bool known =
        words[i].is_string() && std::find(own.begin(), own.end(), words[i]) == own.end();
    result.push_back(known ? words[i] : keras);
  }
  return result;
}

}  // namespace neutra::program
