#include "search/store.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iostream>
#include <random>
#include <string>
#include <utility>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/strings.h"
#include "base/words.h"
#include "search/store_file.h"
#include "search/store_header.h"
#include "search/store_reader.h"
#include "search/store_replay.h"

namespace neutra::search {
namespace {

namespace fs = std::filesystem;

/// Saving for readers costs at most a fiftieth of the time.
constexpr int kSaveShare = 50;
constexpr auto kSaveInterval = std::chrono::seconds(2);

std::string random_id() {
  std::random_device device;
  const Hash id{(std::uint64_t{device()} << 32) | device(),
                (std::uint64_t{device()} << 32) | device()};
  return to_string(id);
}

void remove_if_there(const fs::path& file) {
  if (::unlink(file.c_str()) != 0 && errno != ENOENT) throw_system_error("cannot remove", file);
}

}  // namespace

Store::Store(fs::path store, Json header, bool fresh)
    : file_(std::move(store)),
      journal_file_(beside(file_, ".journal")),
      lock_(beside(file_, ".lock"), header.value("command", ""), kStoreInUse) {
  remove_leftovers(fresh);
  content_ = load_store(file_);
  elapsed_before_ = content_.elapsed;
  if (content_.header.empty()) {
    content_ = {};
    content_.header = std::move(header);
    content_.header["created"] = utc_now();
  } else {
    go_on(header);
    if (content_.finished) {
      ::unlink(journal_file_.c_str());  // the process died before it did so, or while minimising
      return;
    }
  }
  start_journal();
}

/// Removes what an earlier process was writing; `fresh`: all that it wrote.
void Store::remove_leftovers(bool fresh) {
  const fs::path temporary = beside(file_, ".tmp");
  const fs::path journal_temporary = beside(journal_file_, ".tmp");
  require_ours(temporary, kStoreFormat);
  require_ours(journal_temporary, kJournalBeginning);
  if (fresh) require_ours(journal_file_, kJournalBeginning);
  ::unlink(temporary.c_str());
  ::unlink(journal_temporary.c_str());
  require_store_or_free(file_);
  if (fresh) {
    remove_if_there(journal_file_);
    remove_if_there(file_);
  }
}

/// Takes the store that is there for the search that `header` asks for, and saves it.
void Store::go_on(const Json& header) {
  const bool raised = raises_budgets(content_.header, header);
  const auto differences = header_differences(content_.header, header);
  if (!differences.empty() && !raised) {
    throw input_error(file_.string() + ": made with other options: " + join(differences, "; ") +
                      "; give the old ones, or larger budgets, or another file (neutra search "
                      "--reuse " +
                      file_.string() + " takes over what was trained), or " + kBeginAnew);
  }
  if (raised) {
    std::cerr << file_.string() << ": goes on with a larger budget: " << join(differences, "; ")
              << "\n";
    raise_budgets(content_.header, header);
    content_.finished = false;
    content_.end = SearchEnd::kInterrupted;
    if (content_.minimising) content_.minimising->end = SearchEnd::kInterrupted;
  }
  if (const auto problem = journal_problem(content_, file_)) {
    std::cerr << "warning: " << *problem << "\n";
  }
  if (!content_.finished || content_.journal_is_ahead) write_store_file(file_, content_);
}

void Store::start_journal() {
  const std::string id = random_id();
  std::vector<Json> first = {{{"type", "header"}, {"id", id}, {"header", content_.header}}};
  if (minimising_) first.front()["minimising"] = true;
  for (const EvaluationKey& key : in_flight_) {
    first.push_back(training_record("started", key));
    first.back()["apart"] = false;
  }
  first.push_back(first.front());  // a single damage loses no header
  // On a full disk this throws and the old journal goes on.
  journal_ = std::make_unique<Journal>(journal_file_, first, [this] {
    return Json{{"type", "elapsed"}, {"seconds", elapsed()}};
  });
  content_.journal_id = id;
  content_.journal_bytes = 0;
}

Store::~Store() {
  journal_.reset();
  remove_empty_journal();
}

void Store::give_up() {
  remove_empty_journal();
  lock_.give_up();
}

void Store::remove_empty_journal() const {
  if (content_.evaluations.empty() && !fs::exists(file_)) ::unlink(journal_file_.c_str());
}

double Store::seconds() const {
  return std::chrono::duration<double>(Clock::now() - begin_).count();
}

double Store::elapsed() const {
  return minimising_ ? content_.elapsed : elapsed_before_ + seconds();
}

SearchCounters Store::timed(SearchCounters counters) const {
  counters.total_seconds = elapsed();
  counters.seconds = seconds();
  return counters;
}

void Store::started(const EvaluationKey& key, bool isolated) {
  Json json = training_record("started", key);
  json["apart"] = isolated;
  journal_->append(json);
  if (!isolated) in_flight_.insert(key);
}

void Store::finished(const EvaluationKey& key, const training::ReplicaResult& result) {
  Json json = training_record("finished", key);
  json["elapsed"] = elapsed();
  json.update(to_json(result));
  journal_->append(json);
  in_flight_.erase(key);
  content_.evaluations.emplace(key, result);
  unsaved_ = true;
}

void Store::dropped(const EvaluationKey& key) {
  journal_->append(training_record("dropped", key));
  in_flight_.erase(key);
}

bool Store::save_due() const {
  const auto interval = std::max<Clock::duration>(kSaveInterval, kSaveShare * save_cost_);
  return unsaved_ && Clock::now() - saved_at_ >= interval;
}

void Store::save(const Network& network, const SearchCounters& counters,
                 std::optional<SearchEnd> end) {
  std::vector<Node> subpatches = std::move(content_.network.subpatches);
  content_.network = network;
  content_.network.subpatches = std::move(subpatches);
  content_.counters = counters;
  content_.elapsed = elapsed();
  content_.end = end.value_or(SearchEnd::kInterrupted);
  content_.finished = content_.end != SearchEnd::kInterrupted;
  fold_journal(end.has_value());
}

void Store::begin_minimising() {
  minimising_ = true;
  start_journal();
}

void Store::save_minimised(const std::vector<Node>& subpatches, const Minimising& state,
                           bool over) {
  content_.network.subpatches = subpatches;
  content_.minimising = state;
  fold_journal(over);
}

void Store::fold_journal(bool over) {
  const auto begin = Clock::now();
  if (over) {
    // Still in training: lost with another process.
    std::set<Hash> lost;
    for (const EvaluationKey& key : std::exchange(in_flight_, {})) lost.insert(key.hash);
    for (const Hash& hash : lost) ++content_.deaths[hash];
  }
  content_.journal_bytes = journal_->size();
  write_store_file(file_, content_);
  if (over) {
    journal_.reset();
    ::unlink(journal_file_.c_str());
    sync_folder(file_);
  } else {
    start_journal();
  }
  unsaved_ = false;
  saved_at_ = Clock::now();
  save_cost_ = saved_at_ - begin;
}

}  // namespace neutra::search
