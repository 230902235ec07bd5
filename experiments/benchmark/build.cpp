#include "experiments/benchmark/build.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <span>
#include <tuple>

#include "base/error.h"
#include "base/files.h"
#include "base/numbers.h"
#include "base/words.h"
#include "evaluators/statistics.h"
#include "evaluators/symptoms.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/fault_kinds.h"
#include "experiments/benchmark/relations.h"
#include "experiments/mutation_analysis/analysis.h"
#include "experiments/mutation_analysis/task.h"
#include "experiments/scoring_metric.h"
#include "experiments/search_task.h"
#include "mutators/registry.h"
#include "program/patch.h"
#include "training/data/data_places.h"
#include "training/monitor.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

/// Enough for a symptom to be held against several correct trainings (docs/methods/monitors.md).
constexpr int kMonitoredRuns = 5;

/// Positions of `wanted` of `count` things in a row: the first, the last, evenly between them.
std::vector<std::size_t> spread(std::size_t count, std::size_t wanted) {
  std::vector<std::size_t> positions;
  wanted = std::min(count, wanted);
  for (std::size_t i = 0; i < wanted; ++i) {
    positions.push_back(wanted == 1 ? 0 : i * (count - 1) / (wanted - 1));
  }
  return positions;
}

/// The entries of one subject.
class SubjectBuilder {
 public:
  SubjectBuilder(const BenchmarkPlan& plan, const PlannedSubject& planned,
                 const BenchmarkBuild& build)
      : plan_(plan),
        planned_(planned),
        build_(build),
        program_(scored_by_name(planned.subject.space.base())) {}

  /// `made`: how many entries operators have already, brought up to date.
  void build(Benchmark& benchmark, std::map<std::string, int>& made) {
    const auto trainer = build_.trainer(planned_.subject.file);
    if (const auto reason = trainer->refusal(program_)) {
      throw input_error(describe(planned_.subject.file.string(), "", *reason, ""));
    }
    BenchmarkSubject subject = describe_subject(*trainer, benchmark.data);
    const Candidates candidates =
        planned_.faults.empty() ? of_operators(benchmark, subject, made) : of_catalogue(subject);
    training::TrainingJob limits;
    limits.stop = build_.stop;
    const auto mutant_trainer = make_mutant_trainer(program_, *trainer, plan_.seed, limits);
    std::optional<MutantRuns> runs;
    if (build_.runs.empty()) {
      runs.emplace();
    } else {
      runs.emplace(build_.runs / runs_file(subject.id),
                   mutant_runs_header(program_, *trainer, plan_.seed, limits), build_.fresh,
                   build_.command);
    }
    MutationOptions options;
    options.runs = planned_.runs;
    options.sets = {TestSet::kTest};
    options.early = false;  // an entry's test is all of its runs
    options.workers = build_.workers;
    options.stop = build_.stop;
    const MutationAnalysis analysis = analyse_mutants(program_, candidates.sites, options,
                                                      *mutant_trainer, *runs, build_.progress);
    subject.metrics = analysis.original.at(TestSet::kTest);
    const std::size_t first = benchmark.entries.size();
    select(benchmark, subject, candidates, analysis, *runs, made);
    add_symptoms(std::span(benchmark.entries).subspan(first), *trainer);
    benchmark.subjects.push_back(std::move(subject));
  }

 private:
  /// What is mutated, and what makes the mutant of a site with a value.
  struct Candidates {
    std::vector<OperatorSite> sites;
    std::function<std::vector<mutators::Application>(std::size_t site, const std::string& value)>
        applied;
  };

  /// Every operator that may still give entries, at each of its places.
  Candidates of_operators(Benchmark& benchmark, const BenchmarkSubject& subject,
                          std::map<std::string, int>& made) const {
    std::vector<const mutators::MutationOperator*> operators;
    for (const mutators::MutationOperator* op : planned_.operators) {
      if (room_for(made[std::string(op->id)]) > 0) operators.push_back(op);
    }
    MutationTask task =
        mutation_task(operators, mutators::make_target(program_, &subject.rows), {}, plan_.seed);
    for (const LeftOutOperator& left : task.left_out) {
      // An operator is left out at a layer, too, where it has no value for it.
      if (std::none_of(task.places.begin(), task.places.end(),
                       [&](const auto& place) { return place.op == left.op; })) {
        note(benchmark, std::string(left.op->id), false, left.reason);
      }
    }
    std::vector<OperatorSite> sites = std::move(task.sites);
    return {std::move(sites), [task = std::move(task)](std::size_t site, const std::string& value) {
              return std::vector{task.application(site, value)};
            }};
  }

