#include "search/store_reader.h"

#include <sys/stat.h>

#include <string>
#include <utility>

#include "base/error.h"
#include "base/files.h"
#include "base/warn_once.h"
#include "search/store_file.h"
#include "search/store_replay.h"

namespace neutra::search {

namespace fs = std::filesystem;

StoreContent load_store(const fs::path& store) {
  const fs::path journal = beside(store, ".journal");
  const auto identity = [&] {
    struct stat status {};
    return ::stat(store.c_str(), &status) == 0 ? std::pair{status.st_ino, status.st_mtim.tv_nsec}
                                               : std::pair{ino_t{0}, 0L};
  };
  for (int attempt = 0;; ++attempt) {
    const auto before = identity();
    try {
      StoreContent content;
      // The journal first: an HDF5 file that is renamed meanwhile holds all of it.
      std::optional<std::string> bytes;
      try {
        if (fs::exists(journal)) bytes = read_regular_file(journal, "a journal of neutra");
      } catch (const Error&) {
        if (fs::exists(journal)) throw;  // else its writer has just finished
      }
      if (fs::exists(store)) read_store_file(store, content);
      if (bytes) apply_journal(*bytes, journal, content);
      return content;
    } catch (const std::exception&) {
      // A writer replaced the file under the reader's eyes: read the new one.
      if (attempt == 10 || identity() == before) throw;
    }
  }
}

StoreContent load_existing_store(const fs::path& store) {
  if (!fs::exists(store) && !fs::exists(beside(store, ".journal"))) {
    throw input_error(describe(store.string(), "", "no such file", kAStore));
  }
  StoreContent content = load_store(store);
  if (content.header.empty()) {
    throw input_error(describe(store.string(), "", "an empty journal",
                               "a store; the search that begins it can be started again"));
  }
  return content;
}

StoredRun read_store(const fs::path& store) {
  StoreContent content = load_existing_store(store);
  if (const auto problem = journal_problem(content, store)) warn_once(*problem);
  StoredRun run;
  run.header = std::move(content.header);
  run.network = std::move(content.network);
  if (run.network.nodes.empty()) {  // only the journal is there yet
    run.network.fault_id = run.header.value("fault", "");
    run.network.metric = run.header.value("metric", "");
    run.network.goal =
        program::parse_goal(run.header.value("goal", "")).value_or(program::Goal::kMaximize);
  }
  run.counters = content.counters;
  run.counters.total_seconds = content.elapsed;
  run.saved_seconds = content.saved_elapsed;
  run.finished = content.finished;
  run.end = content.end;
  run.minimising = content.minimising;
  return run;
}

std::optional<SearchConfig> stored_config(const fs::path& store) {
  const fs::path journal = beside(store, ".journal");
  try {
    Json header;
    if (fs::exists(store)) {
      header = read_store_header(store);
    } else if (fs::exists(journal)) {
      const JournalContent content =
          parse_journal(read_regular_file(journal, "a journal of neutra"));
      if (const Json* first = header_record(content)) header = first->at("header");
    }
    const Json* config = member(header, "config");
    if (config != nullptr) return search_config_from_json(*config, store.string());
  } catch (const std::exception&) {
    // Damaged, or replaced at this moment: the search itself says so, or waits.
  }
  return std::nullopt;
}

}  // namespace neutra::search
