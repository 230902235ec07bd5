#include "training/optimizers/registry.h"

#include <map>

#include "base/error.h"
#include "training/registry_names.h"

namespace neutra::training {
namespace {

const std::map<std::string, OptimizerClass>& registry() {
  static const std::map<std::string, OptimizerClass> kRegistry{
      {"Adadelta", optimizers::adadelta()}, {"Adagrad", optimizers::adagrad()},
      {"Adam", optimizers::adam()},         {"Adamax", optimizers::adamax()},
      {"Ftrl", optimizers::ftrl()},         {"Nadam", optimizers::nadam()},
      {"RMSprop", optimizers::rmsprop()},   {"SGD", optimizers::sgd()},
  };
  return kRegistry;
}

const OptimizerClass& find(const Json& optimizer) {
  const std::string name = optimizer.at("class_name");
  const auto it = registry().find(name);
  if (it == registry().end()) throw input_error("optimizer " + name + " is not available yet");
  const Json& config = optimizer.at("config");
  if (config.contains("learning_rate") && config["learning_rate"].is_object()) {
    throw input_error("optimizer " + name + ": learning-rate schedules are not available yet");
  }
  return it->second;
}

}  // namespace

std::unique_ptr<Optimizer> make_optimizer(const Json& optimizer, std::vector<Extent> variables) {
  return find(optimizer).make(optimizer.at("config"), std::move(variables));
}

int optimizer_states(const Json& optimizer) {
  return find(optimizer).states(optimizer.at("config"));
}

std::vector<std::string> optimizer_names() { return registry_names(registry()); }

}  // namespace neutra::training
