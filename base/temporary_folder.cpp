#include "base/temporary_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "base/environment.h"
#include "base/error.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRandomPart = "-XXXXXX";

/// Locks a folder for this process and returns the descriptor that holds the lock, none where the
/// file system has no locks. nullopt: another process has it, or has just removed it.
std::optional<Descriptor> lock_folder(const fs::path& folder) {
  Descriptor open(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!open) return errno == ENOENT ? std::nullopt : std::optional<Descriptor>(Descriptor());
  std::error_code ignored;
  const bool locked = ::flock(open.number(), LOCK_EX | LOCK_NB) == 0;
  const bool taken = !locked && errno == EWOULDBLOCK;
  if (locked && fs::exists(folder, ignored)) return open;
  return locked || taken ? std::nullopt : std::optional<Descriptor>(Descriptor());
}

/// Removes what processes that were killed have left.
void remove_abandoned(const fs::path& parent, const std::string& name) {
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(parent, ignored)) {
    const std::string found = entry.path().filename().string();
    if (found.size() != name.size() + kRandomPart.size() || !found.starts_with(name + "-"))
      continue;
    const std::optional<Descriptor> lock = lock_folder(entry.path());
    if (lock && *lock) fs::remove_all(entry.path(), ignored);
  }
}

std::function<void()> removing(const fs::path& folder) {
  return [&folder] {
    std::error_code ignored;
    if (!folder.empty()) fs::remove_all(folder, ignored);
  };
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& name) : last_(removing(path_)) {
  const std::string named = environment("TMPDIR");
  const fs::path parent = named.empty() ? "/tmp" : named;
  std::string path = (parent / (name + std::string(kRandomPart))).string();
  if (mkdtemp(path.data()) == nullptr) {
    throw input_error(describe(
        "TMPDIR", "", parent.string() + ", where no folder can be made: " + std::strerror(errno),
        "a folder to write in"));
  }
  path_ = path;
}

TemporaryFolder::TemporaryFolder(const fs::path& parent, const std::string& name)
    : last_(removing(path_)) {
  remove_abandoned(parent, name);
  std::optional<Descriptor> lock;
  while (!lock) {
    std::string path = (parent / name).string() + std::string(kRandomPart);
    if (mkdtemp(path.data()) == nullptr) {
      throw input_error(
          describe(parent.string(), "", std::strerror(errno), "a folder to write in"));
    }
    path_ = path;
    lock = lock_folder(path_);  // nullopt: just then another process took it for an abandoned one
  }
  lock_ = *std::move(lock);
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
}

}  // namespace neutra
