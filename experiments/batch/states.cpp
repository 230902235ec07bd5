#include "experiments/batch/states.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <map>
#include <mutex>
#include <set>

#include "base/checksum_header.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/file_lock.h"
#include "experiments/batch/batch.h"
#include "experiments/catalog.h"
#include "experiments/network_warnings.h"
#include "experiments/scoring_metric.h"
#include "search/store_reader.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestNote = 200;

std::string how_its_job_ended(const fs::path& store) {
  const fs::path file = store.parent_path() / kBatchLogs / (store.stem().string() + kBatchEnding);
  if (std::error_code absent; !fs::is_regular_file(file, absent)) return "";
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line.substr(0, kLongestNote);
}

bool is_store(const fs::path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) return false;
  const std::optional<ChecksumHeader> header = read_checksum_header(file);
  return header && header->format == "neutra-store";
}

/// Is this a store, maybe a damaged one? By its checksum header, by its journal, or by a user
/// block that holds no header any more.
bool looks_like_a_store(const fs::path& file) {
  if (is_store(file)) return true;
  fs::path journal = file;
  if (journal += ".journal";
      start_of_file(journal, kJournalBeginning.size()) == kJournalBeginning) {
    return true;
  }
  return is_hdf5_file(file) && start_of_file(file, kHdf5Start.size()) != kHdf5Start &&
         !read_checksum_header(file);
}

/// The title of the bundled fault that a store's header names, if it is that of its program.
std::string title_of(const Json& header) {
  struct Bundled {
    std::string title;
    std::set<std::string> hashes;  ///< of the buggy program, as it is and as searches compare it
  };
  static std::mutex mutex;
  static std::map<std::string, Bundled> known;
  const std::string id = header.value("fault", "");
  const std::vector<std::string> ids = fault_ids();
  if (std::find(ids.begin(), ids.end(), id) == ids.end()) return "";
  const std::lock_guard lock(mutex);
  const auto [at, is_new] = known.try_emplace(id);
  if (is_new) {
    const Fault fault = load_fault(id);
    at->second = {fault.title,
                  {to_string(program::program_hash(fault.buggy)),
                   to_string(program::program_hash(scored_alike(fault).buggy))}};
  }
  return at->second.hashes.contains(header.value("program", "")) ? at->second.title : "";
}

/// What the programs of a search are worth.
void add_findings(BatchState& state, const search::Network& network) {
  state.metric = network.metric;
  state.maximize = network.goal == program::Goal::kMaximize;
  state.level = network.ground_truth;
  state.buggy_reaches_level = buggy_reaches_level(network);
  if (!network.nodes.empty() && !network.nodes.front().metrics.empty() &&
      std::isfinite(network.nodes.front().mean)) {
    state.buggy = network.nodes.front().mean;
  }
  for (const search::Node* repair : network.alternatives()) {
    if (!std::isfinite(repair->mean)) continue;
    const bool better =
        !state.best || (state.maximize ? repair->mean > *state.best : repair->mean < *state.best);
    if (better) state.best = repair->mean;
  }
}

