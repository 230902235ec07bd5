#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/lru_cache.h"
#include "fl_adapters/watch.h"

/// What tools share that look at the model a program ends with.
namespace neutra::fl_adapters {

/// Throws Error(kInterrupted) when the run is to be given up.
void check_stop(const LocaliseContext& context);

/// Why the program can't be trained, or its model has other layers than the program, and so can't
/// be asked; ok: it can.
Trouble program_trouble(const FaultyProgram& faulty, const LocaliseContext& context);
/// The result of a tool that had that trouble.
Localisation with_trouble(Localisation result, const Trouble& trouble);

/// A row's target, or what a model gave for it.
struct RowValue {
  std::span<const float> values;
  bool plain = false;  ///< a number, where others are arrays
};
/// The class: a single value rounded (half to even, as Python does), else the argmax.
std::int64_t class_of(std::span<const float> values);
/// Do they name the same class?
bool same_class(const RowValue& expected, const RowValue& actual);
/// Are all values the same within `delta`? NaN is like nothing.
bool same_values(const RowValue& expected, const RowValue& actual, double delta);

/// The most suspicious first; layers before neurons. Equal ones by layer and neuron.
void sort_ranking(std::vector<evaluators::Suspect>& ranking);
/// The layers that share the first place. Empty where nothing is suspicious or all are alike: such
/// a ranking says nothing.
std::set<int> first_layers(const std::vector<evaluators::Suspect>& ranking);

/// The answer of a tool that ranks: `message` about the layers that stand out, of the model after
/// epoch `last_epoch`. It blames none where it has no layers.
void answer_with(Localisation& result, ToolMessage message, std::int64_t last_epoch);

/// What several tools of a family find out alike, found out once. Keeps the last results, so that
/// tools may be asked one after the other, each with all its runs. Thread safe.
template <typename Result>
class SharedWork {
 public:
  using Pointer = std::shared_ptr<const Result>;
  /// The result for that key; `work` makes it. One that `work` says not to keep, or throws, is
  /// made again next time.
  Pointer get(const std::string& key, const std::function<std::pair<Result, bool>()>& work) {
    std::promise<Pointer> promise;
    std::shared_future<Pointer> known;
    {
      const std::lock_guard lock(mutex_);
      if (const std::shared_future<Pointer>* found = results_.find(key)) {
        known = *found;
      } else {
        results_.add(key, promise.get_future().share());
      }
    }
    if (known.valid()) return known.get();
    try {
      auto [result, keep] = work();
      auto made = std::make_shared<const Result>(std::move(result));
      promise.set_value(made);
      if (!keep) forget(key);
      return made;
    } catch (...) {
      promise.set_exception(std::current_exception());
      forget(key);
      throw;
    }
  }

 private:
  static constexpr std::uint64_t kKept = 64;  ///< more than the 20 runs of a study

  void forget(const std::string& key) {
    const std::lock_guard lock(mutex_);
    results_.erase(key);
  }

  std::mutex mutex_;
  LruCache<std::string, std::shared_future<Pointer>> results_{kKept};
};

/// Key of the shared work of one run.
std::string work_key(const FaultyProgram& faulty, const LocaliseContext& context);

}  // namespace neutra::fl_adapters
