#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "experiments/batch/states.h"
#include "experiments/benchmark/benchmark.h"

namespace neutra::serve {

/// A search of the folder.
struct ListedSearch {
  std::string name;               ///< of its store, from the folder on: "results/D7.h5"
  experiments::BatchState state;  ///< how far it is
  std::string revision;           ///< another one: the store has changed
};

/// A benchmark of the folder.
struct ListedBenchmark {
  std::string name;  ///< of its file or folder, likewise
  std::shared_ptr<const experiments::Benchmark>
      content;           ///< without the data files' bytes; nullptr: a problem
  std::string problem;   ///< why it can't be read; "": it can
  std::string revision;  ///< another one: it has changed
};

/// What a folder holds, at one moment.
struct Listing {
  std::vector<ListedSearch> searches;       ///< by name
  std::vector<ListedBenchmark> benchmarks;  ///< by name
  std::vector<std::string> notes;           ///< what is left out and why
  bool complete = true;  ///< false: searches of state "unread" are read when it is asked for again

  /// The one of that name; nullptr: there is none.
  const ListedSearch* find_search(const std::string& name) const;
  const ListedBenchmark* find_benchmark(const std::string& name) const;
};

/// The searches and benchmarks of a folder and of those in it, which may be written meanwhile. A
/// name from outside is only ever looked up in what was found, never made a path. Links aren't
/// followed; names that begin with a dot, and those of other than plain UTF-8, are left out. What
/// has not changed isn't read again. Thread safe.
class Library {
 public:
  static constexpr int kDepth = 4;             ///< folders in folders
  static constexpr std::size_t kMost = 20000;  ///< entries looked at
  static constexpr int kReadAtOnce = 10;       ///< searches read by a look, however long it takes
  /// Throws input_error for what is no folder. It is looked at again after `freshness`. A look that
  /// has read new searches for as long as `reading` leaves the others to the next one: with many
  /// nobody waits for all.
  explicit Library(const std::filesystem::path& folder,
                   std::chrono::milliseconds freshness = std::chrono::milliseconds(500),
                   std::chrono::milliseconds reading = std::chrono::milliseconds(250));

  /// That it was made for.
  const std::filesystem::path& folder() const { return folder_; }
  /// Precondition: `name` is one of the listing.
  std::filesystem::path path_of(const std::string& name) const { return folder_ / name; }

  /// As it is now, or was a moment ago. What was seen of a store never goes back.
  std::shared_ptr<const Listing> listing();

  /// The page of a report on a search, with another one beside it where `with` names one; nullptr:
  /// there is none of that name. Throws input_error where a store can't be read, or the two are not
  /// of one program.
  std::shared_ptr<const std::string> report(const std::string& name, const Json& provenance,
                                            const std::optional<std::string>& with = {});

  /// A text without the folder's own path.
  std::string relative_text(std::string text) const;

 private:
  using Clock = std::chrono::steady_clock;
  struct KnownSearch {
    std::string revision;
    experiments::BatchState state;
    Clock::time_point next_look{};
    std::uint64_t seen = 0;  ///< number of the scan
  };
  struct KnownBenchmark {
    ListedBenchmark listed;
    std::uint64_t seen = 0;
  };
  struct KnownKind {
    std::string revision, format;
    std::uint64_t seen = 0;
  };
  struct Page {
    std::string name, revision;  ///< of both, where there are two searches
    std::shared_ptr<const std::string> text;
  };
  class Scan;
  std::shared_ptr<const Listing> scanned();

  const std::filesystem::path folder_;
  const std::chrono::milliseconds freshness_, reading_;
  std::mutex mutex_;       ///< of latest_ and looked_
  std::mutex scan_mutex_;  ///< of what scans know
  std::shared_ptr<const Listing> latest_;
  /// When all was read last; nullopt: some is unread. The clock itself begins with the machine.
  std::optional<Clock::time_point> looked_;
  std::uint64_t scans_ = 0;
  std::map<std::string, KnownSearch> searches_;
  std::map<std::string, KnownBenchmark> benchmarks_;
  std::map<std::string, KnownKind> kinds_;
  std::mutex page_mutex_;
  std::vector<Page> pages_;  ///< the latest first
};

}  // namespace neutra::serve
