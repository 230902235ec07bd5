#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/program.h"
#include "training/data/array.h"

namespace neutra::training {

/// Training rows, test rows, the part of the test rows that gives the metric (the whole test set
/// without a `holdout`).
struct Dataset {
  Array x_train, y_train;
  Array x_test, y_test;
  Array x_holdout, y_holdout;
  Array x_validation, y_validation;  ///< rows to watch while training; empty without a `validation`
  /// What the loss of each of these rows counts; empty: all count alike.
  Array weights_train, weights_validation;
  /// What validation needs to know: shapes of a row, range of the targets, number of rows.
  program::DataInfo info() const;
};

/// Of targets that are classes (one number, or one-hot): which of them a split that keeps the order
/// of the rows leaves out of the training or the test rows, in a sentence. nullopt: none; nullopt,
/// too, where rows are shuffled, since there chance alone leaves one out.
std::optional<std::string> left_out_classes(const Json& data, const Dataset& dataset);

/// XXH3-128 of all rows, shapes and weights included.
Hash digest(const Dataset& data);

/// Loads the `data` section of a program: {source, arguments, preprocess: [...], split: {test_size,
/// seed}, validation: {...}, holdout: {...}, mutations: [...]} (docs/formats/data.md). Relative
/// files are looked up in the folder of the program file, then `search_path` in order. Throws
/// input_error: a missing file says which file is expected where and how to get it; a malformed one
/// names the place.
std::shared_ptr<const Dataset> load_dataset(const Json& data,
                                            const std::vector<std::filesystem::path>& search_path);

}  // namespace neutra::training
