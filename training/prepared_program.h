#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/lru_cache.h"
#include "mutators/model_mutants.h"
#include "program/program.h"
#include "training/backend.h"
#include "training/data_cache.h"
#include "training/keras_release.h"
#include "training/loop.h"
#include "training/weight_cache.h"

namespace neutra::training {

/// Why Keras would refuse the program with these data; nullopt: it would train.
std::optional<std::string> refusal_by_keras(const program::Program& program,
                                            const LoadedData& data);

/// What a training is made for, beside its program.
struct Demands {
  Backend backend = Backend::kAuto;
  KerasRelease keras = KerasRelease::kTf24;
  bool output_gradients = false;  ///< which the eager back end alone has
};

/// What all replicas of a program share.
struct Prepared {
  std::shared_ptr<const LoadedData> data;  ///< of the rows
  std::optional<std::string> refusal;      ///< Keras's
  std::optional<std::string> failure;  ///< what this version lacks; with either, the rest is empty
  program::ResolvedProgram program;
  std::shared_ptr<const program::ModelWeights> given_weights;  ///< fit.initial_weights; or null
  TrainingRows rows;
  std::optional<std::string> fused_refusal;
  bool fused = false;
  std::uint64_t bytes = 0;
  Hash stream_hash, independent_hash;
  /// Where trained.mutations make another model of the trained one: that model.
  std::optional<mutators::ModelStructure> structure;
  std::shared_ptr<const Prepared> evaluated;
};

/// Prepares programs for trainings, and keeps those used last. Thread safe.
class PreparedPrograms {
 public:
  /// `path`: where relative files of initial weights are looked up, in order.
  explicit PreparedPrograms(std::vector<std::filesystem::path> path) : weights_(std::move(path)) {}

  /// Throws Error for data that can't be loaded; what is wrong with the program itself is in the
  /// result.
  std::shared_ptr<const Prepared> get(const program::Program& program, DataCache& data,
                                      const Demands& demands);

 private:
  using Pointer = std::shared_ptr<const Prepared>;
  static constexpr std::size_t kKept = 64;  ///< more than any machine trains at once

  WeightCache weights_;
  std::mutex mutex_;
  LruCache<std::string, Pointer> entries_{std::numeric_limits<std::uint64_t>::max()};
  // Many programs share a data set: it counts once.
  std::map<const LoadedData*, int> users_;  ///< programs of each data set
  std::uint64_t bytes_ = 0;                 ///< of these data sets
};

}  // namespace neutra::training
