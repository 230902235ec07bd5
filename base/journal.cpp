#include "base/journal.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <chrono>
#include <cstring>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"

namespace neutra {
namespace {

// A record: magic, length and XXH3-64 of the payload seeded with its length, little endian.
constexpr std::string_view kMagic = kJournalBeginning;
constexpr std::size_t kFrameBytes = 4 + 4 + 8;
constexpr std::uint32_t kMaxPayload = 16U << 20;

template <typename T>
void put(std::string& bytes, T value) {
  for (std::size_t i = 0; i < sizeof(T); ++i) bytes += static_cast<char>(value >> (8 * i));
}

template <typename T>
T get(std::string_view bytes) {
  T value = 0;
  for (std::size_t i = 0; i < sizeof(T); ++i) {
    value |= static_cast<T>(static_cast<unsigned char>(bytes[i])) << (8 * i);
  }
  return value;
}

}  // namespace

void throw_system_error(const std::string& what, const std::filesystem::path& file) {
  const int error = errno;
  std::string message = what + " " + file.string() + ": " + std::strerror(error);
  if (error == ENOSPC || error == EDQUOT || error == EFBIG) {
    message += " (" + std::string(kResumeHint) + ")";
  }
  throw failure(message);
}

bool may_be_journal(std::string_view bytes, const JournalContent& content) {
  const std::string_view start = bytes.substr(0, kMagic.size());
  return !content.records.empty() || kMagic.substr(0, start.size()) == start ||
         start.find_first_not_of('\0') == std::string_view::npos;
}

void JournalDamage::add(std::uint64_t offset, std::uint64_t count) {
  if (bytes == 0) first = offset;
  bytes += count;
}

std::string to_string(const JournalDamage& damage) {
  return std::to_string(damage.bytes) + " damaged bytes, the first at byte " +
         std::to_string(damage.first) + ",";
}

std::string journal_frame(const Json& payload) {
  // Text that is not UTF-8 (a file name in a message) must not stop the search.
  const std::string text = payload.dump(-1, ' ', false, Json::error_handler_t::replace);
  std::string bytes(kMagic);
  put(bytes, static_cast<std::uint32_t>(text.size()));
  put(bytes,
      static_cast<std::uint64_t>(XXH3_64bits_withSeed(text.data(), text.size(), text.size())));
  return bytes + text;
}

JournalContent parse_journal(std::string_view bytes) {
  JournalContent content;
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::string_view rest = bytes.substr(at);
    if (rest.size() >= kFrameBytes && rest.substr(0, kMagic.size()) == kMagic) {
      const auto length = get<std::uint32_t>(rest.substr(4));
      if (length <= kMaxPayload && length <= rest.size() - kFrameBytes) {
        const std::string_view text = rest.substr(kFrameBytes, length);
        if (XXH3_64bits_withSeed(text.data(), text.size(), length) ==
            get<std::uint64_t>(rest.substr(8))) {
          Json payload = Json::parse(text, nullptr, false);
          if (payload.is_object()) {
            content.records.push_back({at, std::move(payload)});
            at += kFrameBytes + length;
            continue;
          }
        }
      }
    }
    // Records don't depend on each other: go on at the next one that is whole.
    const std::size_t next = bytes.find(kMagic, at + 1);
    const std::size_t end = next == std::string_view::npos ? bytes.size() : next;
    content.damage.add(at, end - at);
    at = end;
  }
  return content;
}

Journal::Journal(std::filesystem::path file, const std::vector<Json>& first,
                 std::function<Json()> tick)
    : file_(std::move(file)), tick_(std::move(tick)) {
  std::string bytes;
  for (const Json& payload : first) bytes += journal_frame(payload);
  const auto temporary = file_.string() + ".tmp";
  descriptor_ =
      Descriptor(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!descriptor_) throw_system_error("cannot create", file_);
  if (!put_in_place(descriptor_.number(), bytes, temporary, file_)) {
    throw_system_error("cannot write", file_);
  }
  size_ = bytes.size();
  thread_ = std::thread([this] { run(); });
}

Journal::~Journal() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.notify_all();
  thread_.join();
  ::fdatasync(descriptor_.number());
}

/// Called with the lock held.
void Journal::write(const std::string& bytes) {
  if (failed_) std::rethrow_exception(failed_);
  if (!write_all(descriptor_.number(), bytes)) {
    try {
      const int error = errno;
      // Half a record would do no harm, but a full disk is glad of the bytes.
      if (::ftruncate(descriptor_.number(), static_cast<off_t>(size_)) == 0) {
        ::lseek(descriptor_.number(), static_cast<off_t>(size_), SEEK_SET);
      }
      errno = error;
      throw_system_error("cannot write", file_);
    } catch (...) {
      failed_ = std::current_exception();
      throw;
    }
  }
  size_ += bytes.size();
  dirty_ = true;
}

void Journal::append(const Json& payload) {
  const std::string bytes = journal_frame(payload);
  const std::lock_guard lock(mutex_);
  write(bytes);
}

void Journal::sync() {
  const std::lock_guard lock(mutex_);
  if (failed_) std::rethrow_exception(failed_);
  if (::fdatasync(descriptor_.number()) != 0) throw_system_error("cannot write", file_);
  dirty_ = false;
}

void Journal::check() const {
  const std::lock_guard lock(mutex_);
  if (failed_) std::rethrow_exception(failed_);
}

/// An open file takes what is written to it also when nothing leads to it any more.
void Journal::require_there() const {
  struct stat ours {
  }, named{};
  const bool gone = ::stat(file_.c_str(), &named) != 0
                        ? errno == ENOENT || errno == ENOTDIR
                        : ::fstat(descriptor_.number(), &ours) == 0 &&
                              (ours.st_ino != named.st_ino || ours.st_dev != named.st_dev);
  if (gone) {
    throw failure(file_.string() + ": is gone: it, or its folder, was removed, moved or replaced");
  }
}

std::uint64_t Journal::size() const {
  const std::lock_guard lock(mutex_);
  return size_;
}

void Journal::run() {
  using Clock = std::chrono::steady_clock;
  auto ticked = Clock::now();
  std::unique_lock lock(mutex_);
  while (!stop_) {
    wake_.wait_for(lock, std::chrono::duration<double>(kSyncSeconds));
    try {
      if (!stop_ && tick_ && !failed_ &&
          Clock::now() - ticked >= std::chrono::duration<double>(kTickSeconds)) {
        ticked = Clock::now();
        write(journal_frame(tick_()));
      }
      if (!stop_ && !failed_) require_there();
    } catch (...) {
      // The next append reports it.
      if (!failed_) failed_ = std::current_exception();
    }
    if (!dirty_) continue;
    dirty_ = false;
    lock.unlock();  // appends go on while the disk works
    const int result = ::fdatasync(descriptor_.number());
    const int error = errno;
    lock.lock();
    if (result != 0 && !failed_) {
      try {
        errno = error;
        throw_system_error("cannot write", file_);
      } catch (...) {
        failed_ = std::current_exception();
      }
    }
  }
}

}  // namespace neutra
