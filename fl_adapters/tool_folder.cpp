#include "fl_adapters/tool_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

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
                                    {"y_validation", &data.y_validation}}) {
    if (!array->values.empty()) use(std::string(name), *array);  // else no rows to watch
  }
}

constexpr std::string_view kRandomPart = "-XXXXXX";

/// Locks a folder for this process and returns the descriptor that holds the lock, -1 where the
/// file system has no locks. nullopt: another process has it, or has just removed it.
std::optional<int> lock_folder(const fs::path& folder) {
  const int descriptor = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (descriptor < 0) return errno == ENOENT ? std::nullopt : std::optional(-1);
  std::error_code ignored;
  const bool locked = flock(descriptor, LOCK_EX | LOCK_NB) == 0;
  const bool taken = !locked && errno == EWOULDBLOCK;
  if (locked && fs::exists(folder, ignored)) return descriptor;
  close(descriptor);
  return locked || taken ? std::nullopt : std::optional(-1);
}

/// Removes what processes that were killed have left.
void remove_abandoned(const fs::path& parent, const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string found = entry.path().filename().string();
    if (found.size() != name.size() + kRandomPart.size() || !found.starts_with(name + "-"))
      continue;
    const std::optional<int> lock = lock_folder(entry.path());
    if (!lock || *lock < 0) continue;
    fs::remove_all(entry.path(), ignored);
    close(*lock);
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

namespace {
std::function<void()> removing(const fs::path& folder) {
  return [&folder] {
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);
  };
}
}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& name) : last_(removing(path_)) {
  std::error_code error;
  fs::path parent = fs::temp_directory_path(error);
  if (error) {  // which tells no path
    const char* named = std::getenv("TMPDIR");
    parent = named != nullptr ? named : "/tmp";
  }
  std::string path = (parent / (name + "-XXXXXX")).string();
  if (error || mkdtemp(path.data()) == nullptr) {
    throw input_error(describe("TMPDIR", "",
                               parent.string() + ", where no folder can be made: " +
                                   (error ? error.message() : std::strerror(errno)),
                               "a folder to write in"));
  }
  path_ = path;
}

TemporaryFolder::TemporaryFolder(const fs::path& parent, const std::string& name)
    : last_(removing(path_)) {
  remove_abandoned(parent, name);
  std::optional<int> lock;
  while (!lock) {
    std::string path = (parent / name).string() + std::string(kRandomPart);
    if (mkdtemp(path.data()) == nullptr) {
      throw input_error(
          describe(parent.string(), "", std::strerror(errno), "a folder to write in"));
    }
    path_ = path;
    lock = lock_folder(path_);  // nullopt: just then another process took it for an abandoned one
  }
  lock_ = *lock;
}

void TemporaryFolder::become(const fs::path& folder, const std::function<void()>& fill) {
  try {
    fill();
  } catch (const Error& error) {
    std::string message = error.what();
    const std::string own = path_.string(), meant = folder.string();
    for (std::size_t at = message.find(own); at != std::string::npos;
         at = message.find(own, at + meant.size())) {
      message.replace(at, own.size(), meant);
    }
    throw Error(error.exit(), message);
  }
  replace(folder);
}

void TemporaryFolder::replace(const fs::path& folder) {
  using fs::perms;
  std::error_code error, ignored;
  fs::permissions(path_,
                  perms::owner_all | perms::group_read | perms::group_exec | perms::others_read |
                      perms::others_exec,
                  error);
  const fs::path old = path_.string() + "-old";
  const bool there = fs::exists(folder, error);
  if (there) fs::rename(folder, old, error);
  if (!error) {
    fs::rename(path_, folder, error);
    if (error && there) fs::rename(old, folder, ignored);
  }
  if (error) throw failure(folder.string() + ": cannot be written: " + error.message());
  fs::remove_all(old, ignored);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  if (lock_ >= 0) close(lock_);
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
