#include "experiments/benchmark_build.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "evaluators/statistics.h"
#include "experiments/mutation_analysis.h"
#include "experiments/mutation_task.h"
#include "experiments/search_task.h"
#include "mutators/registry.h"
#include "program/error.h"
#include "program/files.h"
#include "program/patch.h"
#include "program/words.h"
#include "search/search.h"

namespace neutra {
namespace {

namespace fs = std::filesystem;

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
      : plan_(plan), planned_(planned), build_(build), program_(planned.subject.space.base()) {}

  /// `made`: how many entries operators have already, brought up to date.
  void build(Benchmark& benchmark, std::map<std::string, int>& made) {
    const auto trainer = build_.trainer(planned_.subject.file);
    if (const auto reason = trainer->refusal(program_)) {
      throw input_error(describe(planned_.subject.file.string(), "", *reason, ""));
    }
    BenchmarkSubject subject = describe_subject(*trainer, benchmark.data);
    const Target target = make_target(program_, &subject.rows);
    std::vector<const MutationOperator*> operators;
    for (const MutationOperator* op : planned_.operators) {
      if (room_for(made[std::string(op->id)]) > 0) operators.push_back(op);
    }
    const MutationTask task = mutation_task(operators, target, {}, plan_.seed);
    for (const LeftOutOperator& left : task.left_out) {
      // An operator is left out at a layer, too, where it has no value for it.
      if (std::none_of(task.places.begin(), task.places.end(),
                       [&](const auto& place) { return place.op == left.op; })) {
        note(benchmark, left.op->id, false, left.reason);
      }
    }
    TrainingJob limits;
    limits.stop = build_.stop;
    const auto mutant_trainer = make_mutant_trainer(program_, *trainer, plan_.seed, limits);
    std::optional<MutantRuns> runs;
    if (build_.runs.empty()) {
      runs.emplace();
    } else {
      runs.emplace(build_.runs / (subject.id + ".runs"),
                   mutant_runs_header(program_, *trainer, plan_.seed, limits), build_.fresh,
                   build_.command);
    }
    MutationOptions options;
    options.runs = planned_.runs;
    options.sets = {TestSet::kTest};
    options.workers = build_.workers;
    options.stop = build_.stop;
    const MutationAnalysis analysis =
        analyse_mutants(program_, task.sites, options, *mutant_trainer, *runs, build_.progress);
    subject.metrics = analysis.original.at(TestSet::kTest);
    select(benchmark, subject, task, analysis, *runs, made);
    benchmark.subjects.push_back(std::move(subject));
  }

 private:
  std::size_t room_for(int made) const {
    const int left = plan_.per_kind == 0 ? planned_.per_operator : plan_.per_kind - made;
    return static_cast<std::size_t>(std::clamp(left, 0, planned_.per_operator));
  }

  void note(Benchmark& benchmark, std::string_view op, bool applies,
            const std::string& reason) const {
    benchmark.without.push_back({planned_.subject.id, std::string(op), applies, reason});
  }

