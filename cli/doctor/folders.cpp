// Places to write: the folder for temporary files, and the folder that stores are made in.

#include <sys/statvfs.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "cli/doctor/check.h"
#include "search/store_file.h"

namespace neutra::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLittleRoom = std::uint64_t{100} << 20;
/// A file's time may be rounded, and be taken a moment before the clock is read.
constexpr double kSameTime = 3;

/// Bytes that are free for this user.
std::uint64_t room_in(const fs::path& folder) {
  struct statvfs system {};
  if (::statvfs(folder.c_str(), &system) != 0) return 0;
  return std::uint64_t{system.f_bavail} * system.f_frsize;
}

/// A store that a search would make, smaller.
search::StoreContent small_store() {
  search::StoreContent content;
  content.header = {{"version", search::kStoreVersion},
                    {"fault", "D7"},
                    {"metric", "mae"},
                    {"goal", "minimize"},
                    {"config", Json::object()}};
  content.network.fixed_metrics = {0.25, 0.5};
  return content;
}

/// How many seconds the clock of the file system is ahead of this machine's.
double ahead(const fs::path& file) {
  const auto difference = fs::last_write_time(file) - fs::file_time_type::clock::now();
  return std::chrono::duration<double>(difference).count();
}

}  // namespace

Check temporary_folder_check() {
  try {
    const TemporaryFolder folder("neutra-doctor");
    write_file_atomically(folder.path() / "file", "text");
    const fs::path parent = folder.path().parent_path();
    const std::uint64_t room = room_in(parent);
    const std::string detail = parent.string() + ", with " + size_text(room) + " free";
    if (room >= kLittleRoom) return {"temporary folder", State::kOk, detail};
    return {
        "temporary folder", State::kNote, detail,
        "set TMPDIR to a folder with more room: mutants, external tools and pictures need some"};
  } catch (const Error& error) {
    return {"temporary folder", State::kWrong, error.what(),
            "set TMPDIR to a folder that you may write to: mutants, external tools and pictures "
            "need one"};
  }
}

Check store_check() {
  const fs::path here = fs::current_path();
  try {
    const TemporaryFolder folder(here, ".neutra-doctor");
    const fs::path store = folder.path() / "store.h5";
    const fs::path lock_file = search::beside(store, ".lock");
    const FileLock lock(lock_file, "neutra doctor", "another neutra doctor uses it");
    search::write_store_file(store, small_store());
    search::StoreContent read;
    search::read_store_file(store, read);
    // From another process, as on network file systems a process never waits for itself.
    const Trial locked = tried([&] { return lock_owner(lock_file) ? "held" : "free"; });
    if (locked.answer != "held") {
      return {"store", State::kWrong,
              here.string() +
                  ": its file system keeps no locks, so that two searches could write "
                  "into one store",
              "keep stores in a folder of another file system, or have it mounted with locks"};
    }
    const std::uint64_t room = room_in(here);
    const std::string detail =
        here.string() + " keeps stores and their locks, with " + size_text(room) + " free";
    if (room < kLittleRoom) {
      return {"store", State::kNote, detail, "a store takes megabytes, its network more"};
    }
    if (const double seconds = ahead(store); std::abs(seconds) > kSameTime) {
      return {"store", State::kNote,
              detail + "; its clock is " + std::to_string(std::lround(std::abs(seconds))) +
                  " seconds " + (seconds > 0 ? "ahead of" : "behind") + " this machine's",
              "set one of the clocks: times in neutra status are wrong by that much"};
    }
    return {"store", State::kOk, detail};
  } catch (const Error& error) {
    return {"store", State::kWrong,
            "no store can be kept in " + here.string() + ": " + error.what(),
            "go to a folder that you may write to and that has room, or name one with --store"};
  }
}

}  // namespace neutra::cli::doctor
