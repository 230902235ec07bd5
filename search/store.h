#pragma once

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "base/file_lock.h"
#include "base/journal.h"
#include "search/store_content.h"
#include "search/work.h"

namespace neutra::search {

/// A store being written: what the search finds goes to the journal at once, and is folded into the
/// HDF5 file from time to time. Not thread safe: the executor holds a lock.
class Store : public EvaluationLog {
 public:
  /// Takes the lock, recovers what earlier processes left and starts a new journal. Larger budgets
  /// make a finished store an unfinished one. A store that was made with other options throws
  /// input_error; `fresh` begins anew instead.
  Store(std::filesystem::path store, Json header, bool fresh);
  /// A search that evaluated nothing leaves no files.
  ~Store() override;

  /// What was there, and what has come since: the network as of the last save.
  const StoreContent& content() const { return content_; }
  /// Throws failure() where nothing more can be kept: somebody removed the journal or its folder.
  void check() const { journal_->check(); }
  /// What the destructor does, in a process that ends without it.
  void give_up();
  double elapsed() const;  ///< seconds of the search, earlier processes included
  double seconds() const;  ///< of this process
  /// The counters of a run with these seconds.
  SearchCounters timed(SearchCounters counters) const;

  void started(const EvaluationKey& key, bool isolated) override;
  void finished(const EvaluationKey& key, const training::ReplicaResult& result) override;
  void dropped(const EvaluationKey& key) override;

  /// Is it time to save for readers and to keep the journal short?
  bool save_due() const;
  /// Folds the journal into the HDF5 file. `end`: the search is over for now and the journal goes
  /// away; kInterrupted leaves the store unfinished. Throws failure() where the disk is full.
  void save(const Network& network, const SearchCounters& counters, std::optional<SearchEnd> end);

  /// Starts the journal of a finished search again, for trainings that are not the search's: its
  /// time stands still.
  void begin_minimising();
  /// Like save(). `over`: for now.
  void save_minimised(const std::vector<Node>& subpatches, const Minimising& state, bool over);

 private:
  using Clock = std::chrono::steady_clock;
  void remove_leftovers(bool fresh);
  void go_on(const Json& header);
  void start_journal();
  void fold_journal(bool over);
  void remove_empty_journal() const;

  const std::filesystem::path file_;
  const std::filesystem::path journal_file_;
  FileLock lock_;
  StoreContent content_;
  std::set<EvaluationKey> in_flight_;  ///< started in this process, not in one of their own
  const Clock::time_point begin_ = Clock::now();
  double elapsed_before_ = 0;  ///< seconds of earlier processes
  Clock::time_point saved_at_ = begin_;
  Clock::duration save_cost_{};  ///< how long the last save took
  bool unsaved_ = false;
  bool minimising_ = false;
  std::unique_ptr<Journal> journal_;
};

}  // namespace neutra::search
