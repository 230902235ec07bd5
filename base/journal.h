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

#include "base/file_kind.h"
#include "base/json.h"

namespace neutra {

/// Bytes of a journal that belong to no whole record.
struct JournalDamage {
  std::uint64_t bytes = 0;
  std::uint64_t first = 0;  ///< offset of the first of them
  void add(std::uint64_t offset, std::uint64_t count);
};
/// "12 damaged bytes, the first at byte 480,"
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

/// Never throws for damaged bytes: what is no whole record is skipped and counted.
JournalContent parse_journal(std::string_view bytes);

/// Is it a journal, though maybe a damaged one? It has a whole record, or begins like one as far
/// as it goes, or with the zeros that a power cut leaves of a file whose content had not reached
/// the disk.
bool may_be_journal(std::string_view bytes, const JournalContent& content);

/// Frames one record.
std::string journal_frame(const Json& payload);

/// An append-only file of records. A record reaches the system at once, so that it survives the
/// death of the process; it is durable after at most kSyncSeconds.
class Journal {
 public:
  static constexpr double kSyncSeconds = 0.2;
  static constexpr double kTickSeconds = 1;

  /// Creates `file` with `first` records or replaces it in one step. `tick` gives a record that is
  /// appended every kTickSeconds from a thread of the journal.
  Journal(std::filesystem::path file, const std::vector<Json>& first, std::function<Json()> tick);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal();

  /// Throws failure() when the disk is full; what was appended before stays whole.
  void append(const Json& payload);
  /// Makes everything appended so far durable.
  void sync();
  /// Throws what the next append would: the disk is full, or somebody removed the file.
  void check() const;
  std::uint64_t size() const;

 private:
  void write(const std::string& bytes);
  void run();
  void require_there() const;

  const std::filesystem::path file_;
  const std::function<Json()> tick_;
  int descriptor_ = -1;
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

/// A failure() with the system's reason (errno) and, for a full disk, what to do.
[[noreturn]] void throw_system_error(const std::string& what, const std::filesystem::path& file);
/// write(2) until everything is written; false with errno set when it cannot be.
bool write_all(int descriptor, std::string_view bytes);
/// Makes a rename or removal in `file`'s folder durable.
void sync_folder(const std::filesystem::path& file);

}  // namespace neutra
