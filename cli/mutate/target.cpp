#include <algorithm>
#include <iostream>
#include <memory>

#include "base/error.h"
#include "cli/mutate/actions.h"
#include "cli/trainers.h"
#include "mutators/registry.h"
#include "training/data/dataset.h"
#include "training/data/mutations.h"

namespace neutra::cli {
namespace {

/// Its rows; null where the data set is not here, which is said.
std::shared_ptr<const training::Dataset> rows_of(const Original& original,
                                                 const Arguments& arguments) {
  try {
    return training::load_dataset(original.program.document.at("data"),
                                  data_path(arguments, original.file));
  } catch (const MissingData&) {
    std::cerr << "neutra: " << original.id
              << ": its data are not here; operators that need them don't apply\n";
    return nullptr;
  }
}

}  // namespace

mutators::Target target_of(const Original& original, const Arguments& arguments) {
  program::require_valid(original.program.document, original.file.string());
  const std::shared_ptr<const training::Dataset> rows = rows_of(original, arguments);
  const auto info = rows ? std::optional(rows->info()) : std::nullopt;
  const program::DataInfo* data = info ? &*info : nullptr;
  program::require_valid(original.program.document, original.file.string(), data);
  mutators::Target target = mutators::make_target(
      original.program, data, arguments.has("bounds") ? arguments.text("bounds") : "");
  target.even_classes =
      rows && !training::has_small_class(rows->y_train, target.resolved.task == "regression");
  return target;
}

std::vector<const mutators::MutationOperator*> chosen_operators(const Arguments& arguments) {
  if (!arguments.has("operator")) return mutators::mutation_operators();
  std::vector<const mutators::MutationOperator*> chosen;
  for (const std::string& name : arguments.list("operator")) {
    const mutators::MutationOperator* op = &mutators::find_mutation_operator(name);
    if (std::find(chosen.begin(), chosen.end(), op) == chosen.end()) chosen.push_back(op);
  }
  return chosen;
}

std::vector<mutators::Site> chosen_layers(const Arguments& arguments) {
  if (!arguments.has("layer")) return {};
  return {static_cast<mutators::Site>(arguments.integer("layer"))};
}

}  // namespace neutra::cli
