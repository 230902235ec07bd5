#pragma once

#include <condition_variable>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/descriptor.h"
#include "base/json.h"

namespace neutra {

/// Bytes of a journal that belong to no whole record.
struct JournalDamage {
  std::uint64_t bytes = 0;  ///< how many there are
  std::uint64_t first = 0;  ///< offset of the first of them
  /// Counts `count` bytes from `offset` on; offsets must grow from call to call.
  void add(std::uint64_t offset, std::uint64_t count);
};
/// For messages: "12 damaged bytes, the first at byte 480,".
std::string to_string(const JournalDamage& damage);

/// What the bytes of a journal hold (docs/formats/store.md).
struct JournalContent {
  struct Record {
    std::uint64_t offset = 0;  ///< of the record's first byte
    Json payload;
  };
  std::vector<Record> records;
  JournalDamage damage;
};

/// The records among the bytes of a journal. Never throws for damaged bytes: what is no whole
/// record is skipped and counted.
JournalContent parse_journal(std::string_view bytes);

/// Are these the bytes of a journal, though maybe a damaged one? There is a whole record, or the
/// first bytes are those of a journal, or zeros: a power cut leaves them of a file whose content
/// had not reached the disk.
bool may_be_journal(std::string_view bytes, const JournalContent& content);

/// The bytes of one record: its mark, length and checksum, then the payload as compact JSON.
std::string journal_frame(const Json& payload);

/// An append-only file of records. A record is handed to the operating system at once, so that it
/// survives the death of the process, and is on the disk after at most kSyncSeconds.
class Journal {
 public:
  static constexpr double kSyncSeconds = 0.2;  ///< between two calls of fdatasync(2)
  static constexpr double kTickSeconds = 1;    ///< between two records of `tick`

  /// Creates `file` with the records `first`, or replaces it in one step. `tick` (may be empty)
  /// gives a record that is appended every kTickSeconds from a thread of the journal.
  Journal(std::filesystem::path file, const std::vector<Json>& first, std::function<Json()> tick);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// Throws failure() on any write error, such as a full disk; every later call then throws, too.
  /// What was appended before stays whole.
  void append(const Json& payload);
  /// Makes everything appended so far durable.
  void sync();
  /// Throws what the next append would: the disk is full, or somebody removed the file.
  void check() const;
  /// Bytes in the file.
  std::uint64_t size() const;

 private:
  void write(const std::string& bytes);
  void run();
  void require_there() const;

  const std::filesystem::path file_;
  const std::function<Json()> tick_;
  Descriptor descriptor_;
  mutable std::mutex mutex_;
  std::condition_variable wake_;
  std::uint64_t size_ = 0;
  bool dirty_ = false;
  bool stop_ = false;
  std::exception_ptr failed_;  ///< of the thread, or of an earlier append
  std::thread thread_;
};

/// What to do when a store cannot be written.
inline constexpr std::string_view kResumeHint =
    "free some space and start the same command again: what was evaluated is kept";

/// Throws failure(): "WHAT FILE: reason of the system (errno)" and, for a full disk, kResumeHint.
[[noreturn]] void throw_system_error(const std::string& what, const std::filesystem::path& file);

}  // namespace neutra
