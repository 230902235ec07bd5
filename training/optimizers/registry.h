#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/json.h"
#include "training/optimizers/optimizer.h"

namespace neutra::training {

/// `optimizer` = {class_name, config}, as Keras writes it; `variables`: see Optimizer. Throws
/// input_error for an unknown class or a learning-rate schedule.
std::unique_ptr<Optimizer> make_optimizer(const Json& optimizer, std::vector<Extent> variables);
/// How many floats per weight the optimiser keeps.
int optimizer_states(const Json& optimizer);
/// The Keras classes that there are, sorted.
std::vector<std::string> optimizer_names();

/// How an optimiser of one class is made from its config, and its number of floats per weight.
struct OptimizerClass {
  std::unique_ptr<Optimizer> (*make)(const Json& config, std::vector<Extent> variables);
  int (*states)(const Json& config);
};
/// T: an Optimizer with a constructor like its own and a static states(config).
template <typename T>
OptimizerClass optimizer_class() {
  return {[](const Json& config, std::vector<Extent> variables) -> std::unique_ptr<Optimizer> {
            return std::make_unique<T>(config, std::move(variables));
          },
          T::states};
}

/// One file each; a new one is added here and to the list in registry.cpp.
namespace optimizers {
OptimizerClass adadelta();
OptimizerClass adagrad();
OptimizerClass adam();
OptimizerClass adamax();
OptimizerClass ftrl();
OptimizerClass nadam();
OptimizerClass rmsprop();
OptimizerClass sgd();
}  // namespace optimizers

}  // namespace neutra::training
