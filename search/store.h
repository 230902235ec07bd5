#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/journal.h"
#include "search/machine.h"
#include "search/search.h"

namespace neutra::search {

/// Everything a store holds: its HDF5 file and its journal together.
struct StoreContent {
  Json header;  ///< empty object: nothing there yet
  EvaluationMap evaluations;
  std::map<Hash, int> deaths;  ///< processes that died while training a program
  Network network;             ///< as of the last save
  SearchCounters counters;     ///< as of the last save
  double elapsed = 0;          ///< seconds, all processes
  double saved_elapsed = 0;    ///< that of the last save
  bool finished = false;
  SearchEnd end = SearchEnd::kInterrupted;
  std::optional<Minimising> minimising;  ///< as of the last save
  std::string journal_id;                ///< of the journal that the HDF5 file has taken in ...
  std::uint64_t journal_bytes = 0;       ///< ... up to here
  JournalDamage journal_damage;
  bool journal_is_ahead = false;  ///< the journal holds what the HDF5 file lacks
};

/// Throws input_error: not a store, damaged, of a newer version.
StoreContent load_store(const std::filesystem::path& store);

/// The same of a store that has to be there. Throws input_error also where there is none, or a
/// search that has not begun.
StoreContent load_existing_store(const std::filesystem::path& store);

/// What is wrong with the journal, on one line; nullopt: nothing. The next start of the search goes
/// on all the same.
std::optional<std::string> journal_problem(const StoreContent& content,
                                           const std::filesystem::path& store);

/// Throws input_error where a file of another kind has the name that a store is to get.
void require_store_or_free(const std::filesystem::path& file);

/// The field-by-field differences between what made a store and what is asked for now.
std::vector<std::string> header_differences(const Json& stored, const Json& wanted);
/// Do they differ, and by nothing but budgets that are larger now? Such a search goes on as if it
/// had had them from the start: what it trained is needed, and in the same order.
bool raises_budgets(const Json& stored, const Json& wanted);

/// The lock FILE.lock. It dies with the process; its text names the owner.
class StoreLock {
 public:
  /// Throws failure() naming the owner when another process keeps the lock for half a second;
  /// `use`: what it does then.
  StoreLock(std::filesystem::path file, const std::string& command,
            const std::string& use = "the store is in use by another search");
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;
  ~StoreLock();
  void give_up();  ///< removes the file, in a process that ends without the destructor
  /// What this process becomes by exec holds the lock, with its children. The file stays.
  void keep_over_exec();

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

/// A store being written. Not thread safe: the executor holds a lock.
class Store : public EvaluationLog {
 public:
  /// Takes the lock, recovers what earlier processes left and starts a new journal. Larger budgets
  /// make a finished store an unfinished one. A store that was made with other options throws
  /// input_error; `fresh` begins anew instead.
  Store(std::filesystem::path store, Json header, bool fresh);
  /// A search that evaluated nothing leaves no files.
  ~Store() override;

  /// What was there, for the machine.
  const StoreContent& content() const { return content_; }
  /// Throws failure() where nothing more can be kept: somebody removed the journal or its folder.
  void check() const { journal_->check(); }
  /// What the destructor does, in a process that ends without it.
  void give_up();
  double elapsed() const;  ///< seconds of the search, earlier processes included
  double seconds() const;  ///< of this process

  void started(const EvaluationKey& key, bool apart) override;
  void finished(const EvaluationKey& key, const training::ReplicaResult& result) override;
  void dropped(const EvaluationKey& key) override;

  /// Is it time to save for readers and to keep the journal short?
  bool save_due() const;
  /// Folds the journal into the HDF5 file. `end`: the search is over for now and the journal goes
  /// away; kInterrupted leaves the store unfinished.
  void save(const Network& network, const SearchCounters& counters, std::optional<SearchEnd> end);

  /// Starts the journal of a finished search again, for trainings that are not the search's: its
  /// time stands still.
  void begin_minimising();
  /// Like save(). `over`: for now.
  void save_minimised(const std::vector<Node>& subpatches, const Minimising& state, bool over);

 private:
  using Clock = std::chrono::steady_clock;
  void start_journal();
  void fold_journal(bool over);

  const std::filesystem::path file_;
  const std::filesystem::path journal_file_;
  StoreLock lock_;
  StoreContent content_;
  std::set<EvaluationKey> in_flight_;
  const Clock::time_point begin_ = Clock::now();
  double elapsed_before_ = 0;
  Clock::time_point saved_at_ = begin_;
  Clock::duration save_cost_{};
  bool unsaved_ = false;
  bool minimising_ = false;
  std::unique_ptr<Journal> journal_;
};

}  // namespace neutra::search
