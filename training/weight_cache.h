#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "program/formats/stored_weights.h"
#include "program/program.h"
#include "training/weights.h"

namespace neutra::training {

/// Reads the files of initial weights that programs name, and keeps the last one: the mutants of a
/// program share it. Thread safe.
class WeightCache {
 public:
  /// `path`: where relative files are looked up, in order.
  explicit WeightCache(std::vector<std::filesystem::path> path) : path_(std::move(path)) {}

  /// What the file of `initial`, {file, sha256}, has for the program's layers
  /// (program::fitting_weights). Throws input_error where the file is missing, no file of weights,
  /// or another than that of the digest.
  std::shared_ptr<const program::ModelWeights> get(const Json& initial,
                                                   const program::ResolvedProgram& program);

 private:
  using Groups = std::vector<program::WeightGroup>;
  std::vector<std::filesystem::path> path_;
  std::mutex mutex_;
  std::string sha256_;  ///< of the file that is kept
  std::shared_ptr<const Groups> groups_;
};

/// fit.initial_weights of a valid program; nullptr where it has none.
const Json* initial_weights_of(const program::Program& program);

/// Puts a file's arrays into an engine's or a model's weights; layers without any stay as they are.
void give_weights(const program::ModelWeights& given, Weights& weights);

}  // namespace neutra::training
