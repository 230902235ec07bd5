#include "program/warnings.h"

#include <algorithm>

#include "base/words.h"
#include "program/metric_logs.h"
#include "program/normal.h"
#include "program/vocabulary.h"

namespace neutra::program {
namespace {

constexpr std::string_view kValidation = "val_";

/// The logs that callbacks see at the end of an epoch, in Keras's order.
std::vector<MetricLog> logs_of(const Json& document, bool validates) {
  std::vector<MetricLog> logs = {{"loss", "loss"}};
  for (const MetricLog& log : metric_logs(document)) logs.push_back(log);
  if (!validates) return logs;
  for (std::size_t i = 0, count = logs.size(); i < count; ++i) {
    logs.push_back({std::string(kValidation) + logs[i].name, logs[i].metric});
  }
  return logs;
}

/// Why a monitor is not in the logs.
std::string missing_monitor_reason(const std::string& monitor, const std::vector<MetricLog>& logs,
                                   bool validates) {
  const bool of_validation = monitor.starts_with(kValidation);
  const std::string name = of_validation ? monitor.substr(kValidation.size()) : monitor;
  const auto is_name = [&](const MetricLog& log) { return log.name == name; };
  if (of_validation && !validates) {
    return "the program has no validation rows (fit.validation_split or data.validation gives it "
           "some)";
  }
  const Entry* entry = find(Vocabulary::kMetric, name);
  for (const MetricLog& log : logs) {
    if (entry == nullptr || log.metric != entry->name || is_name(log)) continue;
    if (of_validation != log.name.starts_with(kValidation)) continue;
    return "compile.metrics spells that metric so that it is `" + log.name + "`";
  }
  return "compile.metrics has no metric of that name";
}

/// The goal of a metric that is monitored; "" where it isn't known.
std::string goal_of(const std::string& metric) {
  if (metric == "loss") return "minimize";
  const Entry* entry = find(Vocabulary::kMetric, metric);
  return entry != nullptr ? entry->facts.value("goal", "") : "";
}

class CallbackWarnings {
 public:
  CallbackWarnings(const Json& document, const Json& fit, const Json& data)
      : epochs_(fit.at("epochs")),
        validates_(fit.at("validation_split") > 0 || !data.value("validation", Json()).is_null()),
        logs_(logs_of(document, validates_)) {
    const Json& callbacks = fit.at("callbacks");
    for (std::size_t i = 0; i < callbacks.size(); ++i) {
      if (callbacks[i].at("class_name") != "EarlyStopping") continue;
      path_ = "/fit/callbacks/" + std::to_string(i) + "/config/";
      early_stopping(callbacks[i].at("config"));
    }
  }

  std::vector<Warning> warnings;

 private:
  void add(const char* field, const std::string& text) {
    warnings.push_back({path_ + field, text});
  }

  void early_stopping(const Json& config) {
    const std::string monitor = config.at("monitor");
    const auto log = std::find_if(logs_.begin(), logs_.end(),
                                  [&](const MetricLog& each) { return each.name == monitor; });
    if (log == logs_.end()) {
      std::vector<std::string> available;
      for (const MetricLog& each : logs_) available.push_back(each.name);
      // The first two sentences are Keras's own (tf.keras 2.4, callbacks.py: get_monitor_value).
      add("monitor", "Early stopping conditioned on metric `" + monitor +
                         "` which is not available. Available metrics are: " +
                         join(available, ",") + ". It never stops the training: " +
                         missing_monitor_reason(monitor, logs_, validates_));
      return;
    }
    const std::int64_t patience = config.at("patience");
    if (patience >= epochs_) {
      add("patience", "EarlyStopping on `" + monitor + "` waits for " + std::to_string(patience) +
                          " epochs without improvement, and fit.epochs is " +
                          std::to_string(epochs_) + ": it never stops the training");
      return;
    }
    direction(config, *log);
  }

  /// tf.keras 2.4, callbacks.py: EarlyStopping's mode auto maximises names with "acc" in them.
  void direction(const Json& config, const MetricLog& log) {
    const std::string goal = goal_of(log.metric), mode = config.at("mode");
    const bool is_auto = mode == "auto";
    const bool maximizes = is_auto ? log.name.find("acc") != std::string::npos : mode == "max";
    if (goal.empty() || maximizes == (goal == "maximize")) return;
    const std::string better = maximizes ? "lower" : "higher", wrong = maximizes ? "rise" : "fall";
    add("mode", "EarlyStopping on `" + log.name + "` has mode " + mode +
                    (is_auto ? std::string(", which means ") + (maximizes ? "max" : "min") +
                                   " for a name " + (maximizes ? "with" : "without") + " \"acc\""
                             : "") +
                    ": it stops the training once the metric doesn't " + wrong + ", and " + better +
                    " is better (mode " + (maximizes ? "min" : "max") + ")");
  }

  std::int64_t epochs_;
  bool validates_;
  std::vector<MetricLog> logs_;
  std::string path_;
};

/// Test rows that a program has trained on.
std::vector<Warning> test_row_warnings(const Json& data) {
  constexpr const char* kMeaning =
      ": the metric says how well these are learned by heart, not how well other rows are "
      "predicted";
  if (data.value("test", Json()) == "train") {
    return {{"/data/test", std::string("the test rows are the training rows") + kMeaning}};
  }
  const Json& arguments = data.at("arguments");
  for (const auto& [train, test] :
       {std::pair{"x_train", "x_test"}, {"train_images", "test_images"}, {"train", "test"}}) {
    const Json* from = member(arguments, train);
    if (const Json* to = member(arguments, test);
        from != nullptr && to != nullptr && *from == *to) {
      return {{std::string("/data/arguments/") + test,
               std::string("the test rows are those of ") + train + kMeaning}};
    }
  }
  return {};
}

/// Of each MinMaxNorm in a part of the document: Keras takes any rate, which blends the norm as it
/// is (0) with the one that is asked for (1).
void constraint_warnings(const Json& part, const std::string& path,
                         std::vector<Warning>& warnings) {
  if (!part.is_structured()) return;
  if (part.is_object() && part.value("class_name", Json()) == "MinMaxNorm") {
    const Json* config = member(part, "config");
    const Json* rate = config != nullptr ? member(*config, "rate") : nullptr;
    if (rate != nullptr && rate->is_number() && !(*rate >= 0 && *rate <= 1)) {
      warnings.push_back({path + "/config/rate", "MinMaxNorm's rate is " + rate->dump() +
                                                     ", outside of 0 to 1: each step takes the "
                                                     "weights away from the norms asked for"});
    }
  }
  for (const auto& [name, value] : part.items()) {
    constraint_warnings(value, path + "/" + name, warnings);
  }
}

}  // namespace

std::vector<Warning> warnings_of(const Program& program) {
  std::vector<Problem> problems;
  const Json normal = normal_form(program.document, Defaults::kFill, problems);
  if (!problems.empty()) return {};  // it isn't trained
  const Json& data = normal.at("data");
  std::vector<Warning> warnings =
      CallbackWarnings(program.document, normal.at("fit"), data).warnings;
  const std::vector<Warning> of_rows = test_row_warnings(data);
  warnings.insert(warnings.end(), of_rows.begin(), of_rows.end());
  constraint_warnings(normal, "", warnings);
  const Json& weights = normal.at("fit").at("class_weight");
  if (weights.is_object() &&
      std::all_of(weights.begin(), weights.end(), [](const Json& weight) { return weight == 0; })) {
    warnings.push_back(
        {"/fit/class_weight", "all class weights are 0: the loss is 0 and nothing is learned"});
  }
  return warnings;
}

}  // namespace neutra::program
