#include "search/store_recovery.h"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/file_lock.h"
#include "base/files.h"
#include "base/words.h"
#include "search/store_check.h"
#include "search/store_file.h"
#include "search/store_header.h"
#include "search/store_reader.h"
#include "search/store_replay.h"

namespace neutra::search {
namespace {

namespace fs = std::filesystem;

/// Is it there to be made?
void require_free(const fs::path& file) {
  if (!fs::exists(fs::symlink_status(file))) {
    const fs::path folder = file.has_parent_path() ? file.parent_path() : ".";
    if (fs::is_directory(folder)) return;
    throw input_error(describe(file.string(), "", "no folder " + folder.string(),
                               "a name in a folder that is there"));
  }
  throw input_error(
      describe(file.string(), "", "a file of that name", "a name that is still free"));
}

/// All whole records of a store and its journal, whatever else is damaged.
StoreContent recover(const fs::path& store) {
  StoreContent content;
  const fs::path journal = beside(store, ".journal");
  if (fs::exists(store)) {
    try {
      read_store_file(store, content);
    } catch (const Error&) {
      content = {};
      const JournalContent records = parse_journal(read_regular_file(store, "a store of neutra"));
      const Json* first = header_record(records);
      content.header = first ? first->at("header") : Json::object();
      if (const Json* format = member(content.header, "format");
          format && *format != kStoreFormat) {
        throw input_error(describe(store.string(), "", kind_of_file(store),
                                   "the store of a search, or its journal"));
      }
      require_known_version(store, content.header);
      apply_records(records, 0, content);
      content.journal_damage = {};  // the other bytes are HDF5's
    }
  }
  if (fs::exists(journal)) {
    apply_journal(read_regular_file(journal, "a journal of neutra"), journal, content);
  }
  if (content.header.value("format", Json()) != kStoreFormat) {
    throw input_error(describe(store.string(), "", "no whole record that says what was searched",
                               "the store of a search, or its journal, with one"));
  }
  return content;
}

/// A copy of a sound store, with what its journal holds.
StoreSummary write_copy(const fs::path& file, StoreContent content) {
  StoreSummary summary;
  summary.trainings = content.evaluations.size();
  summary.command = content.header.value("command", "");
  summary.finished = content.finished;
  content.journal_id.clear();
  content.journal_bytes = 0;
  write_store_file(file, content);
  return summary;
}

/// Begins an unfinished store with what was evaluated; the search makes its network again.
StoreSummary write_new_store(const fs::path& file, StoreContent content) {
  StoreSummary summary;
  summary.trainings = content.evaluations.size();
  summary.damaged_bytes = content.journal_damage.bytes;
  summary.command = content.header.value("command", "");
  content.finished = false;
  content.end = SearchEnd::kInterrupted;
  content.network = {};
  content.counters = {};
  content.minimising.reset();
  content.journal_id.clear();
  content.journal_bytes = 0;
  write_store_file(file, content);
  return summary;
}

}  // namespace

std::optional<StoreSummary> repair_store(const fs::path& store,
                                         const std::optional<fs::path>& out) {
  const fs::path journal = beside(store, ".journal");
  if (!fs::exists(store) && !fs::exists(journal)) read_store(store);  // says what is missing
  const FileLock lock(beside(store, ".lock"), "store repair " + store.string(), kStoreInUse);
  const bool sound = check_store(store).empty();
  if (out) {
    require_free(*out);
    require_free(beside(*out, ".journal"));
    if (sound) return write_copy(*out, load_existing_store(store));
  } else if (sound) {
    return std::nullopt;
  }
  StoreContent content = recover(store);
  if (out) return write_new_store(*out, std::move(content));
  const fs::path repaired = beside(store, ".repaired");
  require_free(repaired);
  std::vector<fs::path> damaged;
  for (const fs::path& file : {store, journal}) {
    if (fs::exists(file)) damaged.push_back(file);
    require_free(beside(file, ".damaged"));
  }
  StoreSummary summary = write_new_store(repaired, std::move(content));
  for (const fs::path& file : damaged) {
    summary.kept.push_back(beside(file, ".damaged"));
    if (::rename(file.c_str(), summary.kept.back().c_str()) != 0) {
      throw_system_error("cannot rename", file);
    }
  }
  if (::rename(repaired.c_str(), store.c_str()) != 0) throw_system_error("cannot rename", repaired);
  sync_folder(store);
  return summary;
}

StoreSummary merge_stores(const std::vector<fs::path>& stores, const fs::path& out) {
  require_free(out);
  require_free(beside(out, ".journal"));
  StoreContent merged;
  for (const fs::path& store : stores) {
    const StoreContent content = load_existing_store(store);
    if (content.journal_damage.bytes > 0) {
      throw input_error(describe(beside(store, ".journal").string(), "",
                                 to_string(content.journal_damage) + " which hold no record",
                                 "a sound store; neutra store repair makes one"));
    }
    if (merged.header.empty()) merged.header = content.header;
    // What a training gives depends on these alone.
    Json asked = content.header, first = merged.header;
    for (Json* header : {&asked, &first}) {
      Json& config = (*header)["config"];
      for (auto it = config.begin(); it != config.end();) {
        const bool decides = it.key() == "seed" || it.key() == "fingerprint" ||
                             it.key() == "time_limit" || it.key() == "memory_limit";
        it = decides ? std::next(it) : config.erase(it);
      }
    }
    if (const auto differences = header_differences(first, asked); !differences.empty()) {
      throw input_error(describe(
          store.string(), "",
          "another search than that of " + stores.front().string() + ": " + join(differences, "; "),
          "stores of one search"));
    }
    for (const auto& [key, result] : content.evaluations) {
      const auto [known, is_new] = merged.evaluations.emplace(key, result);
      const bool same = known->second.status == result.status &&
                        (known->second.metric == result.metric ||
                         (std::isnan(known->second.metric) && std::isnan(result.metric)));
      if (!is_new && !same) {
        throw input_error(describe(store.string(), "",
                                   "program " + to_string(key.hash) + ", replica " +
                                       std::to_string(key.replica) +
                                       " with another result than in the stores before it",
                                   "stores that agree: remove the one that is wrong"));
      }
    }
    for (const auto& [hash, count] : content.deaths) merged.deaths[hash] += count;
    merged.elapsed += content.elapsed;
  }
  return write_new_store(out, std::move(merged));
}

}  // namespace neutra::search