/// Of a file that looks like a store, or should be one.
BatchState state_of(const fs::path& store) {
  BatchState state;
  state.fault = store.stem().string();
  state.store = store;
  std::error_code absent;
  const fs::file_time_type saved = fs::last_write_time(store, absent);
  try {
    const search::StoredRun run = search::read_store(store);
    state.fault = run.header.value("fault", state.fault);
    const search::SearchCounters& counters = run.counters;
    state.nodes = static_cast<std::int64_t>(run.network.nodes.size());
    state.alternatives = static_cast<std::int64_t>(run.network.alternatives().size());
    state.title = title_of(run.header);
    add_findings(state, run.network);
    state.evaluations = counters.evaluations;
    state.seconds = counters.total_seconds;
    if (run.finished) {
      state.state = "finished";
      state.note = to_string(run.end);
    } else if (const std::optional<std::string> owner = lock_owner(store.string() + ".lock")) {
      state.state = "running";
      state.note = owner->substr(0, owner->find(", command"));
      if (!absent && run.saved_seconds > 0) {
        state.saved = saved;
        state.seconds = run.saved_seconds;
      }
    } else {
      state.state = "stopped";
      state.note = how_its_job_ended(store);
    }
    // The journal goes on, the evaluations are those of the last save.
    const double seconds = run.saved_seconds;
    if (counters.evaluations <= 0 || seconds <= 0) return state;
    const double rate = static_cast<double>(counters.evaluations) / seconds;
    state.evaluations_an_hour = rate * 3600;
    if (run.finished && !run.header.contains("config")) return state;
    const search::SearchConfig config =
        search::search_config_from_json(run.header.value("config", Json::object()), store.string());
    const auto limited = [&](double done, double budget, double seconds_left) {
      const double part = budget > 0 ? std::clamp(done / budget, 0.0, 1.0) : 1;
      state.budget_used = std::max(state.budget_used.value_or(0), part);
      if (run.finished) return;
      seconds_left = std::max(seconds_left, 0.0);
      state.seconds_left = std::min(state.seconds_left.value_or(seconds_left), seconds_left);
    };
    if (config.budget_evaluations) {
      const auto budget = static_cast<double>(*config.budget_evaluations);
      const auto done = static_cast<double>(counters.evaluations);
      limited(done, budget, (budget - done) / rate);
    }
    if (config.budget_seconds) {
      limited(seconds, *config.budget_seconds, *config.budget_seconds - seconds);
    }
  } catch (const Error& error) {
    if (error.exit() != Exit::kBadInput) throw;
    state.state = "damaged";
    state.note = error.what();
  }
  return state;
}

}  // namespace

std::string note_text(const BatchState& state) {
  const auto end = search::parse_search_end(state.note);
  return state.state == "finished" && end ? std::string(search::end_text(*end)) : state.note;
}

std::optional<double> saved_ago(const BatchState& state) {
  if (!state.saved) return std::nullopt;
  const auto passed = fs::file_time_type::clock::now() - *state.saved;
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(passed).count();
  return static_cast<double>(std::max<std::int64_t>(seconds, 0));
}

std::vector<BatchState> batch_states(const std::vector<fs::path>& paths) {
  std::set<fs::path> stores, waiting, seen;
  const auto add = [&](std::set<fs::path>& to, const fs::path& store) {
    if (seen.insert(fs::weakly_canonical(store)).second) to.insert(store);
  };
  for (const fs::path& path : paths) {
    if (!fs::is_directory(path)) {
      if (!looks_like_a_store(path)) search::read_store(path);  // says what is wrong
      add(stores, path);
      continue;
    }
    std::size_t found = 0;
    for (const auto& entry : fs::directory_iterator(path)) {
      fs::path file = entry.path();
      // A search that never saved has its journal alone.
      if (file.extension() == ".journal") file.replace_extension();
      // What a repair replaced is no search any more.
      if (file.extension() == ".damaged") continue;
      if (file == entry.path() ? looks_like_a_store(file) : file.extension() == ".h5") {
        add(stores, file);
        ++found;
      }
    }
    const std::optional<SearchBatch> batch = read_batch(path);
    for (const std::string& fault : batch ? batch->faults : std::vector<std::string>()) {
      const fs::path store = path / (fault + ".h5");
      add(fs::exists(store) ? stores : waiting, store);
      ++found;
    }
    if (found == 0) {
      throw input_error(describe(path.string(), "", "no store of a search",
                                 "a folder of neutra submit, neutra study or neutra search"));
    }
  }
  std::vector<BatchState> states;
  for (const fs::path& store : stores) states.push_back(state_of(store));
  for (const fs::path& store : waiting) {
    const std::string end = how_its_job_ended(store);
    states.push_back({store.stem().string(), store, end.empty() ? "waiting" : "stopped", end});
  }
  std::stable_sort(states.begin(), states.end(),
                   [](const BatchState& a, const BatchState& b) { return a.store < b.store; });
  return states;
}

}  // namespace neutra::experiments
