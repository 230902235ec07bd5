#include "experiments/mutation_analysis/analysis.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iostream>
#include <limits>
#include <mutex>
#include <numeric>
#include <set>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/files.h"
#include "base/numbers.h"
#include "evaluators/statistics.h"
#include "program/metric_name.h"
#include "search/store.h"
#include "training/metrics.h"

namespace neutra::experiments {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
const std::vector<TestSet> kSets{TestSet::kTrain, TestSet::kTest, TestSet::kWeak};

std::string bits_text(const std::vector<bool>& bits) {
  std::string text(bits.size(), '0');
  for (std::size_t i = 0; i < bits.size(); ++i) text[i] = bits[i] ? '1' : '0';
  return text;
}

/// Makes a field of a section what it is in another document: absent where it is absent there.
void take_over(const Json& from, Json& to, const char* section, const char* field) {
  const Json* source = member(from, section);
  if (const Json* value = source != nullptr ? member(*source, field) : nullptr) {
    to[section][field] = *value;
  } else if (const auto own = to.find(section); own != to.end() && own->is_object()) {
    own->erase(field);
  }
}

/// Does the mutant prepare test rows with a step that training rows go without, other than the
/// original?
bool is_skewed(const Json& original, const Json& step) {
  const Json* part = member(step, "part");
  if (part == nullptr || *part != "test") return false;
  const Json* own = member(original.at("data"), "preprocess");
  return own == nullptr || std::find(own->begin(), own->end(), step) == own->end();
}
bool is_skewed(const program::Program& original, const program::Program& mutant) {
  const Json* steps = member(mutant.document.at("data"), "preprocess");
  return steps != nullptr && std::any_of(steps->begin(), steps->end(), [&](const Json& step) {
           return is_skewed(original.document, step);
         });
}
/// Its steps with such ones done to the training rows, too, which are asked about as test rows are.
/// Right behind the step itself: so both take its statistics from the same rows.
Json without_skew(const Json& original, const Json& steps) {
  Json all = Json::array();
  for (const Json& step : steps) {
    all.push_back(step);
    if (!is_skewed(original, step)) continue;
    all.push_back(step);
    all.back()["part"] = "train";
  }
  return all;
}

// --- training ---

class LocalMutantTrainer final : public MutantTrainer {
 public:
  LocalMutantTrainer(const program::Program& original, training::LocalTrainer& trainer,
                     std::uint64_t seed, const training::TrainingJob& limits)
      : original_(original), trainer_(trainer), limits_(limits) {
    limits_.seed = seed;
    limits_.stream = training::StreamKey::kIndependent;
    resolved_ = trainer.resolved(original);
    if (resolved_.metric == "loss") {
      throw input_error("metric: found loss; allowed: a metric that rows can be asked for");
    }
  }

  MutantRun run(const program::Program& program, int run) override {
    training::TrainingJob job = limits_;
    job.program = &program;
    job.replica = run;
    const training::TrainedModel model = trainer_.train_model(job);
    const training::ReplicaResult& trained = model.training;
    MutantRun result;
    result.status = trained.status;
    result.message = trained.message;
    result.seconds = trained.seconds;
    result.metrics = {{TestSet::kTrain, kNaN}, {TestSet::kTest, trained.metric}};
    if (!training::has_metric(trained.status)) return result;
    // What a mutant does to its training rows is no part of the question.
    program::Program asked = model.program;
    Json& data = asked.document["data"];
    data.erase("mutations");
    if (is_skewed(original_, asked)) {
      data["preprocess"] = without_skew(original_.document, data["preprocess"]);
    }
    take_over(original_.document, asked.document, "data", "validation");
    take_over(original_.document, asked.document, "fit", "validation_split");
    if (program::parse_metric_name(resolved_.metric).original_scale) {
      result.metrics[TestSet::kTrain] =
          trainer_.evaluate(asked, training::DataPart::kTraining, model.weights).metric;
    } else {
      training::Metric metric(resolved_.metric);
      ask_for_training_rows(asked, model, metric);
      result.metrics[TestSet::kTrain] = metric.value();
    }
    if (training::is_accuracy(resolved_.metric)) judge_test_rows(model, result);
    return result;
  }

