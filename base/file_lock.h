#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/descriptor.h"

namespace neutra {

/// A file that locks others for one process at a time. The system releases the lock when the
/// process dies, however it does; the text of the file names the owner.
class FileLock {
 public:
  /// `command`: of this process, for the text. Throws failure() naming the owner when another
  /// process keeps the lock for half a second; `use` says there what that process does ("the store
  /// is in use by another search"). Throws input_error where `file` is of another kind.
  FileLock(std::filesystem::path file, const std::string& command, const std::string& use);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  /// Removes the file and releases the lock.
  ~FileLock();
  /// Removes the file, in a process that ends without the destructor.
  void give_up();
  /// What this process becomes by exec holds the lock, with its children. The file stays.
  void keep_over_exec();

 private:
  std::filesystem::path file_;
  Descriptor descriptor_;
};

/// Who has the lock `file` just now, as its text says on one line; nullopt: nobody.
std::optional<std::string> lock_owner(const std::filesystem::path& file);

/// May `file` be replaced or removed? Only when it is absent, empty or begins, as far as it goes,
/// with `beginning`, which neutra writes under that name, or with the zeros that a power cut leaves
/// of a file whose content had not reached the disk. Throws input_error.
void require_ours(const std::filesystem::path& file, std::string_view beginning);

}  // namespace neutra