  /// A site for each fault of the catalogue, whose id stands for the operator's.
  Candidates of_catalogue(const BenchmarkSubject& subject) const {
    Candidates candidates;
    std::vector<std::vector<mutators::Application>> applications;
    for (const CatalogueFault& fault : planned_.faults) {
      std::vector<mutators::Application> own = fault.applications;
      for (mutators::Application& application : own) {
        if (mutators::find_mutation_operator(application.op).random) application.seed = plan_.seed;
      }
      OperatorSite site;
      site.op = site.abbreviation = fault.id;
      site.values = {""};
      site.make = [this, own, rows = subject.rows](const std::string&) {
        return mutators::apply_all(program_, own, &rows).program;
      };
      candidates.sites.push_back(std::move(site));
      applications.push_back(std::move(own));
    }
    candidates.applied = [applications = std::move(applications)](
                             std::size_t site, const std::string&) { return applications[site]; };
    return candidates;
  }

  std::size_t room_for(int made) const {
    const int left = plan_.per_kind == 0 ? planned_.per_operator : plan_.per_kind - made;
    return static_cast<std::size_t>(std::clamp(left, 0, planned_.per_operator));
  }

  void note(Benchmark& benchmark, const std::string& fault, bool applies,
            const std::string& reason) const {
    NoEntry none{planned_.subject.id, fault, "", applies, reason};
    if (!planned_.faults.empty()) std::swap(none.op, none.catalogue);
    benchmark.without.push_back(std::move(none));
  }

  BenchmarkSubject describe_subject(training::LocalTrainer& trainer,
                                    std::map<std::string, std::string>& included) const {
    const Subject& own = planned_.subject;
    const MetricInfo metric = metric_of(program_, own.file.string());
    BenchmarkSubject subject;
    subject.id = own.id;
    subject.title = own.title;
    subject.source = own.source;
    subject.licence = own.licence;
    subject.program = program_;
    const auto data = trainer.dataset(program_);
    subject.rows = data->info();
    subject.data = to_string(digest(*data));
    // The fingerprint ends in the digest of the data, which is no part of the trainer.
    const std::string fingerprint = trainer.fingerprint(program_);
    subject.trainer = fingerprint.substr(0, fingerprint.rfind(", data "));
    subject.metric = metric.name;
    subject.goal = metric.goal;
    std::set<std::string> seen;
    for (const auto& [name, path] :
         training::data_files(program_.document.at("data"), build_.data_path(own.file))) {
      if (!seen.insert(name).second) continue;
      if (!is_file_name(name)) {
        throw input_error(describe(own.file.string(), "/data/arguments", name,
                                   "a relative name: a benchmark goes to other machines"));
      }
      BenchmarkData file{name, fs::file_size(path), file_digest(path), false};
      if (file.bytes <= plan_.data_limit) {
        file.included = true;
        const std::string bytes = read_regular_file(path, "a data file");
        const auto [it, is_new] = included.emplace(name, bytes);
        if (!is_new && it->second != bytes) {
          throw input_error(describe(own.file.string(), "/data/arguments",
                                     name + ", which another subject has with other content",
                                     "one content for each name"));
        }
      }
      subject.files.push_back(std::move(file));
    }
    return subject;
  }

  /// What a mutant is to a benchmark.
  enum class Class {
    kShows,      ///< killed with a large enough effect
    kTooWeak,    ///< killed
    kSurvives,   ///< not told from the correct program
    kSame,       ///< the correct program itself
    kNoVerdict,  ///< a run was cut off
    kRefused     ///< not applicable, or Keras would refuse it
  };
  Class classify(const AnalysedMutant& mutant) const {
    if (!mutant.program || mutant.status == training::RunStatus::kInvalid) return Class::kRefused;
    if (mutant.same_as == "original") return Class::kSame;
    const auto verdict = mutant.verdicts.find(TestSet::kTest);
    if (verdict == mutant.verdicts.end() || verdict->second.missing) return Class::kNoVerdict;
    if (!verdict->second.killed) return Class::kSurvives;
    return std::abs(verdict->second.d) < plan_.effect ? Class::kTooWeak : Class::kShows;
  }

