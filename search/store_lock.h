#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace neutra::search {

/// The lock FILE.lock, by which one process at a time writes a store. The system releases it when
/// the process dies, however it does; its text names the owner.
class StoreLock {
 public:
  /// `command`: of this process, for the text. Throws failure() naming the owner when another
  /// process keeps the lock for half a second; `use` says there what that process does. Throws
  /// input_error where a file of another kind has the lock's name.
  StoreLock(std::filesystem::path file, const std::string& command,
            const std::string& use = "the store is in use by another search");
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;
  /// Removes the file and releases the lock.
  ~StoreLock();
  /// Removes the file, in a process that ends without the destructor.
  void give_up();
  /// What this process becomes by exec holds the lock, with its children. The file stays.
  void keep_over_exec();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

/// Who writes a store just now, as its lock says on one line; nullopt: nobody.
std::optional<std::string> store_owner(const std::filesystem::path& store);

/// May `file` be replaced or removed? Only when it is absent, empty or begins, as far as it goes,
/// with `beginning`, which neutra writes under that name, or with the zeros that a power cut leaves
/// of a file whose content had not reached the disk. Throws input_error.
void require_ours(const std::filesystem::path& file, std::string_view beginning);

}  // namespace neutra::search
