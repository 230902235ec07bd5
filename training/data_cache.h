#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/lru_cache.h"
#include "program/program.h"
#include "training/data/dataset.h"
#include "training/data/target_scale.h"
#include "training/sparse_rows.h"

namespace neutra::training {

/// Data sets that no training uses are kept up to this: mutants of data are many.
constexpr std::uint64_t kDataCacheBytes = std::uint64_t{1} << 30;

/// A data set with what validation needs to know of it.
struct LoadedData {
  std::shared_ptr<const Dataset> data;
  program::DataInfo info;
  std::optional<std::string> left_out;  ///< left_out_classes()

  std::uint64_t bytes() const;  ///< of the dense arrays
  /// Made when it is wanted, for all trainings.
  const SparseDataset& sparse() const;

 private:
  mutable std::once_flag once_;
  mutable SparseDataset sparse_;
};

/// Loads the `data` section of programs, and keeps the data sets used last. Thread safe.
class DataCache {
 public:
  /// `path`: where relative files are looked up, in order.
  explicit DataCache(std::vector<std::filesystem::path> path) : path_(std::move(path)) {}

  /// Throws Error like load_dataset().
  std::shared_ptr<const LoadedData> get(const Json& recipe);
  /// Reads the data again. Throws Error like load_dataset().
  TargetScale target_scale(const Json& recipe) const {
    return training::target_scale(recipe, path_);
  }

 private:
  std::vector<std::filesystem::path> path_;
  std::mutex mutex_;
  LruCache<std::string, std::shared_ptr<const LoadedData>> entries_{kDataCacheBytes};
};

}  // namespace neutra::training