  BenchmarkSubject describe_subject(LocalTrainer& trainer,
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
         data_files(program_.document.at("data"), build_.data_path(own.file))) {
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

  /// A mutant that may become an entry.
  struct Found {
    const AnalysedMutant* mutant = nullptr;
    Hash hash;
    double drop = 0;  ///< of the metric, for the worse
  };

  void select(Benchmark& benchmark, const BenchmarkSubject& subject, const MutationTask& task,
              const MutationAnalysis& analysis, const MutantRuns& runs,
              std::map<std::string, int>& made) const {
    const double fixed_mean = mean(subject.metrics);
    std::set<Hash> taken{program_hash(program_)};
    for (const OperatorResult& result : analysis.operators) {
      std::vector<Found> found;
      std::vector<const AnalysedMutant*> others;
      std::set<Hash> own = taken;
      bool twin = false;
      for (const std::size_t site : result.sites) {
        for (const std::size_t index : analysis.sites[site].mutants) {
          const AnalysedMutant& mutant = analysis.mutants[index];
          const auto verdict = mutant.verdicts.find(TestSet::kTest);
          const bool shows = mutant.program && mutant.status != RunStatus::kInvalid &&
                             verdict != mutant.verdicts.end() && verdict->second.killed &&
                             std::abs(verdict->second.d) >= plan_.effect;
          if (!shows) {
            others.push_back(&mutant);
          } else if (const Hash hash = program_hash(*mutant.program); own.insert(hash).second) {
            found.push_back(
                {&mutant, hash, std::abs(mutant.means.at(TestSet::kTest) - fixed_mean)});
          } else {
            twin = true;
          }
        }
      }
      std::stable_sort(found.begin(), found.end(),
                       [](const Found& a, const Found& b) { return a.drop < b.drop; });
      if (found.empty()) {
        note(benchmark, result.op, true,
             twin ? "what it makes is an entry of another operator" : why_none(others));
        continue;
      }
      int& count = made[result.op];
      for (const std::size_t position : spread(found.size(), room_for(count))) {
        const Found& one = found[position];
        taken.insert(one.hash);
        ++count;
        benchmark.entries.push_back(entry_of(subject, task, one, runs));
      }
    }
  }

  /// "4 mutants: 3 not told from the correct program (largest effect 0.4), 1 refused (...)"
  std::string why_none(const std::vector<const AnalysedMutant*>& mutants) const {
    std::size_t invalid = 0, errors = 0, same = 0, survive = 0, weak = 0;
    double survivor = 0, weakest = 0;  // harm: effects for the worse
    std::string reason;
    const bool maximize = resolve(program_).goal == Goal::kMaximize;
    for (const AnalysedMutant* mutant : mutants) {
      const auto verdict = mutant->verdicts.find(TestSet::kTest);
      if (!mutant->program || mutant->status == RunStatus::kInvalid) {
        ++invalid;
        reason = mutant->reason;
      } else if (mutant->same_as == "original") {
        ++same;
      } else if (verdict == mutant->verdicts.end() || !mutant->means.contains(TestSet::kTest) ||
                 !std::isfinite(mutant->means.at(TestSet::kTest))) {
        ++errors;
      } else {
        const double harm = maximize ? verdict->second.d : -verdict->second.d;
        ++(verdict->second.killed ? weak : survive);
        double& largest = verdict->second.killed ? weakest : survivor;
        largest = std::max(largest, harm);
      }
    }
    const auto rounded = [](double value) { return shortest(python_round(value, 2)); };
    std::vector<std::string> parts;
    const auto add = [&](std::size_t count, const std::string& what) {
      if (count > 0) parts.push_back(std::to_string(count) + " " + what);
    };
    add(weak, "too weak (largest effect " + rounded(weakest) + ", entries need " +
                  rounded(plan_.effect) + ")");
    add(survive, "not told from the correct program (largest effect " + rounded(survivor) + ")");
    add(same, "the correct program itself");
    add(errors, "without a finite metric");
    add(invalid, "refused (" + reason + ")");
    return std::to_string(mutants.size()) + (mutants.size() == 1 ? " mutant: " : " mutants: ") +
           join(parts);
  }

  BenchmarkEntry entry_of(const BenchmarkSubject& subject, const MutationTask& task,
                          const Found& found, const MutantRuns& runs) const {
    const AnalysedMutant& mutant = *found.mutant;
    const Application application = task.application(mutant.site, mutant.value);
    const Mutant made = apply_all(program_, {application}, &subject.rows);
    BenchmarkEntry entry;
    entry.name = made.name();
    entry.subject = subject.id;
    entry.application = application;
    entry.place = place_of(program_, application.site);
    entry.faults = made.faults;
    entry.change = json_patch(program_.document, made.program.document);
    entry.buggy = found.hash;
    entry.fixed = program_hash(program_);
    int diverged = 0;
    for (int run = 0; run < mutant.runs; ++run) {
      const MutantRun& r = *runs.find(found.hash, run);
      entry.metrics.push_back(r.metrics.at(TestSet::kTest));
      diverged += r.status == RunStatus::kDiverged;
    }
    entry.verdict = mutant.verdicts.at(TestSet::kTest);
    entry.symptoms.push_back({"metric_drop", found.drop});
    if (diverged > 0) {
      entry.symptoms.push_back({"divergence", static_cast<double>(diverged) / mutant.runs});
    }
    entry.triviality = mutant.triviality;
    const FaultKind kind = fault_kind(entry);
    entry.category = kind.category;
    entry.bug_type = kind.bug_type;
    return entry;
  }

  const BenchmarkPlan& plan_;
  const PlannedSubject& planned_;
  const BenchmarkBuild& build_;
  const Program& program_;
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
    } else if (program_hash(now->program) != program_hash(old.program) || now->data != old.data) {
      throw input_error(describe(benchmark.name, old.id,
                                 "another program or other data than the benchmark has",
                                 "the same, another id for the subject, or a new benchmark"));
    }
  }
}

}  // namespace

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

int add_alternatives(Benchmark& benchmark, const std::vector<fs::path>& stores) {
  int filled = 0;
  for (const fs::path& store : stores) {
    const StoredRun run = read_store(store);
    if (!run.finished) continue;
    const Json* program = member(run.header, "program");
    const Json* fixed = member(run.header, "fixed");
    for (BenchmarkEntry& entry : benchmark.entries) {
      // A search from a checked out program knows no fix, only the level that it reaches.
      const bool same = program != nullptr && *program == to_string(entry.buggy) &&
                        (fixed == nullptr || fixed->is_null() || *fixed == to_string(entry.fixed));
      if (!same) continue;
      entry.alternatives = static_cast<int>(run.network.alternatives().size());
      ++filled;
    }
  }
  return filled;
}

}  // namespace neutra
