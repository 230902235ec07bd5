#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "base/last_act.h"
#include "program/program.h"
#include "training/data/dataset.h"

namespace neutra::fl_adapters {

/// Writes one .npy file for each of x_train, y_train, x_test, y_test and, where the program has
/// rows to watch, x_validation, y_validation. Returns the names.
std::vector<std::string> write_arrays(const training::Dataset& data,
                                      const std::filesystem::path& folder);
/// The same and data.h5, which holds them all.
std::vector<std::string> write_data_files(const training::Dataset& data,
                                          const std::filesystem::path& folder);

/// The arrays of scripts for people: x_test.npy and y_test.npy are the rows that give the metric.
void write_measured_arrays(const training::Dataset& data, const std::filesystem::path& folder);

/// Throws input_error unless the folder is empty or still to be made.
void require_empty(const std::filesystem::path& folder);

/// A folder that goes with the object.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const std::string& name);  ///< in the system's temporary folder
  /// In `parent`, which is rid of those of this name whose processes were killed. Throws
  /// input_error where that can't be written.
  TemporaryFolder(const std::filesystem::path& parent, const std::string& name);
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder();
  const std::filesystem::path& path() const { return path_; }
  /// Has `fill` write into it and puts it, readable for all, in the place of `folder`, which may be
  /// there: that one goes when this one is in its place, and stays where that fails. Both in one
  /// file system. Errors name files by where they would have been in `folder`.
  void become(const std::filesystem::path& folder, const std::function<void()>& fill);

 private:
  void replace(const std::filesystem::path& folder);
  std::filesystem::path path_;
  LastAct last_;   ///< nothing half made stays
  int lock_ = -1;  ///< descriptor; says to other processes that the folder is in use; -1: none
};

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