  /// A mutant that may become an entry.
  struct Found {
    const AnalysedMutant* mutant = nullptr;
    Hash hash;
    double drop = 0;  ///< of the metric, for the worse; infinite where a run diverged
    std::size_t diverged = 0;
  };

  void select(Benchmark& benchmark, const BenchmarkSubject& subject, const Candidates& candidates,
              const MutationAnalysis& analysis, const MutantRuns& runs,
              std::map<std::string, int>& made) const {
    const double fixed_mean = evaluators::mean(subject.metrics);
    std::set<Hash> taken{program::program_hash(program_)};
    for (const OperatorResult& result : analysis.operators) {
      std::vector<Found> found;
      std::vector<const AnalysedMutant*> others;
      std::set<Hash> own = taken;
      bool twin = false;
      for (const std::size_t site : result.sites) {
        for (const std::size_t index : analysis.sites[site].mutants) {
          const AnalysedMutant& mutant = analysis.mutants[index];
          if (classify(mutant) != Class::kShows) {
            others.push_back(&mutant);
          } else if (const Hash hash = program::program_hash(*mutant.program);
                     own.insert(hash).second) {
            const std::size_t diverged = mutant.diverged.at(TestSet::kTest);
            found.push_back({&mutant, hash,
                             diverged > 0 ? std::numeric_limits<double>::infinity()
                                          : std::abs(mutant.means.at(TestSet::kTest) - fixed_mean),
                             diverged});
          } else {
            twin = true;
          }
        }
      }
      std::stable_sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
        return std::tie(a.drop, a.diverged) < std::tie(b.drop, b.diverged);
      });
      if (found.empty()) {
        note(benchmark, result.op, true,
             twin ? "what it makes is an entry of another fault" : why_none(others));
        continue;
      }
      int& count = made[result.op];
      for (const std::size_t position : spread(found.size(), room_for(count))) {
        const Found& one = found[position];
        taken.insert(one.hash);
        ++count;
        benchmark.entries.push_back(
            entry_of(subject, candidates.applied(one.mutant->site, one.mutant->value), one, runs));
        if (!planned_.faults.empty()) benchmark.entries.back().catalogue = result.op;
      }
    }
  }

  /// "4 mutants: 3 not told from the correct program (largest effect 0.4), 1 refused (...)"
  std::string why_none(const std::vector<const AnalysedMutant*>& mutants) const {
    std::map<Class, std::size_t> counts;
    std::map<Class, double> largest;  // harm: effects for the worse
    std::string reason, cut_off;
    const bool maximize = program::resolve(program_).goal == program::Goal::kMaximize;
    for (const AnalysedMutant* mutant : mutants) {
      const Class is = classify(*mutant);
      ++counts[is];
      if (is == Class::kRefused) reason = mutant->reason;
      if (is == Class::kNoVerdict) cut_off = to_string(mutant->status);
      if (is != Class::kSurvives && is != Class::kTooWeak) continue;
      const double d = mutant->verdicts.at(TestSet::kTest).d;
      largest[is] = std::max(largest[is], maximize ? d : -d);
    }
    const auto rounded = [](double value) { return shortest(python_round(value, 2)); };
    std::vector<std::string> parts;
    const auto add = [&](Class is, const std::string& what) {
      if (counts[is] > 0) parts.push_back(std::to_string(counts[is]) + " " + what);
    };
    add(Class::kTooWeak, "too weak (largest effect " + rounded(largest[Class::kTooWeak]) +
                             ", entries need " + rounded(plan_.effect) + ")");
    add(Class::kSurvives, "not told from the correct program (largest effect " +
                              rounded(largest[Class::kSurvives]) + ")");
    add(Class::kSame, "the correct program itself");
    add(Class::kNoVerdict, "without a verdict (" + cut_off + ")");
    add(Class::kRefused, "refused (" + reason + ")");
    return std::to_string(mutants.size()) + (mutants.size() == 1 ? " mutant: " : " mutants: ") +
           join(parts);
  }

  BenchmarkEntry entry_of(const BenchmarkSubject& subject,
                          const std::vector<mutators::Application>& applications,
                          const Found& found, const MutantRuns& runs) const {
    const AnalysedMutant& mutant = *found.mutant;
    const mutators::Mutant made = mutators::apply_all(program_, applications, &subject.rows);
    BenchmarkEntry entry;
    entry.name = made.name();
    entry.subject = subject.id;
    entry.applications = applications;
    entry.place = place_of(program_, applications, &subject.rows);
    entry.faults = made.faults;
    entry.change = program::json_patch(program_.document, made.program.document);
    entry.buggy = found.hash;
    entry.fixed = program::program_hash(program_);
    int diverged = 0;
    for (int run = 0; run < mutant.runs; ++run) {
      const MutantRun& r = *runs.find(found.hash, run);
      entry.metrics.push_back(r.metrics.at(TestSet::kTest));
      diverged += r.status == training::RunStatus::kDiverged;
    }
    entry.verdict = mutant.verdicts.at(TestSet::kTest);
    // Without a finite metric there is no size of a drop.
    if (found.diverged == 0) entry.symptoms.push_back({"metric_drop", found.drop});
    if (diverged > 0) {
      entry.symptoms.push_back({"divergence", static_cast<double>(diverged) / mutant.runs});
    }
    entry.triviality = mutant.triviality;
    const FaultKind kind = fault_kind(entry);
    entry.category = kind.category;
    entry.bug_type = kind.bug_type;
    return entry;
  }

  /// The symptoms of the training that the first runs of each entry show, held against those of the
  /// correct program: with the share of the runs, where more of them have it than correct ones.
  void add_symptoms(std::span<BenchmarkEntry> entries, training::LocalTrainer& trainer) const {
    const auto runs = static_cast<std::size_t>(std::min(planned_.runs, kMonitoredRuns));
    std::vector<program::Program> programs{program_};
    for (const BenchmarkEntry& entry : entries) {
      programs.push_back({program::with_patch(program_.document, entry.change, entry.name)});
    }
    if (entries.empty()) return;
    std::vector<std::vector<evaluators::MonitoredRun>> monitored(
        programs.size(), std::vector<evaluators::MonitoredRun>(runs));
    run_all(programs.size() * runs, build_.workers, build_.stop, [&](std::size_t i) {
      const program::Program& program = programs[i / runs];
      training::TrainingJob job;
      job.program = &program;
      job.seed = plan_.seed;
      job.replica = static_cast<int>(i % runs);
      job.stream = training::StreamKey::kIndependent;
      job.stop = build_.stop;
      training::TrainingMonitor monitor(trainer.resolved(program));
      const training::ReplicaResult trained = trainer.train(job, &monitor);
      monitored[i / runs][i % runs] = monitor.run(job, trained);
    });
    const auto correct = evaluators::find_all_symptoms(monitored[0], monitored[0]);
    for (std::size_t i = 0; i < entries.size(); ++i) {
      const auto faulty = evaluators::find_all_symptoms(monitored[i + 1], monitored[0]);
      for (const evaluators::SymptomCount& count : evaluators::count_symptoms(faulty, correct)) {
        if (count.faulty <= count.clean) continue;
        entries[i].symptoms.push_back(
            {count.rule->id, static_cast<double>(count.faulty) / static_cast<double>(runs)});
      }
    }
  }

  const BenchmarkPlan& plan_;
  const PlannedSubject& planned_;
  const BenchmarkBuild& build_;
  const program::Program
      program_;  ///< the subject's, scored by its own loss where that is its metric
};

