#include "program/formats/keras_dialect.h"

#include <algorithm>
#include <array>

#include "base/error.h"
#include "program/document.h"
#include "program/layer.h"

namespace neutra::program {
namespace {

/// What Keras 2.3 doesn't know.
constexpr std::array<std::string_view, 2> kNewActivations{"gelu", "swish"};
constexpr std::array<std::string_view, 3> kNewOptimizerFields{"centered", "momentum",
                                                              "initial_accumulator_value"};
/// What Keras 2.2.4 doesn't know.
constexpr std::array<std::string_view, 4> kNewMetrics{"AUC", "Precision", "Recall",
                                                      "RootMeanSquaredError"};

template <std::size_t N>
bool is_one_of(const std::array<std::string_view, N>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

bool is_old(KerasDialect dialect) {
  return dialect == KerasDialect::kKeras23 || dialect == KerasDialect::kKeras224;
}

void refuse_in_script(const std::string& path, const std::string& found,
                      const std::string& allowed) {
  throw input_error(describe("", path, found, allowed));
}

bool is_new_metric(const std::string& name) { return is_one_of(kNewMetrics, name); }

void require_layer(KerasDialect dialect, const std::string& class_name, const Json& config,
                   const std::string& path) {
  const Json wrapped = config.value("layer", Json());
  if (wrapped.is_object()) {
    require_layer(dialect, wrapped.at("class_name"), wrapped.value("config", Json::object()),
                  path + "/config/layer");
  }
  if (dialect == KerasDialect::kKeras3 && config.value("backward_layer", Json()).is_object()) {
    const auto units = [](const Json& layer) { return layer.at("config").at("units"); };
    const Json backward = units(config["backward_layer"]);
    if (backward != units(wrapped)) {
      refuse_in_script(path + "/config/backward_layer/config/units", backward.dump(),
                       units(wrapped).dump() + ": Keras 3 takes two layers for equally wide");
    }
  }
  for (const std::string field : {"sample_variance", "two_biases"}) {
    if (!config.value(field, false)) continue;
    refuse_in_script(path + "/config/" + field, "true", "false: Keras knows none");
  }
  if (!is_old(dialect)) return;
  const Json activation = config.value("activation", Json());
  if (activation.is_string() && is_one_of(kNewActivations, activation)) {
    refuse_in_script(path + "/config/activation", activation, "activations that Keras 2.3 knows");
  }
  if (class_name == "Conv2D" && config.contains("groups")) {
    refuse_in_script(path + "/config/groups", shown(config["groups"]),
                     "1: Keras 2.3 knows no groups");
  }
  for (const char* field : {"backward_layer", "zero_output_for_mask"}) {
    if (!config.contains(field)) continue;
    refuse_in_script(path + "/config/" + field, shown(config[field]),
                     "nothing: Keras 2.3 knows none");
  }
}

void translate_layer(Json& config, const std::string& class_name) {
  if (class_name == "LeakyReLU" && config.contains("alpha")) {
    config["negative_slope"] = config["alpha"];
    config.erase("alpha");
  }
  const Field* window = find_field(find_layer(class_name)->fields, "pool_size");
  if (window != nullptr && !config.contains("pool_size")) config["pool_size"] = *window->fallback;
}

std::string dialect_loss(KerasDialect dialect, const std::string& loss) {
  if (dialect == KerasDialect::kKeras3) {
    if (loss == "kullback_leibler_divergence") return "kl_divergence";
    if (loss == "logcosh") return "log_cosh";
  }
  if (dialect == KerasDialect::kKeras224) {
    if (loss == "huber") refuse_in_script("/compile/loss", loss, "losses that Keras 2.2.4 knows");
    if (loss == "cosine_similarity") return "cosine_proximity";
  }
  if (dialect == KerasDialect::kKeras23 && loss == "huber") return "huber_loss";
  return loss;
}

void require_drawn_weights(const Json& document) {
  const Json* fit = member(document, "fit");
  const Json* weights = fit != nullptr ? member(*fit, "initial_weights") : nullptr;
  if (weights == nullptr || weights->is_null()) return;
  refuse_in_script("/fit/initial_weights", shown(*weights), "null: an export draws its weights");
}

bool take_optimizer_rules(KerasDialect dialect, Json& config) {
  const std::string path = "/compile/optimizer/config/";
  const std::string rules = config.value("rules", "keras");
  const auto refuse = [&](const char* field, const std::string& allowed) {
    if (config.contains(field)) refuse_in_script(path + field, shown(config[field]), allowed);
  };
  if (rules == "torch") refuse("rules", "keras, keras3: Keras has no formulas of PyTorch's");
  if (is_old(dialect)) {
    for (const char* field : {"rules", "weight_decay", "global_clipnorm"}) {
      refuse(field, "nothing: Keras 2.3 knows none");
    }
  }
  if (rules == "keras" && dialect == KerasDialect::kTfKeras) {
    refuse("weight_decay", "0 with the rules of tf.keras 2.4, or the rules keras3");
  }
  refuse("undecayed", "[]: the script decays all variables");
  config.erase("rules");
  return rules == "keras3";
}

Json old_optimizer(const Json& config, const std::string& name) {
  const std::string path = "/compile/optimizer";
  if (name == "Ftrl") refuse_in_script(path, name, "optimisers that Keras 2.3 knows");
  for (const auto& [field, value] : config.items()) {
    const bool fresh = is_one_of(kNewOptimizerFields, field) && name != "SGD";
    if (!fresh) continue;
    refuse_in_script(path + "/config/" + field, shown(value), "nothing: Keras 2.3 knows none");
  }
  Json renamed{{"lr", config.at("learning_rate")}};  // as scripts of its time have it
  for (const auto& [field, value] : config.items()) {
    if (field != "learning_rate") renamed[field] = value;
  }
  return renamed;
}

}  // namespace neutra::program
