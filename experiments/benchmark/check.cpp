#include "experiments/benchmark/check.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/numbers.h"
#include "base/temporary_folder.h"
#include "base/words.h"
#include "evaluators/statistics.h"
#include "evaluators/symptoms.h"
#include "experiments/benchmark/checkout.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/fault_kinds.h"
#include "experiments/benchmark/relations.h"
#include "experiments/search_task.h"
#include "mutators/registry.h"
#include "search/options.h"
#include "training/data/data_places.h"
#include "training/data/dataset.h"

namespace neutra::experiments {
namespace {

namespace fs = std::filesystem;

/// Another machine's logarithms may differ in their last bit.
bool near(double a, double b) {
  return a == b || (std::isfinite(a - b) && std::abs(a - b) <= 1e-9 * std::abs(b));
}

class Checker {
 public:
  explicit Checker(const Benchmark& benchmark)
      : benchmark_(benchmark), counted_(benchmark.entries) {
    count_support(counted_);
    for (const evaluators::SymptomRule& rule : evaluators::SymptomRules::bundled().rules()) {
      known_.insert(rule.id);
    }
    known_.insert({"metric_drop", "divergence"});
  }

  std::vector<std::string> check() {
    for (const BenchmarkSubject& subject : benchmark_.subjects) {
      place_ = "subjects/" + subject.id + ".json";
      attempt([&] { check_subject(subject); });
    }
    for (std::size_t i = 0; i < benchmark_.entries.size(); ++i) {
      place_ = entry_file(benchmark_.entries[i].id);
      attempt([&] { check_entry(benchmark_.entries[i], counted_[i].support); });
    }
    place_ = kBenchmarkIndex;
    check_without();
    return std::move(problems_);
  }

 private:
  template <typename F>
  void attempt(F action) {
    try {
      action();
    } catch (const Error& error) {
      wrong("", error.what(), "");
    }
  }

  void wrong(const std::string& where, const std::string& found, const std::string& allowed) {
    problems_.push_back(describe(benchmark_.name + ": " + place_, where, found, allowed));
  }
  void compare(const char* where, const std::string& found, const std::string& allowed) {
    if (found != allowed) wrong(where, found, allowed);
  }
  void compare(const char* where, double found, double allowed) {
    if (!near(found, allowed)) wrong(where, shortest(found), shortest(allowed));
  }

  void check_subject(const BenchmarkSubject& subject) {
    const MetricInfo metric = metric_of(subject.program, "the program");
    compare("/metric", subject.metric, metric.name);
    compare("/goal", std::string(program::to_string(subject.goal)),
            std::string(program::to_string(metric.goal)));
    if (subject.metrics.size() < 2) {
      wrong("/metrics", std::to_string(subject.metrics.size()) + " runs", "at least 2");
    }
    const bool all_here = std::all_of(subject.files.begin(), subject.files.end(),
                                      [](const auto& f) { return f.included; });
    if (all_here) check_rows(subject);
  }

  void check_rows(const BenchmarkSubject& subject) {
    const TemporaryFolder folder("neutra-bench");
    write_data(benchmark_, &subject, folder.path());
    const Json& recipe = subject.program.document.at("data");
    for (const auto& [name, path] : training::data_files(recipe, {folder.path()})) {
      const bool listed =
          std::any_of(subject.files.begin(), subject.files.end(),
                      [&name = name](const BenchmarkData& file) { return file.name == name; });
      if (!listed) {
        wrong("/files", "no " + name, "every file that the program names");
        return;
      }
    }
    const auto data = training::load_dataset(recipe, {folder.path()});
    compare("/data", subject.data, to_string(digest(*data)));
    compare("/rows", to_json(subject.rows).dump(), to_json(data->info()).dump());
  }

  void check_entry(const BenchmarkEntry& entry, int support) {
    const BenchmarkSubject& subject = subject_of(benchmark_, entry);
    const program::Program& fixed = subject.program;
    const program::Program buggy = program_of(benchmark_, entry, EntryVersion::kBuggy);
    compare("/fixed", to_string(entry.fixed), to_string(program::program_hash(fixed)));
    compare("/buggy", to_string(entry.buggy), to_string(program::program_hash(buggy)));
    compare("/faults", to_string(entry.faults), to_string(program::diff(buggy, fixed)));
    compare("/support", std::to_string(entry.support), std::to_string(support));
    if (!seen_.insert({entry.subject, entry.buggy}).second) {
      wrong("/buggy", "the program of an earlier entry", "each fault once");
    }
    // Later versions may have other operators and other results: an entry may be deprecated for it.
    if (entry.deprecated) return;
    const mutators::Mutant made = mutators::apply_all(fixed, entry.applications, &subject.rows);
    compare("/name", entry.name, made.name());
    if (program::program_hash(made.program) != entry.buggy) {
      wrong("/change", "another program than " + mutation_text(entry) + " makes",
            "the mutation and nothing else");
    }
    compare("/place", entry.place, place_of(fixed, entry.applications, &subject.rows));
    const FaultKind kind = fault_kind(entry);
    compare("/category", entry.category, kind.category);
    compare("/bug_type", entry.bug_type, kind.bug_type);
    check_test(entry, subject);
    check_symptoms(entry, subject);
  }

