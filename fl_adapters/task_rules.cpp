#include "fl_adapters/task_rules.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "base/error.h"
#include "base/json.h"
#include "fl_adapters/embedded.h"
#include "program/document.h"
#include "program/normal.h"

namespace neutra::fl_adapters {
namespace {

using Words = std::set<std::string, std::less<>>;

struct Tables {
  std::map<std::string, std::pair<double, double>, std::less<>> ranges;
  Words classes, probabilities, several_outputs, class_numbers;
  std::vector<std::string> activations, losses;  ///< that tools advise
};

const Tables& tables() {
  static const Tables tables = [] {
    const Json json = parse_json(embedded::allowed_by_task, "fl_adapters/task_rules.json");
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    Tables read;
    for (const auto& [name, range] : json.at("ranges").items()) {
      read.ranges[name] = {range[0].is_null() ? -kInfinity : range[0].get<double>(),
                           range[1].is_null() ? kInfinity : range[1].get<double>()};
    }
    const Json& losses = json.at("losses");
    read.classes = losses.at("classes").get<Words>();
    read.probabilities = losses.at("probabilities").get<Words>();
    read.several_outputs = losses.at("several_outputs").get<Words>();
    read.class_numbers = losses.at("class_numbers").get<Words>();
    read.activations = json.at("advised").at("activations").get<std::vector<std::string>>();
    read.losses = json.at("advised").at("losses").get<std::vector<std::string>>();
    return read;
  }();
  return tables;
}

/// Classification or regression, also of a program that Keras refuses.
bool is_regression(const program::Program& program, const Json& normal, const std::string& loss) {
  if (const Json& task = normal.at("task"); task.is_string()) return task == "regression";
  try {
    return program::resolve(program).task == "regression";
  } catch (const Error&) {
    return !tables().classes.contains(loss);
  }
}

}  // namespace

std::optional<program::DataInfo> data_of(const program::Program& program,
                                         training::LocalTrainer* trainer) {
  if (trainer == nullptr) return std::nullopt;
  try {
    const auto data = trainer->dataset(program);
    if (data != nullptr) return data->info();
  } catch (const Error& error) {
    if (error.exit() == Exit::kInterrupted) throw;
  }
  return std::nullopt;
}

TaskRules::TaskRules(const program::Program& program, std::optional<program::DataInfo> data)
    : data_(std::move(data)) {
  std::vector<program::Problem> problems;
  const Json normal = program::normal_form(program.document, program::Defaults::kFill, problems);
  const Json* layers = program::find_layers(normal);
  if (!problems.empty() || layers == nullptr) return;
  loss_ = program::loss_word(normal.at("compile").at("loss"));
  regression_ = is_regression(program, normal, loss_);
  static const std::map<std::string, std::string, std::less<>> own_layers{
      {"ELU", "elu"}, {"LeakyReLU", "linear"}, {"ReLU", "relu"}, {"Softmax", "softmax"}};
  for (std::size_t i = layers->size(); i-- > 0;) {
    const Json& layer = program::innermost_layer((*layers)[i]);
    const std::string name = layer.at("class_name");
    const Json& config = layer.at("config");
    const Json* activation = member(config, "activation");
    const auto own = own_layers.find(name);
    if (output_layer_ < 0 && (own != own_layers.end() || activation != nullptr)) {
      output_layer_ = static_cast<int>(i);
      activation_ = own != own_layers.end() ? own->second : activation->get<std::string>();
    }
    for (const char* field : {"units", "filters"}) {
      if (const Json* extent = member(config, field); extent != nullptr && outputs_ == 0) {
        outputs_ = extent->get<std::int64_t>();
      }
    }
    // Only layers that keep the last extent may lie behind the one that says it.
    static const Words kKeep{
        "Activation",    "BatchNormalization", "Dropout",         "ELU",     "GaussianDropout",
        "GaussianNoise", "LayerNormalization", "LeakyReLU",       "Masking", "ReLU",
        "Softmax",       "SpatialDropout1D",   "SpatialDropout2D"};
    if (!kKeep.contains(name)) break;
  }
}

bool TaskRules::class_numbers() const {
  if (tables().class_numbers.contains(loss_)) return true;
  return data_ && !regression_ && outputs_ > 1 && data_->y_is_integer &&
         (data_->y.empty() || data_->y.back() == 1);
}

std::int64_t TaskRules::label_width() const {
  if (data_) return data_->y.empty() ? 1 : data_->y.back();
  return class_numbers() ? 1 : outputs_;
}

std::int64_t TaskRules::classes() const {
  if (!class_numbers()) return label_width();
  if (!data_ || !(data_->y_max < 1e6)) return outputs_;
  return std::max<std::int64_t>(2, std::llround(data_->y_max) + 1);
}

bool TaskRules::allows_activation(std::string_view activation) const {
  const auto known = tables().ranges.find(activation);
  if (activation == "softmax" && (regression_ || outputs_ == 1)) return false;
  if (known == tables().ranges.end()) {
    return regression_ || !tables().probabilities.contains(loss_);
  }
  const auto [low, high] = known->second;
  if (regression_) return data_ && data_->y_min >= low && data_->y_max <= high;
  if (tables().probabilities.contains(loss_)) {
    // Of a single output that says which of two classes; more classes need more outputs.
    const bool fits = !(data_ && outputs_ == 1) || (data_->y_min >= low && data_->y_max <= high);
    return low >= 0 && high <= 1 && fits;
  }
  return true;
}

bool TaskRules::allows_loss(std::string_view loss) const {
  const Tables& known = tables();
  if (regression_) return !known.classes.contains(loss);
  if (outputs_ == 1) return !known.several_outputs.contains(loss);
  return known.class_numbers.contains(loss) == class_numbers();
}

namespace {

template <typename Allows>
bool is_settled(const std::string& present, const std::vector<std::string>& advised,
                Allows allows) {
  return allows(present) && std::none_of(advised.begin(), advised.end(), [&](const auto& other) {
           return other != present && allows(other);
         });
}

}  // namespace

bool TaskRules::activation_is_settled() const {
  return output_layer_ >= 0 &&
         is_settled(activation_, tables().activations,
                    [&](const std::string& word) { return allows_activation(word); });
}

bool TaskRules::loss_is_settled() const {
  return !loss_.empty() && is_settled(loss_, tables().losses,
                                      [&](const std::string& word) { return allows_loss(word); });
}

void TaskRules::keep_to_task(std::vector<ToolMessage>& messages) const {
  const bool activation = activation_is_settled(), loss = loss_is_settled();
  for (ToolMessage& message : messages) {
    if (message.faults.empty()) continue;
    std::erase_if(message.faults, [&](program::FaultEntry& fault) {
      if (fault.type == "LCH") return loss;
      if (fault.type != "ACH" || !activation) return false;
      // A tool that names no layer means the output.
      return fault.layers.empty() ||
             (fault.layers.erase(output_layer_) > 0 && fault.layers.empty());
    });
    if (message.faults.empty()) message.ignored = "what it would change is what the task asks for";
  }
}

}  // namespace neutra::fl_adapters
