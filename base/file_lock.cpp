#include "base/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iostream>
#include <thread>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/journal.h"
#include "base/strings.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockBeginning = "pid ";
/// How long the lock of another process is waited for.
constexpr auto kLockPatience = std::chrono::milliseconds(500);

/// What a lock says of its owner, on one line.
std::string owner_text(int descriptor) {
  std::array<char, 1024> text{};
  const ssize_t length = ::pread(descriptor, text.data(), text.size() - 1, 0);
  std::string owner(text.data(), static_cast<std::size_t>(std::max<ssize_t>(length, 0)));
  while (!owner.empty() && owner.back() == '\n') owner.pop_back();
  for (std::size_t at = 0; (at = owner.find('\n', at)) != std::string::npos; at += 2)
    owner.replace(at, 1, ", ");
  return owner.empty() ? "just starting" : owner;
}

/// Throws what errno says of a lock file that can't be made.
[[noreturn]] void refuse_to_create(const fs::path& file) {
  const int error = errno;
  if (error == EACCES || error == EROFS || error == ENOENT || error == ENOTDIR) {
    std::error_code ignored;
    throw input_error(describe(fs::absolute(file, ignored).parent_path().string(), "",
                               std::strerror(error), "a folder to write in"));
  }
  throw_system_error("cannot create", file);
}

}  // namespace

void require_ours(const fs::path& file, std::string_view beginning) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return;
  std::string start = start_of_file(file, beginning.size());
  if (start.find_first_not_of('\0') == std::string::npos) start.clear();
  if (!fs::is_regular_file(file, ignored) || start != beginning.substr(0, start.size())) {
    throw input_error(describe(file.string(), "", "another kind of file",
                               "a file of this search, or a name that is still free"));
  }
}

FileLock::FileLock(fs::path file, const std::string& command, const std::string& use)
    : file_(std::move(file)) {
  require_ours(file_, kLockBeginning);
  const auto deadline = std::chrono::steady_clock::now() + kLockPatience;
  for (;;) {
    descriptor_ = Descriptor(::open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
    if (!descriptor_) refuse_to_create(file_);
    if (::flock(descriptor_.number(), LOCK_EX | LOCK_NB) == 0) {
      // Its last owner may have removed the file since it was opened: then it locks nothing.
      struct stat ours {
      }, named{};
      if (::fstat(descriptor_.number(), &ours) == 0 && ::stat(file_.c_str(), &named) == 0 &&
          ours.st_ino == named.st_ino) {
        break;
      }
      continue;
    }
    if (errno != EWOULDBLOCK) throw_system_error("cannot lock", file_);
    if (std::chrono::steady_clock::now() > deadline) {
      throw failure(file_.string() + ": " + use + " (" + owner_text(descriptor_.number()) +
                    "); wait for it or stop it");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::array<char, 256> host{};
  ::gethostname(host.data(), host.size() - 1);
  const std::string text = std::string(kLockBeginning) + std::to_string(::getpid()) + "\nhost " +
                           host.data() + "\nstarted " + utc_now() + "\ncommand " + command + "\n";
  // The text only names the owner: a full disk must not keep the lock from working.
  if (::ftruncate(descriptor_.number(), 0) != 0 ||
      ::pwrite(descriptor_.number(), text.data(), text.size(), 0) !=
          static_cast<ssize_t>(text.size())) {
    std::cerr << "warning: " << file_.string() << " cannot name its owner\n";
  }
}

std::optional<std::string> lock_owner(const fs::path& file) {
  // A pipe of that name has no owner, and must not be waited for.
  const Descriptor open(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  struct stat found {};
  const bool locked = open && ::fstat(open.number(), &found) == 0 && S_ISREG(found.st_mode) &&
                      ::flock(open.number(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  return locked ? std::optional(owner_text(open.number())) : std::nullopt;
}

void FileLock::keep_over_exec() { ::fcntl(descriptor_.number(), F_SETFD, 0); }

FileLock::~FileLock() { ::unlink(file_.c_str()); }

void FileLock::give_up() { ::unlink(file_.c_str()); }

}  // namespace neutra