  void check_test(const BenchmarkEntry& entry, const BenchmarkSubject& subject) {
    if (entry.metrics.size() != subject.metrics.size()) {
      wrong("/test/metrics", std::to_string(entry.metrics.size()) + " runs",
            std::to_string(subject.metrics.size()) + ", as many as of the correct program");
    }
    const evaluators::KillVerdict verdict = evaluators::kill_test(
        subject.metrics, entry.metrics, {subject.goal == program::Goal::kMaximize});
    compare("/test/p", entry.verdict.p, verdict.p);
    compare("/test/d", entry.verdict.d, verdict.d);
    compare("/test/power", entry.verdict.power, verdict.power);
    if (!verdict.killed || std::abs(verdict.d) < benchmark_.effect) {
      wrong("/test", "p = " + shortest(verdict.p) + ", d = " + shortest(verdict.d),
            "p < " + shortest(evaluators::kKillLevel) + " and |d| of at least " +
                shortest(std::max(evaluators::kKillEffect, benchmark_.effect)) + " for the worse");
    }
  }

  void check_symptoms(const BenchmarkEntry& entry, const BenchmarkSubject& subject) {
    const double not_finite = static_cast<double>(evaluators::count_not_finite(entry.metrics)) /
                              static_cast<double>(entry.metrics.size());
    const bool diverged = not_finite > 0;
    std::set<std::string> names;
    for (std::size_t i = 0; i < entry.symptoms.size(); ++i) {
      const auto& [name, value] = entry.symptoms[i];
      const std::string where = "/symptoms/" + std::to_string(i);
      if (!known_.contains(name) || !names.insert(name).second) {
        wrong(where, name, "each once of " + join({known_.begin(), known_.end()}));
      } else if (name == "metric_drop" && diverged) {
        wrong(where, name, "none where a metric isn't finite");
      } else if (name == "metric_drop") {
        compare((where + "/value").c_str(), value,
                std::abs(evaluators::mean(entry.metrics) - evaluators::mean(subject.metrics)));
      } else if (const double least = name == "divergence" ? not_finite : 0;
                 !(value > 0 && value <= 1 && value >= least)) {
        wrong(where + "/value", shortest(value), "a share of the runs");
      }
    }
    const char* least = diverged ? "divergence" : "metric_drop";
    if (!names.contains(least)) wrong("/symptoms", std::string("no ") + least, "one");
  }

  void check_without() {
    for (std::size_t i = 0; i < benchmark_.without.size(); ++i) {
      const NoEntry& none = benchmark_.without[i];
      const std::string where = "/without/" + std::to_string(i);
      if (std::none_of(benchmark_.subjects.begin(), benchmark_.subjects.end(),
                       [&](const auto& subject) { return subject.id == none.subject; })) {
        wrong(where + "/subject", none.subject, "a subject of the benchmark");
      }
      if (!none.op.empty() && mutators::known_mutation_operator(none.op) == nullptr) {
        wrong(where + "/operator", none.op, "a mutation operator");
      }
      const bool has_one =
          std::any_of(benchmark_.entries.begin(), benchmark_.entries.end(), [&](const auto& entry) {
            const bool same = none.op.empty() ? entry.catalogue == none.catalogue
                                              : entry.catalogue.empty() && entry.uses(none.op);
            return !entry.deprecated && entry.subject == none.subject && same;
          });
      if (has_one) {
        wrong(where, none.subject + " without " + none.fault(), "what has no active entry");
      }
    }
  }

  const Benchmark& benchmark_;
  std::vector<BenchmarkEntry> counted_;
  std::set<std::string> known_;  ///< names of symptoms
  std::set<std::pair<std::string, Hash>> seen_;
  std::string place_;
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> check_benchmark(const Benchmark& benchmark) {
  return Checker(benchmark).check();
}

}  // namespace neutra::experiments
