#pragma once

#include <hdf5.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

/// What the files that implement Hdf5File share.
namespace neutra::hdf5 {

/// Held while HDF5 is used: Debian's is built without thread safety. Recursive, because closing a
/// handle locks too.
class Lock {
 public:
  Lock();

 private:
  std::lock_guard<std::recursive_mutex> guard_;
};

/// The innermost message of HDF5's error stack.
std::string own_words();

/// Where in which file something fails, and whether that is the reader's input (input_error) or the
/// writer's machine (failure).
struct Place {
  const std::filesystem::path& file;
  std::string object;
  bool writing = false;

  [[noreturn]] void fail(const std::string& reason) const;
  /// Passes on a result of HDF5 that is not negative; fails for others: "cannot ACTION (...)".
  template <typename T>
  T check(T result, const char* action) const {
    if (result < 0) fail(std::string("cannot ") + action + " (" + own_words() + ")");
    return result;
  }
};

/// An HDF5 identifier with its closing function.
class Handle {
 public:
  Handle(hid_t id, herr_t (*close)(hid_t)) : id_(id), close_(close) {}
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&&) = delete;
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  herr_t (*close_)(hid_t);
};

// Below, `place.object` is the path of the object, and every failure is place.fail().

/// Refuses a dataset that keeps its values in other files.
Handle open_dataset(const Place& place, hid_t file);
Handle open_object(const Place& place, hid_t file);
/// The attribute's own place in messages: "/group@name".
Place attribute_place(const Place& object, const std::string& name);
std::vector<std::uint64_t> extents_of(const Place& place, hid_t space);
/// Properties of a file or group that lists its members in the order of creation.
Handle tracked(const Place& place, hid_t property_class);

}  // namespace neutra::hdf5