  std::optional<std::string> refusal(const program::Program& program) override {
    return trainer_.refusal(program);
  }

 private:
  static training::Batch rows_of(std::span<const float> outputs, std::int64_t count) {
    return {outputs, {count, static_cast<std::int64_t>(outputs.size()) / count}};
  }
  static training::Batch targets_of(const training::DataRows& rows, std::int64_t begin,
                                    std::int64_t count) {
    const auto width =
        static_cast<std::int64_t>(rows.targets.size()) / std::max<std::int64_t>(rows.count, 1);
    training::Batch target{rows.targets.subspan(static_cast<std::size_t>(begin * width),
                                                static_cast<std::size_t>(count * width)),
                           rows.target};
    if (target.extents.empty()) target.extents = {1};
    target.extents.insert(target.extents.begin(), count);
    return target;
  }

  void ask_for_training_rows(const program::Program& program, const training::TrainedModel& model,
                             training::Metric& metric) {
    const training::DataRows rows = trainer_.rows(program, training::DataPart::kTraining);
    const std::unique_ptr<training::Predictor> predictor =
        trainer_.predictor(program, training::DataPart::kTraining, model.key);
    predictor->weights().assign(model.weights);
    for (std::int64_t begin = 0; begin < rows.count; begin += predictor->max_rows()) {
      const std::int64_t count = std::min(predictor->max_rows(), rows.count - begin);
      metric.add(rows_of(predictor->outputs(begin, count), count), targets_of(rows, begin, count));
    }
  }

  void judge_test_rows(const training::TrainedModel& model, MutantRun& result) {
    const training::DataRows rows = trainer_.rows(model.program, training::DataPart::kHoldout);
    const std::size_t width = model.outputs.size() / static_cast<std::size_t>(rows.count);
    for (std::int64_t i = 0; i < rows.count; ++i) {
      const auto output =
          std::span(model.outputs).subspan(static_cast<std::size_t>(i) * width, width);
      training::Metric right("accuracy");
      right.add(rows_of(output, 1), targets_of(rows, i, 1));
      result.right.push_back(right.value() == 1);
      const float p = output[training::argmax(output)];
      result.certainty.push_back(width == 1 ? std::max(p, 1 - p) : p);
    }
  }

