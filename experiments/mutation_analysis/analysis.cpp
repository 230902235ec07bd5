#include "experiments/mutation_analysis/analysis.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/numbers.h"
#include "evaluators/statistics.h"
#include "training/metrics.h"

namespace neutra::experiments {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A verdict asks for runs that aren't there.
struct Missing {};

class Analyst {
 public:
  Analyst(const program::Program& original, const std::vector<OperatorSite>& sites,
          const MutationOptions& options, MutantTrainer& trainer, MutantRuns& runs)
      : original_(original),
        original_hash_(program::program_hash(original)),
        sites_(sites),
        options_(options),
        trainer_(trainer),
        runs_(runs),
        maximize_(program::resolve(original).goal == program::Goal::kMaximize) {
    const program::ResolvedProgram resolved = program::resolve(original);
    // Foregone verdicts are about metrics in [0, 1].
    early_ = options.early && options.variant == evaluators::KillVariant::kCorrected &&
             training::is_accuracy(resolved.metric);
    for (const TestSet set : options.sets) {
      if (set == TestSet::kWeak && !training::is_accuracy(resolved.metric)) {
        throw input_error("the weak test set needs a classification; found metric " +
                          resolved.metric);
      }
    }
  }

  MutationAnalysis analyse(const std::function<void(const Tally&)>& progress) {
    wanted_ = {{original_hash_, &original_}};
    train(false, progress);
    judge_original();
    for (;;) {
      wanted_.clear();
      MutationAnalysis result = evaluate();
      if (wanted_.empty()) {
        finish(result);
        return result;
      }
      train(early_, progress);
    }
  }

 private:
  std::size_t run_count() const { return static_cast<std::size_t>(options_.runs); }

  const MutantRun* find(const Hash& program, int run) const {
    const MutantRun* kept = runs_.find(program, run);
    const bool other_rows =
        kept != nullptr && kept->version < kMutantRunVersion && skewed_.contains(program);
    return other_rows ? nullptr : kept;
  }

  /// Trains what is wanted: all first runs, then all second ones, ...
  void train(bool early, const std::function<void(const Tally&)>& progress) {
    std::vector<std::pair<Hash, int>> tasks;
    for (int run = 0; run < options_.runs; ++run) {
      for (const auto& [hash, program] : wanted_) {
        if (find(hash, run) == nullptr) tasks.emplace_back(hash, run);
      }
    }
    std::mutex mutex;
    const std::size_t earlier = tally_.done;
    tally_.total += tasks.size();
    run_all(
        tasks.size(), options_.workers, options_.stop,
        [&](std::size_t i) {
          const auto& [hash, run] = tasks[i];
          if (early) {
            const std::lock_guard lock(mutex);
            if (settled_runs(hash)) return;
          }
          MutantRun result = trainer_.run(*wanted_.at(hash), run);
          if (hash != original_hash_ || run != 0) result.certainty.clear();
          const std::lock_guard lock(mutex);
          tally_.failed += !training::has_metric(result.status);
          runs_.add(hash, run, std::move(result));
        },
        [&](std::size_t finished) {
          const std::lock_guard lock(mutex);
          tally_.done = earlier + finished;
          if (progress) progress(tally_);
        });
  }

  void judge_original() {
    for (int run = 0; run < options_.runs; ++run) {
      const MutantRun& r = *find(original_hash_, run);
      const std::string which = "run " + std::to_string(run) + " of the original ";
      if (r.status != training::RunStatus::kOk) {
        throw input_error(which + "is " + std::string(to_string(r.status)) + ": " + r.message +
                          "; allowed: an original that trains");
      }
      if (run == 0) choose_weak(r.certainty);
      for (const TestSet set : options_.sets) {
        const double value = metric(r, set);
        if (!std::isfinite(value)) {
          throw input_error(which + "has no metric on " + std::string(to_string(set)));
        }
        original_values_[set].push_back(value);
      }
    }
  }

