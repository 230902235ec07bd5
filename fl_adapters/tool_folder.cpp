#include "fl_adapters/tool_folder.h"

#include "base/error.h"
#include "base/hdf5_file.h"
#include "training/data/npy.h"

namespace neutra::fl_adapters {

namespace fs = std::filesystem;

namespace {

/// Calls `use` with the name and the rows of each array.
template <typename F>
void for_each_array(const training::Dataset& data, F use) {
  for (const auto& [name, array] : {std::pair{"x_train", &data.x_train},
                                    {"y_train", &data.y_train},
                                    {"x_test", &data.x_test},
                                    {"y_test", &data.y_test},
                                    {"x_validation", &data.x_validation},
                                    {"y_validation", &data.y_validation},
                                    {"sample_weight_train", &data.weights_train},
                                    {"sample_weight_validation", &data.weights_validation}}) {
    if (!array->values.empty()) use(std::string(name), *array);  // else none
  }
}

}  // namespace

std::vector<std::string> write_arrays(const training::Dataset& data, const fs::path& folder) {
  std::vector<std::string> names;
  for_each_array(data, [&](const std::string& name, const training::Array& array) {
    names.push_back(name + ".npy");
    training::write_npy(folder / names.back(), array);
  });
  return names;
}

std::vector<std::string> write_data_files(const training::Dataset& data, const fs::path& folder) {
  std::vector<std::string> names = write_arrays(data, folder);
  names.insert(names.begin(), "data.h5");
  Hdf5File file = Hdf5File::create(folder / names.front());
  for_each_array(data, [&](const std::string& name, const training::Array& array) {
    file.write("/" + name, array.values, {array.extents.begin(), array.extents.end()});
  });
  file.close();
  return names;
}

void write_measured_arrays(const training::Dataset& data, const fs::path& folder) {
  training::Dataset rows = data;
  rows.x_test = rows.x_holdout;
  rows.y_test = rows.y_holdout;
  write_arrays(rows, folder);
}

void require_empty(const fs::path& folder) {
  std::error_code error;
  const auto status = fs::status(folder, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status) || !fs::is_empty(folder, error)) {
    throw input_error(describe(folder.string(), "", "a place that is in use",
                               "an empty folder, or one that is still to be made"));
  }
}

std::vector<std::string> DataFiles::put(const Json& recipe, const training::Dataset& data,
                                        const fs::path& folder) {
  const std::lock_guard lock(mutex_);
  Written& written = written_[recipe.dump()];
  if (written.names.empty()) {
    written.names = write_data_files(data, written.folder.path());
    for (const std::string& name : written.names) {
      fs::permissions(written.folder.path() / name, fs::perms::owner_write,
                      fs::perm_options::remove);  // all runs share them
    }
  }
  for (const std::string& name : written.names) {
    const fs::path from = written.folder.path() / name;
    std::error_code another_disk;
    fs::create_hard_link(from, folder / name, another_disk);
    if (another_disk) fs::copy_file(from, folder / name);
  }
  return written.names;
}

}  // namespace neutra::fl_adapters
