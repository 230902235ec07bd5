#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "program/program.h"

namespace neutra::training {

/// Dense float32 array, row-major, first extent = rows.
struct Array {
  std::vector<std::int64_t> extents;
  std::vector<float> values;
  std::int64_t rows() const { return extents.empty() ? 0 : extents.front(); }
  std::int64_t row_size() const;
};

/// Training rows, test rows, the part of the test rows that gives the metric (the whole test set
/// without a `holdout`).
struct Dataset {
  Array x_train, y_train;
  Array x_test, y_test;
  Array x_holdout, y_holdout;
  Array x_validation, y_validation;  ///< rows to watch while training; empty without a `validation`
  program::DataInfo info() const;
};

/// Is a class of the training rows (of a regression: one of the buckets of
/// docs/mutators/delete_training_data.md) smaller than the mean of all? Where targets are NaN this
/// isn't known, and loading says more.
bool has_small_class(const Dataset& data, bool regression);

/// Of targets that are classes (one number, or one-hot): which of them a split that keeps the order
/// of the rows leaves out of the training or the test rows, in a sentence. nullopt: none; nullopt,
/// too, where rows are shuffled, since there chance alone leaves one out.
std::optional<std::string> left_out_classes(const Json& data, const Dataset& dataset);

/// XXH3-128 of all rows, shapes included.
Hash digest(const Dataset& data);

/// Loads the `data` section of a program: {source, arguments, preprocess: [...], split: {test_size,
/// seed}, validation: {...}, holdout: {...}, mutations: [...]} (docs/formats/data.md). Relative
/// files are looked up in the folder of the program file, then `search_path` in order. Throws
/// input_error: a missing file says which file is expected where and how to get it; a malformed one
/// names the place.
std::shared_ptr<const Dataset> load_dataset(const Json& data,
                                            const std::vector<std::filesystem::path>& search_path);

/// The files that a `data` section names, and where they are found. Empty for generated data.
/// Throws like load_dataset() where one is missing.
std::vector<std::pair<std::string, std::filesystem::path>> data_files(
    const Json& data, const std::vector<std::filesystem::path>& search_path);

/// scikit-learn's train_test_split as index lists: p = RandomState(seed).permutation(n), the first
/// ceil(test_size * n) of p are the test rows, the rest, in the order of p, the training rows.
struct Split {
  std::vector<std::int64_t> train, test;
};
Split train_test_split(std::int64_t rows, double test_size, std::uint32_t seed);

}  // namespace neutra::training