  const program::Program& original_;
  training::LocalTrainer& trainer_;
  training::TrainingJob limits_;
  program::ResolvedProgram resolved_;
};

// --- analysis ---

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
    add_scores(result);
  }

  void add_inputs(MutationAnalysis& result) {
    std::vector<std::size_t> killed;
    std::vector<evaluators::KillCounts> counts;
    for (std::size_t i = 0; i < result.mutants.size(); ++i) {
      AnalysedMutant& mutant = result.mutants[i];
      if (!mutant.program || mutant.status == training::RunStatus::kInvalid || mutant.runs == 0)
        continue;
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
    for (std::size_t k = 0; k < killed.size(); ++k)
      result.mutants[killed[k]].redundant = verdicts[k];
  }

  void add_scores(MutationAnalysis& result) {
    for (std::size_t site = 0; site < sites_.size(); ++site) {
      auto it = std::find_if(result.operators.begin(), result.operators.end(),
                             [&](const OperatorResult& o) { return o.op == sites_[site].op; });
      if (it == result.operators.end()) {
        it = result.operators.insert(it, {sites_[site].op, sites_[site].abbreviation, {}, {}});
      }
      it->sites.push_back(site);
    }
    const auto has = [&](TestSet set) {
      return std::find(options_.sets.begin(), options_.sets.end(), set) != options_.sets.end();
    };
    if (!has(TestSet::kTrain)) return;
    for (const TestSet set : {TestSet::kTest, TestSet::kWeak}) {
      if (!has(set)) continue;
      std::vector<evaluators::OperatorScore> all;
      for (OperatorResult& o : result.operators) {
        o.scores[set] = score(result, o, set);
        all.push_back(o.scores[set]);
      }
      result.scores[set] = evaluators::mutation_score(all);
    }
  }

  evaluators::OperatorScore score(const MutationAnalysis& result, const OperatorResult& o,
                                  TestSet set) const {
    // Places with a range each have a score; configurations of all places are one list.
    evaluators::OperatorScore sum;
    int ranges = 0;
    std::vector<evaluators::ConfigurationVerdict> list;
    bool lists = false;
    for (const std::size_t site : o.sites) {
      const SiteResult& found = result.sites[site];
      if (sites_[site].range) {
        const evaluators::OperatorScore own =
            evaluators::range_score(*sites_[site].range, options_.variant,
                                    found.searches.at(TestSet::kTrain), found.searches.at(set));
        if (!own.score) continue;
        sum.score = sum.score.value_or(0) + *own.score;
        sum.instability = std::max(sum.instability, own.instability);
        ++ranges;
        continue;
      }
      lists = true;
      for (const std::size_t index : found.mutants) {
        const AnalysedMutant& mutant = result.mutants[index];
        if (!mutant.program || mutant.status == training::RunStatus::kInvalid) continue;
        list.push_back({mutant.verdicts.at(TestSet::kTrain), mutant.verdicts.at(set)});
      }
    }
    if (lists) return evaluators::list_score(list, options_.variant);
    if (ranges > 0) sum.score = *sum.score / ranges;
    return sum;
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

std::string_view to_string(TestSet set) {
  switch (set) {
    case TestSet::kTrain:
      return "train";
    case TestSet::kTest:
      return "test";
    case TestSet::kWeak:
      return "weak";
  }
  return "";
}

std::optional<TestSet> parse_test_set(std::string_view word) {
  for (const TestSet set : kSets) {
    if (word == to_string(set)) return set;
  }
  return std::nullopt;
}

Json to_json(const MutantRun& run) {
  Json metrics = Json::object();
  for (const auto& [set, value] : run.metrics) {
    metrics[std::string(to_string(set))] = exact_number(value);
  }
  Json json = {{"status", to_string(run.status)}, {"metrics", metrics}, {"seconds", run.seconds}};
  if (run.version != kMutantRunVersion) json["version"] = run.version;
  if (!run.message.empty()) json["message"] = run.message;
  if (!run.right.empty()) json["right"] = bits_text(run.right);
  if (!run.certainty.empty()) json["certainty"] = run.certainty;
  return json;
}

MutantRun mutant_run_from_json(const Json& json) {
  MutantRun run;
  const auto status = training::parse_run_status(json.at("status").get<std::string>());
  if (!status) throw input_error("no status");
  run.status = *status;
  for (const auto& [name, value] : json.at("metrics").items()) {
    const auto set = parse_test_set(name);
    if (!set) throw input_error("no test set");
    run.metrics[*set] = exact_number(value);
  }
  run.version = json.value("version", kMutantRunVersion);
  run.seconds = json.at("seconds");
  run.message = json.value("message", "");
  for (const char c : json.value("right", "")) run.right.push_back(c == '1');
  if (json.contains("certainty")) run.certainty = json.at("certainty").get<std::vector<float>>();
  return run;
}

std::unique_ptr<MutantTrainer> make_mutant_trainer(const program::Program& original,
                                                   training::LocalTrainer& trainer,
                                                   std::uint64_t seed,
                                                   const training::TrainingJob& limits) {
  return std::make_unique<LocalMutantTrainer>(original, trainer, seed, limits);
}

std::string AnalysedMutant::id() const {
  return std::to_string(site) + ":" + op + (value.empty() ? "" : "=" + value);
}

// --- kept runs ---

struct MutantRuns::File {
  File(const std::filesystem::path& file, const std::string& command)
      : lock(file.string() + ".lock", command) {}
  search::StoreLock lock;
  std::unique_ptr<Journal> journal;
};

namespace {

constexpr const char* kFormat = "neutra-mutant-runs";

/// What the first record of a file says; an empty object where it is damaged and runs are left.
/// Throws input_error for any other journal.
Json header_of(const JournalContent& journal, const std::string& file) {
  if (journal.records.empty()) {
    throw input_error(describe(file, "", "a journal without a whole record",
                               "a file of mutant runs, or none yet"));
  }
  const Json& first = journal.records.front().payload;
  if (first.value("type", "") == "run" && first.contains("program")) return Json::object();
  const Json* header = member(first, "header");
  const Json* format = header != nullptr ? member(*header, "format") : nullptr;
  if (format == nullptr || *format != kFormat) {
    throw input_error(describe(file, "", kind_of_file(file), "a file of mutant runs"));
  }
  return *header;
}

void check_same_analysis(const Json& stored, const Json& wanted, const std::string& file) {
  for (const auto& [name, value] : wanted.items()) {
    const Json own = stored.contains(name) ? stored[name] : Json();
    const bool older = name == "version" && own.is_number_integer() && own >= 1 && own < value;
    if (own == value || older) continue;
    throw input_error(describe(file, name, value.dump() + " now, " + own.dump() + " in the file",
                               "the same, another file, or --fresh"));
  }
}

}  // namespace

MutantRuns::MutantRuns(const std::filesystem::path& file, const Json& header, bool fresh,
                       const std::string& command)
    : file_(std::make_unique<File>(file, command)), analysis_(digest(header.dump())) {
  std::vector<Json> records{{{"type", "header"}, {"header", header}}};
  if (std::error_code error; std::filesystem::exists(file, error)) {
    const std::string bytes = read_regular_file(file, "a file of mutant runs");
    if (!bytes.empty()) {
      JournalContent journal = parse_journal(bytes);
      if (!may_be_journal(bytes, journal)) {
        throw input_error(
            describe(file.string(), "", kind_of_file(file), "a file of mutant runs, or none yet"));
      }
      const Json stored = header_of(journal, file.string());
      if (!fresh) read(std::move(journal), stored, header, file.string(), records);
    }
  }
  file_->journal = std::make_unique<Journal>(file, records, nullptr);
}

void MutantRuns::read(JournalContent journal, const Json& stored, const Json& header,
                      const std::string& file, std::vector<Json>& records) {
  // Runs say what they are of, for the case that the header is lost.
  const bool headless = stored.empty();
  if (!headless) check_same_analysis(stored, header, file);
  const int version = stored.value("version", kMutantRunVersion);
  for (auto& [offset, payload] : journal.records) {
    if (payload.value("type", "") != "run") continue;
    if (headless && payload.value("analysis", "") != analysis_) {
      throw input_error(
          describe(file, "", "a damaged header, and runs that aren't known to be of this analysis",
                   "a whole header, another file, or --fresh"));
    }
    MutantRun run;
    try {
      const auto hash = parse_hash(payload.at("program").get<std::string>());
      if (!hash) throw input_error("no hash");
      run = mutant_run_from_json(payload);
      if (!payload.contains("version")) run.version = version;
      runs_[{*hash, payload.at("run").get<int>()}] = run;
    } catch (const std::exception&) {
      journal.damage.add(offset, journal_frame(payload).size());  // whole, but says nothing
      continue;
    }
    payload["analysis"] = analysis_;
    if (run.version != kMutantRunVersion) payload["version"] = run.version;
    records.push_back(std::move(payload));
  }
  if (journal.damage.bytes > 0) {
    std::cerr << "warning: " << file << ": " << to_string(journal.damage)
              << " left out; the runs in them are made again\n";
  }
}

MutantRuns::MutantRuns() = default;
MutantRuns::~MutantRuns() = default;

const MutantRun* MutantRuns::find(const Hash& program, int run) const {
  const auto it = runs_.find({program, run});
  return it == runs_.end() ? nullptr : &it->second;
}

void MutantRuns::add(const Hash& program, int run, MutantRun result) {
  if (file_) {
    Json record = {
        {"type", "run"}, {"analysis", analysis_}, {"program", to_string(program)}, {"run", run}};
    record.update(to_json(result));
    file_->journal->append(record);
  }
  runs_[{program, run}] = std::move(result);
}

Json mutant_runs_header(const program::Program& original, training::LocalTrainer& trainer,
                        std::uint64_t seed, const training::TrainingJob& limits) {
  return {{"format", kFormat},
          {"version", kMutantRunVersion},
          {"original", to_string(program::program_hash(original))},
          {"seed", seed},
          {"time_limit", limits.time_limit},
          {"memory_limit", limits.memory_limit},
          {"trainer", trainer.fingerprint(original)}};
}

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