/// Faults that were there keep their ids, those that did not come up again are deprecated.
void number(Benchmark& benchmark, const Benchmark* earlier) {
  std::vector<BenchmarkEntry> entries;
  std::map<std::pair<std::string, Hash>, std::size_t> known;
  if (earlier != nullptr) {
    for (const BenchmarkEntry& entry : earlier->entries) {
      known[{entry.subject, entry.buggy}] = entries.size();
      entries.push_back(entry);
      entries.back().deprecated = true;
    }
  }
  for (BenchmarkEntry& entry : benchmark.entries) {
    const auto old = known.find({entry.subject, entry.buggy});
    if (old == known.end()) {
      entry.id = static_cast<int>(entries.size()) + 1;
      entries.push_back(std::move(entry));
    } else {
      BenchmarkEntry& place = entries[old->second];
      entry.id = place.id;
      entry.alternatives = place.alternatives;
      place = std::move(entry);
    }
  }
  benchmark.entries = std::move(entries);
  count_support(benchmark.entries);
}

/// Subjects of deprecated entries stay, with their data. A subject never changes: its entries would
/// be other faults.
void keep_subjects(Benchmark& benchmark, const Benchmark& earlier) {
  for (const BenchmarkSubject& old : earlier.subjects) {
    const auto now = std::find_if(benchmark.subjects.begin(), benchmark.subjects.end(),
                                  [&](const auto& s) { return s.id == old.id; });
    if (now == benchmark.subjects.end()) {
      benchmark.subjects.push_back(old);
      for (const BenchmarkData& file : old.files) {
        const auto bytes = earlier.data.find(file.name);
        if (bytes == earlier.data.end()) continue;
        const auto [it, is_new] = benchmark.data.insert(*bytes);
        if (it->second != bytes->second) {
          throw input_error(describe(benchmark.name, file.name, "another content than before",
                                     "one content for each name of a data file"));
        }
      }
    } else if (program::program_hash(now->program) != program::program_hash(old.program) ||
               now->data != old.data) {
      throw input_error(describe(benchmark.name, old.id,
                                 "another program or other data than the benchmark has",
                                 "the same, another id for the subject, or a new benchmark"));
    }
  }
}

