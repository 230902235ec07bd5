#include <algorithm>

#include "base/error.h"
#include "base/json.h"
#include "base/temporary_folder.h"
#include "cli/bench/actions.h"
#include "cli/progress_line.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/warnings.h"
#include "evaluators/statistics.h"
#include "experiments/benchmark/checkout.h"
#include "experiments/benchmark/test.h"
#include "program/vocabulary.h"

namespace neutra::cli {
namespace {

Json json_of(const experiments::VersionTest& test, bool should_fail) {
  return {{"fails", test.fails()},
          {"expected", test.fails() == should_fail},
          {"mean", json_number(evaluators::mean(test.metrics))},
          {"p", exact_number(test.verdict.p)},
          {"d", exact_number(test.verdict.d)},
          {"attempts", test.attempts},
          {"status", to_string(test.status)},
          {"message", test.message},
          {"metrics", exact_numbers(test.metrics)}};
}

/// "fails", "passes, 2 attempts"
std::string text_of(const experiments::VersionTest& test) {
  return std::string(test.fails() ? "fails" : "passes") +
         (test.attempts > 1 ? ", " + std::to_string(test.attempts) + " attempts" : "") +
         (test.status != training::RunStatus::kOk ? ", " + std::string(to_string(test.status))
                                                  : "");
}

/// Runs that were cut off have no metric, and the status says so.
std::string test_mean_text(const experiments::VersionTest& test) {
  return training::has_metric(test.status) || evaluators::all_finite(test.metrics)
             ? mean_text(test.metrics)
             : "-";
}

/// Both versions of entries, trained anew.
struct Tested {
  BenchmarkPointer benchmark;
  experiments::BenchmarkTest result;
  std::uint64_t seed = 0;
  bool whole = false;  ///< no entries were named

  std::size_t passed() const {
    return static_cast<std::size_t>(
        std::count_if(result.entries.begin(), result.entries.end(),
                      [&](const experiments::EntryTest& entry) { return result.passes(entry); }));
  }
};

Json json_of(const Tested& tested) {
  const experiments::BenchmarkTest& result = tested.result;
  Json list = Json::array();
  for (const experiments::EntryTest& entry : result.entries)
    list.push_back({{"id", entry.entry->id},
                    {"subject", entry.entry->subject},
                    {"name", entry.entry->name},
                    {"catalogue", entry.entry->catalogue},
                    {"passed", result.passes(entry)},
                    {"buggy", json_of(entry.buggy, true)},
                    {"fixed", json_of(result.fixed_of(entry), false)}});
  return {{"benchmark", tested.benchmark->name}, {"seed", tested.seed},
          {"passed", tested.passed()},           {"total", result.entries.size()},
          {"entries", std::move(list)},          {"without", kinds_without(*tested.benchmark)}};
}

std::string text_of(const Tested& tested) {
  const experiments::BenchmarkTest& result = tested.result;
  TextTable table(
      {"id", "subject", "name", "buggy", "mean", "p", "d", "fixed", "mean", "p", "d", "result"});
  for (const experiments::EntryTest& entry : result.entries) {
    const experiments::VersionTest& fixed = result.fixed_of(entry);
    table.add({std::to_string(entry.entry->id), entry.entry->subject, name_text(*entry.entry),
               text_of(entry.buggy), test_mean_text(entry.buggy),
               evaluators::p_text(entry.buggy.verdict.p), rounded(entry.buggy.verdict.d),
               text_of(fixed), test_mean_text(fixed), evaluators::p_text(fixed.verdict.p),
               rounded(fixed.verdict.d),
               result.passes(entry) ? "as it should" : "NOT as it should"});
  }
  return table.text() + "\n" + std::to_string(tested.passed()) + " of " +
         std::to_string(result.entries.size()) +
         " entries as they should be: the buggy version fails, the fixed one passes\n" +
         (tested.whole ? kinds_text(kinds_without(*tested.benchmark)) : "");
}

}  // namespace

Result bench_test(const BenchmarkPointer& benchmark, const Arguments& arguments) {
  catch_signals();
  const Entries entries = chosen_entries(*benchmark, arguments);
  if (entries.empty()) throw input_error(describe(benchmark->name, "", "no entry", "some to test"));
  for (const experiments::BenchmarkEntry* entry : entries) {
    const experiments::BenchmarkSubject& subject = experiments::subject_of(*benchmark, *entry);
    warn_of(subject.id, subject.program);
  }
  const TemporaryFolder folder("neutra-bench");
  experiments::write_data(*benchmark, nullptr, folder.path());
  const auto trainer = make_trainer(arguments, folder.path() / "program.json");
  experiments::BenchmarkTestOptions options;
  options.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  options.retries = static_cast<int>(arguments.integer("retries"));
  options.workers = worker_count(arguments);
  options.stop = &stop_requested();
  Tested tested{benchmark, {}, options.seed, arguments.positional.size() == 2};
  {
    ProgressLine progress(arguments.flag("quiet"), "bench test");
    options.progress = [&](const Tally& tally) {
      progress.update(progress_of(tally, "trainings"));
    };
    tested.result = experiments::test_entries(*benchmark, entries, options, *trainer);
  }
  const bool all = tested.passed() == tested.result.entries.size();
  return result_of(std::move(tested), all ? Exit::kDone : Exit::kFailed);
}

}  // namespace neutra::cli