  void choose_weak(const std::vector<float>& certainty) {
    if (std::find(options_.sets.begin(), options_.sets.end(), TestSet::kWeak) ==
        options_.sets.end()) {
      return;
    }
    std::vector<std::size_t> order(certainty.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (options_.variant == evaluators::KillVariant::kAsPublished) {
      std::erase_if(order, [&](std::size_t i) { return certainty[i] != 1; });
      if (order.empty()) {
        throw input_error(
            "weak: found no test row that the original is certain (1.0) of, as the "
            "published analysis takes them; allowed: --variant corrected, which takes "
            "the half that it is most certain of");
      }
    } else {
      // NaN is certain of nothing.
      const auto rank = [&](std::size_t i) { return std::isnan(certainty[i]) ? -1 : certainty[i]; };
      std::stable_sort(order.begin(), order.end(),
                       [&](std::size_t a, std::size_t b) { return rank(a) > rank(b); });
      order.resize((order.size() + 1) / 2);
    }
    weak_ = std::move(order);
  }

  double metric(const MutantRun& run, TestSet set) const {
    if (set != TestSet::kWeak) return run.metrics.at(set);
    if (run.right.empty()) return kNaN;
    const auto right =
        std::count_if(weak_.begin(), weak_.end(), [&](std::size_t i) { return run.right[i]; });
    return static_cast<double>(right) / static_cast<double>(weak_.size());
  }

  /// The metrics of the first `count` runs; nullopt: one isn't there.
  std::optional<std::vector<double>> values(const Hash& hash, TestSet set,
                                            std::size_t count) const {
    std::vector<double> list;
    for (std::size_t run = 0; run < count; ++run) {
      const MutantRun* r = find(hash, static_cast<int>(run));
      if (r == nullptr) return std::nullopt;
      list.push_back(metric(*r, set));
    }
    return list;
  }

  /// Did the first `count` runs end by themselves? What was cut off (time, memory) has no metric,
  /// which is no divergence.
  bool ended(const Hash& hash, std::size_t count) const {
    for (std::size_t run = 0; run < count; ++run) {
      if (!training::has_metric(find(hash, static_cast<int>(run))->status)) return false;
    }
    return true;
  }

  /// The number of runs from the first on that settle all verdicts, as few as do; nullopt: those
  /// that are there don't.
  std::optional<std::size_t> settled_runs(const Hash& hash) {
    // Runs are never taken back: what was found about the first ones stays.
    Settled& known = settled_[hash];
    while (!known.settles) {
      const std::size_t count = known.count + 1;
      if (find(hash, static_cast<int>(count) - 1) == nullptr) return std::nullopt;
      known.count = count;
      known.settles =
          count == run_count() || (early_ && !ended(hash, count)) ||
          (early_ && std::all_of(options_.sets.begin(), options_.sets.end(), [&](TestSet set) {
             return evaluators::foregone(original_values_.at(set), *values(hash, set, count),
                                         run_count(), maximize_)
                 .has_value();
           }));
    }
    return known.count;
  }

  /// The mutant of a site with that value; made once.
  std::size_t mutant_index(MutationAnalysis& result, std::size_t site, const std::string& value) {
    const auto [it, is_new] = index_.emplace(std::pair{site, value}, result.mutants.size());
    if (!is_new) return it->second;
    AnalysedMutant mutant;
    mutant.site = site;
    mutant.value = value;
    mutant.op = sites_[site].op;
    const auto known = programs_.find({site, value});
    if (known == programs_.end()) {
      Made made;
      try {
        made.program = sites_[site].make(value);
        made.hash = program::program_hash(*made.program);
        if (is_skewed(original_, *made.program)) skewed_.insert(made.hash);
        if (made.hash != original_hash_) made.refusal = trainer_.refusal(*made.program);
      } catch (const Error& e) {
        // The operator, or the data that it mutates, refuse.
        if (e.exit() != Exit::kBadInput) throw;
        made.program.reset();
        made.reason = e.what();
      }
      programs_.emplace(std::pair{site, value}, std::move(made));
    }
    const Made& made = programs_.at({site, value});
    mutant.program = made.program;
    mutant.reason = made.program ? made.refusal.value_or("") : made.reason;
    if (!made.program || made.refusal) mutant.status = training::RunStatus::kInvalid;
    if (made.program) {
      const auto twin = first_with_.find(made.hash);
      if (made.hash == original_hash_) {
        mutant.same_as = "original";
      } else if (twin != first_with_.end()) {
        mutant.same_as = result.mutants[twin->second].id();
      } else {
        first_with_[made.hash] = result.mutants.size();
      }
    }
    result.mutants.push_back(std::move(mutant));
    result.sites[site].mutants.push_back(it->second);
    return it->second;
  }

  /// Its verdict; throws Missing and asks for its runs where they aren't there. `reference`: what
  /// kills it instead of the original, against which its power is in any case (DeepCrime:
  /// mutation_score.py).
  evaluators::KillVerdict verdict(MutationAnalysis& result, std::size_t index, TestSet set,
                                  const std::vector<double>* reference = nullptr) {
    AnalysedMutant& mutant = result.mutants[index];
    if (!mutant.program || mutant.status == training::RunStatus::kInvalid) {
      evaluators::KillVerdict none;
      none.missing = true;
      return none;
    }
    const Made& made = programs_.at({mutant.site, mutant.value});
    if (made.hash == original_hash_) {
      mutant.runs = options_.runs;
      return {};
    }
    const std::optional<std::size_t> count = settled_runs(made.hash);
    if (!count) {
      wanted_[made.hash] = &*made.program;
      throw Missing();
    }
    mutant.runs = static_cast<int>(*count);
    const std::vector<double> own = *values(made.hash, set, *count);
    mutant.means[set] = evaluators::mean(own);
    evaluators::KillVerdict verdict;
    if (!ended(made.hash, *count)) {
      verdict.missing = true;
      return verdict;
    }
    mutant.diverged[set] = evaluators::count_not_finite(own);
    const evaluators::KillOptions test{maximize_, options_.variant};
    const std::vector<double>& original = original_values_.at(set);
    verdict = evaluators::kill_test(original, own, test);
    if (*count < run_count()) {
      // One run may decide, which has no test of its own.
      if (verdict.missing) verdict.p = verdict.d = verdict.power = kNaN;
      verdict.missing = false;
      verdict.killed = verdict.stable =
          *evaluators::foregone(original, own, run_count(), maximize_);
    }
    if (reference) {
      const evaluators::KillVerdict other = evaluators::kill_test(*reference, own, test);
      verdict.p = other.p;
      verdict.d = other.d;
      verdict.killed = other.killed;
    }
    return verdict;
  }

  void search(MutationAnalysis& result, std::size_t site, TestSet set) {
    const auto test = [&](double value, std::optional<double> reference) {
      const std::size_t index = mutant_index(result, site, shortest(value));
      std::optional<std::vector<double>> survivors;
      if (reference) {
        const auto& [hash, program] = hash_of(site, *reference);
        if (program) survivors = values(hash, set, run_count());
      }
      const evaluators::KillVerdict v =
          verdict(result, index, set, survivors ? &*survivors : nullptr);
      result.mutants[index].verdicts[set] = v;
      return v;
    };
    try {
      result.sites[site].searches[set] =
          evaluators::bisect(*sites_[site].range, options_.variant, test);
    } catch (const Missing&) {
    }
  }
  std::pair<Hash, bool> hash_of(std::size_t site, double value) const {
    const Made& made = programs_.at({site, shortest(value)});
    return {made.hash, made.program && !made.refusal};
  }

  /// As far as the runs reach; asks for the others.
  MutationAnalysis evaluate() {
    MutationAnalysis result;
    result.original = original_values_;
    result.sites.resize(sites_.size());
    index_.clear();
    first_with_.clear();
    for (std::size_t site = 0; site < sites_.size(); ++site) {
      for (const std::string& value : sites_[site].values) mutant_index(result, site, value);
      for (const TestSet set : options_.sets) {
        if (sites_[site].range) {
          search(result, site, set);
          continue;
        }
        for (const std::size_t index : std::vector(result.sites[site].mutants)) {
          try {
            result.mutants[index].verdicts[set] = verdict(result, index, set);
          } catch (const Missing&) {
          }
        }
      }
    }
    return result;
  }

  void finish(MutationAnalysis& result) {
    std::set<Hash> trained;
    for (AnalysedMutant& mutant : result.mutants) {
      if (!mutant.program || mutant.status == training::RunStatus::kInvalid) continue;
      const Made& made = programs_.at({mutant.site, mutant.value});
      if (made.hash == original_hash_) continue;
      for (int run = 0; run < mutant.runs; ++run) {
        const MutantRun& r = *find(made.hash, run);
        mutant.seconds += r.seconds;
        if (r.status > mutant.status) {
          mutant.status = r.status;
          mutant.reason = r.message;
        }
      }
      const std::size_t counted = static_cast<std::size_t>(mutant.runs);
      if (trained.insert(made.hash).second) {
        result.trainings += counted;
        result.saved += run_count() - counted;
      } else {
        result.saved += run_count();
      }
    }
    result.trainings += run_count();
    add_inputs(result);
    add_scores(sites_, options_.sets, options_.variant, result);
  }

  void add_inputs(MutationAnalysis& result) {
    std::vector<std::size_t> killed;
    std::vector<evaluators::KillCounts> counts;
    for (std::size_t i = 0; i < result.mutants.size(); ++i) {
      AnalysedMutant& mutant = result.mutants[i];
      if (!mutant.program || mutant.status == training::RunStatus::kInvalid || mutant.runs == 0) {
        continue;
      }
      const Made& made = programs_.at({mutant.site, mutant.value});
      std::vector<std::vector<bool>> ours, theirs;
      for (int run = 0; run < mutant.runs; ++run) {
        ours.push_back(find(original_hash_, run)->right);
        theirs.push_back(find(made.hash, run)->right);
        if (theirs.back().empty() || ours.back().size() != theirs.back().size()) break;
      }
      if (ours.size() < static_cast<std::size_t>(mutant.runs) || theirs.back().empty()) continue;
      evaluators::KillCounts own = evaluators::kill_counts(ours, theirs);
      mutant.triviality = triviality(own);
      const bool is_killed = std::any_of(mutant.verdicts.begin(), mutant.verdicts.end(),
                                         [](const auto& verdict) { return verdict.second.killed; });
      if (!is_killed || !mutant.same_as.empty()) continue;
      killed.push_back(i);
      counts.push_back(std::move(own));
    }
    const bool whole =
        std::all_of(counts.begin(), counts.end(),
                    [&](const evaluators::KillCounts& c) { return c.runs == run_count(); });
    if (!whole) return;
    const std::vector<bool> verdicts = redundant(counts);
    for (std::size_t k = 0; k < killed.size(); ++k) {
      result.mutants[killed[k]].redundant = verdicts[k];
    }
  }
  struct Made {
    std::optional<program::Program> program;
    Hash hash;
    std::optional<std::string> refusal;
    std::string reason;
  };

  const program::Program& original_;
  const Hash original_hash_;
  const std::vector<OperatorSite>& sites_;
  const MutationOptions& options_;
  MutantTrainer& trainer_;
  MutantRuns& runs_;
  const bool maximize_;
  bool early_ = false;
  std::map<TestSet, std::vector<double>> original_values_;
  std::vector<std::size_t> weak_;
  std::map<Hash, const program::Program*> wanted_;
  std::map<std::pair<std::size_t, std::string>, Made> programs_;
  std::map<std::pair<std::size_t, std::string>, std::size_t> index_;
  std::map<Hash, std::size_t> first_with_;
  std::set<Hash> skewed_;
  struct Settled {
    std::size_t count = 0;  ///< first runs that were looked at
    bool settles = false;   ///< do they settle all verdicts?
  };
  std::map<Hash, Settled> settled_;
  Tally tally_;
};

}  // namespace

MutationAnalysis analyse_mutants(const program::Program& original,
                                 const std::vector<OperatorSite>& sites,
                                 const MutationOptions& options, MutantTrainer& trainer,
                                 MutantRuns& runs,
                                 const std::function<void(const Tally&)>& progress) {
  if (const auto reason = trainer.refusal(original)) {
    throw input_error("the original can't be trained: " + *reason);
  }
  return Analyst(original, sites, options, trainer, runs).analyse(progress);
}

}  // namespace neutra::experiments
