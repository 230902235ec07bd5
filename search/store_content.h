#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/journal.h"
#include "search/network.h"
#include "search/options.h"
#include "search/work.h"

namespace neutra::search {

/// What FILE and a journal's header say of themselves (docs/formats/store.md).
inline constexpr std::string_view kStoreFormat = "neutra-store";
/// The newest version of the format that this program reads, and the one that it writes.
inline constexpr int kStoreVersion = 1;

/// How to get rid of a store, for messages; other verbs than search come here, too.
inline constexpr const char* kBeginAnew = "remove it to start anew (neutra search --fresh does)";

/// The field of a header that holds the script which the fault was captured from; other faults'
/// have none. It says where the program is written, not what is searched.
inline constexpr const char* kStoredScript = "script";

/// The files beside a store: its suffix is ".journal", ".lock", ".tmp", ...
inline std::filesystem::path beside(const std::filesystem::path& store, const char* suffix) {
  return store.string() + suffix;
}

/// Everything a store holds: its HDF5 file and its journal together.
struct StoreContent {
  Json header = Json::object();  ///< what was searched, and how; empty: there is no store yet
  EvaluationMap evaluations;     ///< every training that ended
  std::map<Hash, int> deaths;    ///< by program: processes that died while training it
  Network network;               ///< as of the last save
  SearchCounters counters;       ///< as of the last save
  double elapsed = 0;            ///< seconds of the search, all processes
  double saved_elapsed = 0;      ///< the same at the last save
  bool finished = false;         ///< the search ended by itself: `end` says how
  SearchEnd end = SearchEnd::kInterrupted;  ///< as of the last save
  std::optional<Minimising> minimising;     ///< as of the last save
  std::string journal_id;                   ///< of the journal that the HDF5 file has taken in ...
  std::uint64_t journal_bytes = 0;          ///< ... up to this byte
  JournalDamage journal_damage;             ///< bytes of the journal that hold no record
  bool journal_is_ahead = false;            ///< the journal holds what the HDF5 file lacks
};

}  // namespace neutra::search
