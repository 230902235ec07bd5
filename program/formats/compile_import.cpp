#include "program/formats/compile_import.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/words.h"
#include "program/document.h"
#include "program/formats/keras_json.h"
#include "program/formats/keras_versions.h"
#include "program/formats/schedule_import.h"
#include "program/metric_options.h"

namespace neutra::program {
namespace {

/// The second number of a version; 0 where there is none.
int minor_version(const std::string& version) {
  const std::size_t dot = version.find('.');
  int minor = 0;
  if (dot != std::string::npos) {
    std::from_chars(version.data() + dot + 1, version.data() + version.size(), minor);
  }
  return minor;
}

/// What a metric's class was given.
Json metric_options(const Json& metric) {
  const Json& config = value_of(metric, "config");
  return config.is_object() ? without_float_noise(config) : Json::object();
}

/// A metric's word; null for one that isn't known.
Json metric_name(const Json& metric) {
  Json name = metric;
  if (metric.is_object()) {
    const Json& config = value_of(metric, "config");
    const std::string class_name = text_of(metric, "class_name");
    name = class_name;
    if (class_name == "function" && config.is_string()) name = config;
    // Functions are wrapped; "accuracy" is the wish that one of three fulfils.
    if (class_name == "MeanMetricWrapper") {
      const std::string given = text_of(config, "name");
      name = given == "accuracy" || given == "acc" ? Json("accuracy") : value_of(config, "fn");
    }
  }
  if (!name.is_string()) return {};
  const Entry* entry = find(Vocabulary::kMetric, name.get<std::string>());
  const bool logits = value_of(value_of(metric, "config"), "from_logits") == true;
  if (entry == nullptr || (logits && !entry->facts.contains("logits"))) return {};
  return entry->name;
}

}  // namespace

void CompileImport::compile() {
  const Json& stored = notes_.model.training;
  if (stored.is_null()) {
    notes_.assume("compile", "not in the file",
                  "the model was saved without its training settings");
    return;
  }
  if (!stored.is_object()) return notes_.refuse("training_config", shown(stored), "an object");
  const std::vector<Field>& fields = section_fields("compile");
  for (const auto& [key, value] : stored.items()) {
    if (key == "optimizer" || key == "optimizer_config") {
      if (!is_given("optimizer") && !value.is_null()) add_optimizer(value);
    } else if (key == "loss") {
      if (!is_given("loss")) add_loss(value);
    } else if (key == "metrics") {
      if (!is_given("metrics")) add_metrics(value);
    } else if (is_given(key)) {
      continue;
    } else if (value.is_null() || is_off("compile", key, value)) {
      continue;
    } else if (const Field* field = find_field(fields, key);
               field == nullptr || field->type != FieldType::kIgnored) {
      notes_.refuse("training_config: " + key, shown(value),
                    "a model trained without" + or_given());
    }
  }
}

/// Do the training options say this of the compile section? They win.
bool CompileImport::is_given(const std::string& field) const {
  const Json& options = training_;
  return !value_of(options, field).is_null() || member(value_of(options, "compile"), field);
}

/// What helps where the file's training can't be represented.
std::string CompileImport::or_given() const {
  return training_.is_null() ? "; --training FILE gives others (neutra import --help)" : "";
}

/// Clipping at 0: old and new Keras clip nothing then, tf.keras up to 2.10 clips all to nothing.
void CompileImport::drop_clipping(Json& config) {
  for (const char* field : {"clipnorm", "clipvalue", "global_clipnorm"}) {
    const Json& bound = value_of(config, field);
    if (!bound.is_number() || bound != 0) continue;
    if (notes_.model.major_version() == 2 && !notes_.model.is_standalone() &&
        minor_version(notes_.model.version) < 11) {
      notes_.refuse(std::string("optimizer: ") + field,
                    "0, with which Keras " + notes_.model.version + " trains no weight",
                    "null or a number > 0" + or_given());
    } else {
      notes_.assume(std::string("compile.optimizer.config.") + field, "null",
                    "0 in the file: Keras " + notes_.model.version + " clips nothing then");
    }
    config.erase(field);
  }
}

void CompileImport::add_optimizer(const Json& given) {
  Json value = given;
  // An Adam with another default, which files have in any case.
  if (text_of(value, "class_name").ends_with("AdamW")) value["class_name"] = "Adam";
  Json optimizer =
      notes_.named(Vocabulary::kOptimizer, "optimizer", "optimizer", value, "optimizer");
  Json* config = optimizer.is_object() ? &optimizer["config"] : nullptr;
  if (config != nullptr && config->is_object()) {
    if (const Json rate = value_of(*config, "learning_rate"); rate.is_object()) {
      add_schedule(rate, *config);
    }
    add_rules(value_of(value, "config"), *config);
    drop_clipping(*config);
    const std::string class_name = text_of(optimizer, "class_name");
    if (notes_.model.is_standalone() && class_name == "Adagrad" &&
        !config->contains("initial_accumulator_value")) {
      (*config)["initial_accumulator_value"] = 0;
      notes_.assume("compile.optimizer.config.initial_accumulator_value", "0",
                    "Adagrad of Keras " + notes_.model.version + " starts there");
    }
    if (notes_.model.is_standalone() && config->contains("clipnorm") &&
        !(*config)["clipnorm"].is_null()) {
      notes_.assume("compile.optimizer.config.clipnorm", shown((*config)["clipnorm"]),
                    "Keras " + notes_.model.version +
                        " clips the norm of all gradients, tf.keras 2.4 that of each");
    }
  }
  document_["compile"]["optimizer"] = std::move(optimizer);
}

/// Schedules that are a program's fit.schedule or an optimiser's decay.
void CompileImport::add_schedule(const Json& schedule, Json& config) {
  const ImportedSchedule made = import_schedule(
      schedule,
      [&](const std::string& place, const std::string& found, const std::string& allowed) {
        notes_.refuse(place, found, allowed + or_given());
      });
  if (made.learning_rate.is_null()) return;
  const bool scheduled = !made.schedule.is_null();
  if (scheduled) {
    document_["fit"]["schedule"] = made.schedule;
  } else {
    config["decay"] = made.decay;
  }
  notes_.assume(scheduled ? "fit.schedule" : "compile.optimizer.config.decay",
                shown(scheduled ? made.schedule : made.decay),
                "the schedule " + text_of(schedule, "class_name") + " says the same");
  config["learning_rate"] = made.learning_rate;
}

/// Optimisers of Keras 2.11 and later have other formulas than those of tf.keras 2.4. All of them,
/// and no older one, store a weight_decay.
void CompileImport::add_rules(const Json& stored, Json& config) {
  if (!stored.contains("weight_decay") || config.contains("rules")) return;
  config["rules"] = "keras3";
  const Json& decay = value_of(config, "weight_decay");
  if (decay.is_null() || decay == 0) config.erase("weight_decay");
}

void CompileImport::add_loss(const Json& stored) {
  const Json* value = &stored;
  // One loss for each output: there is one.
  if (value->is_array() && value->size() == 1) value = &value->front();
  if (value->is_object() && !value->contains("class_name") && value->size() == 1) {
    value = &value->front();
  }
  if (value->is_null()) return;
  document_["compile"]["loss"] = notes_.named(Vocabulary::kLoss, "loss", "loss", *value, "loss");
}

void CompileImport::add_metrics(const Json& stored) {
  Json names = Json::array();
  const Json* list = &stored;
  if (list->is_object() && list->size() == 1) list = &list->front();  // by output
  while (list->is_array() && list->size() == 1 && list->front().is_array()) list = &list->front();
  Json all = list->is_array() ? *list : list->is_null() ? Json::array() : Json::array({*list});
  for (const Json& metric : all) {
    const Json name = metric_name(metric);
    const auto leave_out = [&](const std::string& reason) {
      notes_.assume("compile.metrics", "without " + shown(metric),
                    reason + "; metrics don't change the training");
    };
    if (name.is_null()) {
      leave_out("neutra doesn't know this metric");
      continue;
    }
    const auto same = [&](const Json& each) {
      return each == name || value_of(each, "class_name") == name;
    };
    if (std::any_of(names.begin(), names.end(), same)) continue;
    const Json options = metric_options(metric);
    if (const auto option = unusual_metric_option(name, options)) {
      leave_out(option->path + " = " + option->found + ": neutra has it with " + option->allowed +
                " alone");
      continue;
    }
    // The program's check takes these options of the first metric.
    Json kept = Json::object();
    for (const char* option : {"k", "from_logits", "threshold"}) {
      const Json& value = value_of(options, option);
      const bool has = option != std::string_view("threshold") || name == "binary_accuracy";
      if (has && !value.is_null() && value != false && value != 0.5) kept[option] = value;
    }
    if (kept.empty()) {
      names.push_back(name);
    } else if (names.empty()) {
      names.push_back({{"class_name", name}, {"config", kept}});
    } else {
      leave_out("only the first metric has " + shown(kept));
    }
  }
  document_["compile"]["metrics"] = std::move(names);
}

void CompileImport::training_options(const std::string& file) {
  const Json& options = training_;
  if (options.is_null()) return;
  const auto fail = [&](const std::string& place, const Json& found, const std::string& allowed) {
    throw input_error(describe(file, place, shown(found), allowed));
  };
  if (!options.is_object()) fail("", options, "an object");
  notes_.assume("compile, fit", file, "training options beside the model");
  static const std::vector<std::string> known = {
      "optimizer", "opt_kwargs", "batchsize", "batch_size",       "epoch",      "epochs",
      "loss",      "metrics",    "shuffle",   "validation_split", "callbacks",  "dataset",
      "compile",   "fit",        "data",      "metric",           "task",       "name",
      "trained",   "keys",       "format",    "version",          "input_layer"};
  for (const auto& [key, value] : options.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw input_error(describe(file, key, "an unknown field", allowed_words(key, known)));
    }
    if (key == "compile" || key == "fit") {
      if (!value.is_object()) fail(key, value, "an object");
      for (const auto& [field, setting] : value.items()) document_[key][field] = setting;
    } else if (key == "data" || key == "metric" || key == "task" || key == "name" ||
               key == "trained") {
      document_[key] = value;
    } else if (key == "batchsize" || key == "batch_size") {
      document_["fit"]["batch_size"] = value;
    } else if (key == "epoch" || key == "epochs") {
      document_["fit"]["epochs"] = value;
    } else if (key == "shuffle" || key == "validation_split") {
      document_["fit"][key] = value;
    } else if (key == "loss") {
      add_loss(value);
    } else if (key == "metrics") {
      add_metrics(value);
    } else if (key == "callbacks" && !value.empty()) {
      document_["fit"]["callbacks"] = value;
    } else if (key == "dataset" && !value.is_null()) {
      notes_.assume("data", shown(value), "only the name of a data set; --data gives its rows");
    }
  }
  if (options.contains("optimizer")) {
    Json optimizer = options["optimizer"];
    if (optimizer.is_string()) {
      optimizer = {{"class_name", optimizer},
                   {"config", options.value("opt_kwargs", Json::object())}};
    }
    add_optimizer(optimizer);
  }
}

}  // namespace neutra::program
