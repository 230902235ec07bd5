#include "training/weight_cache.h"

#include <algorithm>

#include "base/error.h"
#include "base/files.h"
#include "base/sha256.h"
#include "training/data/data_places.h"

namespace neutra::training {

std::shared_ptr<const program::ModelWeights> WeightCache::get(
    const Json& initial, const program::ResolvedProgram& program) {
  const std::string wanted = initial.at("sha256");
  std::shared_ptr<const Groups> groups;
  {
    const std::lock_guard lock(mutex_);
    if (sha256_ != wanted) {
      const std::filesystem::path file = find_file({initial.at("file")}, path_);
      const std::string bytes = read_regular_file(file, "an HDF5 file of weights");
      if (const std::string found = sha256(bytes); found != wanted) {
        throw input_error(describe(file.string(), "", "a file of SHA-256 " + found,
                                   wanted + ", as /fit/initial_weights/sha256 says"));
      }
      groups_ = std::make_shared<const Groups>(program::read_weight_groups(bytes, file));
      sha256_ = wanted;
    }
    groups = groups_;
  }
  return std::make_shared<const program::ModelWeights>(program::fitting_weights(*groups, program));
}

const Json* initial_weights_of(const program::Program& program) {
  const Json* fit = member(program.document, "fit");
  const Json* initial = fit != nullptr ? member(*fit, "initial_weights") : nullptr;
  return initial != nullptr && !initial->is_null() ? initial : nullptr;
}

void give_weights(const program::ModelWeights& given, Weights& weights) {
  for (std::size_t i = 0; i < given.size(); ++i) {
    for (std::size_t k = 0; k < given[i].size(); ++k) {
      const std::span<float> values = weights.of_layer(i)[k].extent.of(weights.all());
      std::copy(given[i][k].begin(), given[i][k].end(), values.begin());
    }
  }
}

}  // namespace neutra::training
