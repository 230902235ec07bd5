#pragma once

#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/temporary_folder.h"
#include "program/program.h"
#include "training/data/dataset.h"

namespace neutra::fl_adapters {

/// Writes one .npy file for each of x_train, y_train, x_test, y_test and, where the program has
/// rows to watch, x_validation, y_validation; where rows have weights, sample_weight_train and
/// sample_weight_validation. Returns the names.
std::vector<std::string> write_arrays(const training::Dataset& data,
                                      const std::filesystem::path& folder);
/// The same and data.h5, which holds them all.
std::vector<std::string> write_data_files(const training::Dataset& data,
                                          const std::filesystem::path& folder);

/// The arrays of scripts for people: x_test.npy and y_test.npy are the rows that give the metric.
void write_measured_arrays(const training::Dataset& data, const std::filesystem::path& folder);

/// Throws input_error unless the folder is empty or still to be made.
void require_empty(const std::filesystem::path& folder);

/// Data sets as files, each written once and then linked into the folders of runs. They go with the
/// object. Thread safe.
class DataFiles {
 public:
  /// Puts the files of `data`, the data set of `recipe`, into `folder`. Returns their names.
  std::vector<std::string> put(const Json& recipe, const training::Dataset& data,
                               const std::filesystem::path& folder);

 private:
  struct Written {
    TemporaryFolder folder{"neutra-data"};
    std::vector<std::string> names;
  };
  std::mutex mutex_;
  std::map<std::string, Written> written_;
};

}  // namespace neutra::fl_adapters