/// Did it start from the entry's faulty program, and look for what is as good as the correct one?
bool is_search_of(const search::StoredRun& search, const BenchmarkEntry& entry, double level) {
  const Json* program = member(search.header, "program");
  const Json* fixed = member(search.header, "fixed");
  if (!search.finished || program == nullptr || *program != to_string(entry.buggy)) return false;
  const Json* config = member(search.header, "config");
  const Json* given = config != nullptr ? member(*config, "ground_truth_metric") : nullptr;
  if (given != nullptr && !given->is_null()) return *given == level;
  return fixed != nullptr && *fixed == to_string(entry.fixed);
}

}  // namespace

std::string runs_file(const std::string& subject) { return subject + ".runs"; }

Benchmark build_benchmark(const BenchmarkPlan& plan, const Benchmark* earlier,
                          const BenchmarkBuild& build) {
  if (earlier != nullptr && (earlier->name != plan.name || earlier->seed != plan.seed)) {
    throw input_error(
        describe(plan.name, "",
                 "a benchmark " + earlier->name + " with seed " + std::to_string(earlier->seed),
                 "one of this plan's name and seed"));
  }
  Benchmark benchmark;
  benchmark.name = plan.name;
  benchmark.title = plan.title;
  benchmark.seed = plan.seed;
  benchmark.effect = plan.effect;
  benchmark.environment = build.environment;
  std::map<std::string, int> made;
  for (std::size_t i = 0; i < plan.subjects.size(); ++i) {
    if (build.stage) {
      build.stage(plan.subjects[i].subject.id + " (subject " + std::to_string(i + 1) + " of " +
                  std::to_string(plan.subjects.size()) + ")");
    }
    SubjectBuilder(plan, plan.subjects[i], build).build(benchmark, made);
  }
  if (earlier != nullptr) keep_subjects(benchmark, *earlier);
  number(benchmark, earlier);
  return benchmark;
}

int add_alternatives(Benchmark& benchmark, const std::vector<search::StoredRun>& searches) {
  int filled = 0;
  for (BenchmarkEntry& entry : benchmark.entries) {
    const double level = evaluators::mean(subject_of(benchmark, entry).metrics);
    std::set<Hash> repairs;
    bool any = false, complete = false;
    for (const search::StoredRun& search : searches) {
      if (!is_search_of(search, entry, level)) continue;
      any = true;
      complete |= search.end == search::SearchEnd::kQueueEmpty;
      for (const search::Node* node : search.network.alternatives()) repairs.insert(node->hash);
    }
    if (!any) continue;
    repairs.erase(entry.fixed);
    entry.alternatives = KnownRepairs{static_cast<int>(repairs.size()), complete};
    ++filled;
  }
  return filled;
}

}  // namespace neutra::experiments
