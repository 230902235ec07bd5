#include <map>

#include "base/error.h"
#include "base/json.h"
#include "cli/bench/actions.h"
#include "cli/texts.h"
#include "evaluators/statistics.h"
#include "experiments/benchmark/views.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

/// All that is known of entries.
struct EntryDetails {
  BenchmarkPointer benchmark;
  Entries entries;
};

Json json_of(const EntryDetails& details) {
  Json json = Json::array();
  for (const experiments::BenchmarkEntry* entry : details.entries)
    json.push_back(experiments::full_view(*details.benchmark, *entry));
  return json;
}

/// A line for each field.
std::string entry_text(const experiments::Benchmark& benchmark,
                       const experiments::BenchmarkEntry& entry) {
  constexpr std::size_t kWidth = 23;
  std::string text;
  for (const auto& [name, value] : experiments::entry_fields(benchmark, entry, rounded))
    text += name + std::string(kWidth - name.size(), ' ') +
            (name == "p" ? evaluators::p_text(entry.verdict.p) : or_dash(value)) + "\n";
  return text;
}

std::string text_of(const EntryDetails& details) {
  std::string text;
  for (const experiments::BenchmarkEntry* entry : details.entries)
    text += (text.empty() ? "" : "\n") + entry_text(*details.benchmark, *entry);
  return text;
}

/// A benchmark as a whole, with the numbers of its active entries.
struct Overview {
  BenchmarkPointer benchmark;
  std::map<std::string, std::size_t> by_subject, by_category, by_operator;
  std::size_t active = 0;

  std::size_t deprecated() const { return benchmark->entries.size() - active; }
  std::size_t of_subject(const std::string& id) const {
    const auto found = by_subject.find(id);
    return found == by_subject.end() ? 0 : found->second;
  }
};

Overview overview_of(const BenchmarkPointer& benchmark) {
  Overview overview{benchmark, {}, {}, {}, 0};
  for (const experiments::BenchmarkEntry& entry : benchmark->entries) {
    if (entry.deprecated) continue;
    ++overview.active;
    ++overview.by_subject[entry.subject];
    ++overview.by_category[or_dash(entry.category)];
    for (const mutators::Application& application : entry.applications)
      ++overview.by_operator[application.op];
  }
  return overview;
}

Json json_of(const Overview& overview) {
  const experiments::Benchmark& benchmark = *overview.benchmark;
  Json subjects = Json::array();
  for (const experiments::BenchmarkSubject& subject : benchmark.subjects) {
    subjects.push_back({{"id", subject.id},
                        {"title", subject.title},
                        {"source", subject.source},
                        {"licence", subject.licence},
                        {"metric", subject.metric},
                        {"goal", program::to_string(subject.goal)},
                        {"runs", subject.metrics.size()},
                        {"mean", json_number(evaluators::mean(subject.metrics))},
                        {"entries", overview.of_subject(subject.id)}});
  }
  return {{"name", benchmark.name},
          {"title", benchmark.title},
          {"seed", benchmark.seed},
          {"effect", benchmark.effect},
          {"environment", benchmark.environment},
          {"entries", overview.active},
          {"deprecated", overview.deprecated()},
          {"subjects", std::move(subjects)},
          {"categories", overview.by_category},
          {"operators", overview.by_operator},
          {"without", kinds_without(benchmark)}};
}

std::string text_of(const Overview& overview) {
  const experiments::Benchmark& benchmark = *overview.benchmark;
  TextTable subjects({"subject", "entries", "metric", "mean", "runs", "licence", "title"});
  for (const experiments::BenchmarkSubject& subject : benchmark.subjects)
    subjects.add({subject.id, std::to_string(overview.of_subject(subject.id)), subject.metric,
                  rounded(evaluators::mean(subject.metrics)),
                  std::to_string(subject.metrics.size()), subject.licence, subject.title});
  TextTable categories({"category", "entries"});
  for (const auto& [category, count] : overview.by_category)
    categories.add({category, std::to_string(count)});
  return benchmark.name + (benchmark.title.empty() ? "" : ": " + benchmark.title) + "\n" +
         std::to_string(overview.active) + " entries, " + std::to_string(overview.deprecated()) +
         " deprecated, of " + std::to_string(overview.by_operator.size()) + " operators\n\n" +
         subjects.text() + "\n" + categories.text() + kinds_text(kinds_without(benchmark));
}

}  // namespace

Result bench_info(const BenchmarkPointer& stored, const Arguments& arguments) {
  const bool of_entries = arguments.positional.size() > 2 || has_filters(arguments);
  if (arguments.has("network") && !of_entries)
    throw usage_error("--network: found no entries; allowed: with entries, or with filters");
  if (!of_entries) return result_of(overview_of(stored));
  BenchmarkPointer benchmark = stored;
  if (arguments.has("network")) {
    const auto more = std::make_shared<experiments::Benchmark>(*stored);
    add_networks(*more, arguments);
    benchmark = more;
  }
  return result_of(EntryDetails{benchmark, chosen_entries(*benchmark, arguments)});
}

}  // namespace neutra::cli
