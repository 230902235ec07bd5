#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>
#include <thread>

#include "base/error.h"
#include "base/files.h"
#include "base/json.h"
#include "base/json_section.h"
#include "base/temporary_folder.h"
#include "base/words.h"
#include "cli/build_info.h"
#include "cli/outputs.h"
#include "cli/progress_line.h"
#include "cli/stopping.h"
#include "cli/texts.h"
#include "cli/trainers.h"
#include "cli/verbs.h"
#include "cli/warnings.h"
#include "evaluators/statistics.h"
#include "experiments/benchmark/build.h"
#include "experiments/benchmark/check.h"
#include "experiments/benchmark/checkout.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/relations.h"
#include "experiments/benchmark/store.h"
#include "experiments/benchmark/test.h"
#include "experiments/benchmark/views.h"
#include "mutators/registry.h"
#include "program/patch.h"
#include "program/vocabulary.h"
#include "search/store_lock.h"
#include "search/store_reader.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// What the scripts of checked out programs run with.
constexpr const char* kTensorFlow = ">=2.4,<2.16";

using Entries = std::vector<const experiments::BenchmarkEntry*>;

bool as_json(const Arguments& arguments) { return chosen_format(arguments) == "json"; }

// --- choosing ---

const std::vector<std::string> kFilters{"category", "deprecated", "fault-type", "operator",
                                        "subject"};

bool has_filters(const Arguments& arguments) {
  return std::any_of(kFilters.begin(), kFilters.end(),
                     [&](const std::string& name) { return arguments.has(name); });
}

/// The words of a filter, each of which must be one of `known`; empty: no filter.
std::set<std::string> filter(const Arguments& arguments, const std::string& option,
                             const std::set<std::string>& known) {
  std::set<std::string> words;
  if (!arguments.has(option)) return words;
  for (const std::string& word : arguments.list(option)) {
    if (!known.contains(word))
      throw input_error(
          describe("", "--" + option, "'" + word + "'",
                   allowed_words(word, {known.begin(), known.end()}) + ": those of the benchmark"));
    words.insert(word);
  }
  return words;
}

/// Ids and abbreviations of its operators; no abbreviation of one of another version of neutra.
std::set<std::string> operator_names(const experiments::BenchmarkEntry& entry) {
  std::set<std::string> names;
  for (const mutators::Application& application : entry.applications) {
    names.insert(application.op);
    if (const mutators::MutationOperator* op = mutators::known_mutation_operator(application.op))
      names.emplace(op->abbreviation);
  }
  return names;
}

/// Is one of the words among those of a filter? An empty filter takes all.
bool passes(const std::set<std::string>& filter, const std::set<std::string>& words) {
  return filter.empty() || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
           return filter.contains(word);
         });
}

/// The entries that the words after the file name, or all that the filters leave; deprecated ones
/// only by number or with --deprecated.
Entries chosen_entries(const experiments::Benchmark& benchmark, const Arguments& arguments) {
  Entries chosen;
  if (arguments.positional.size() > 2) {
    for (std::size_t i = 2; i < arguments.positional.size(); ++i) {
      const experiments::EntryAddress address =
          experiments::find_entry(benchmark, arguments.positional[i]);
      if (address.version)
        throw usage_error("found entry '" + arguments.positional[i] +
                          "'; allowed: a number without b or f");
      if (std::find(chosen.begin(), chosen.end(), address.entry) == chosen.end())
        chosen.push_back(address.entry);
    }
    return chosen;
  }
  std::set<std::string> subjects, types, operators, categories;
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    subjects.insert(entry.subject);
    operators.merge(operator_names(entry));
    if (!entry.category.empty()) categories.insert(entry.category);
    types.merge(program::types_of(entry.faults));
  }
  subjects = filter(arguments, "subject", subjects);
  types = filter(arguments, "fault-type", types);
  operators = filter(arguments, "operator", operators);
  categories = filter(arguments, "category", categories);
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    if ((!entry.deprecated || arguments.flag("deprecated")) && passes(subjects, {entry.subject}) &&
        passes(operators, operator_names(entry)) && passes(categories, {entry.category}) &&
        passes(types, program::types_of(entry.faults)))
      chosen.push_back(&entry);
  }
  return chosen;
}

/// The one entry of `diff`, `similar`, `checkout`.
experiments::EntryAddress one_entry(const experiments::Benchmark& benchmark,
                                    const Arguments& arguments) {
  return experiments::find_entry(benchmark, arguments.positional[2]);
}

/// "Dense 3": the place of a mutation at one layer.
std::string site_text(const experiments::BenchmarkEntry& entry) {
  const mutators::Site site =
      entry.applications.size() == 1 ? entry.applications.front().site : mutators::kWholeProgram;
  return site == mutators::kWholeProgram ? entry.place : entry.place + " " + std::to_string(site);
}

/// "T21-07 RAW-3-l1--TRD-90"
std::string name_text(const experiments::BenchmarkEntry& entry) {
  return entry.catalogue.empty() ? entry.name : entry.catalogue + " " + entry.name;
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// Operators, and faults of the catalogue, without an active entry, each with what the subjects
/// say.
Json kinds_without(const experiments::Benchmark& benchmark) {
  std::set<std::string> with;
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    if (entry.deprecated) continue;
    with.insert(entry.catalogue);
    for (const mutators::Application& application : entry.applications) with.insert(application.op);
  }
  Json kinds = Json::object();
  for (const experiments::NoEntry& none : benchmark.without) {
    if (with.contains(none.fault())) continue;
    kinds[none.fault()].push_back(
        {{"subject", none.subject}, {"applies", none.applies}, {"reason", none.reason}});
  }
  return kinds;
}

std::string kinds_text(const Json& kinds) {
  if (kinds.empty()) return "";
  std::string text = "\nFault kinds without an entry:\n";
  for (const auto& [op, reasons] : kinds.items()) {
    text += "  " + op + "\n";
    std::vector<std::string> not_here;
    for (const Json& reason : reasons) {
      const std::string subject = reason.at("subject");
      if (reason.at("applies").get<bool>())
        text += "    " + subject + ": " + reason.at("reason").get<std::string>() + "\n";
      else
        not_here.push_back(subject);
    }
    if (!not_here.empty()) text += "    applies nowhere in " + join(not_here) + "\n";
  }
  return text;
}

// --- actions ---

int list(const experiments::Benchmark& benchmark, const Arguments& arguments) {
  const Entries entries = chosen_entries(benchmark, arguments);
  if (as_json(arguments)) {
    Json json = Json::array();
    for (const experiments::BenchmarkEntry* entry : entries)
      json.push_back(experiments::full_view(benchmark, *entry));
    std::cout << to_text(json);
    return 0;
  }
  TextTable table({"id", "subject", "name", "site", "faults", "category", "type", "support",
                   "fixed", "buggy", "d"});
  for (const experiments::BenchmarkEntry* entry : entries) {
    table.add({std::to_string(entry->id) + (entry->deprecated ? " (deprecated)" : ""),
               entry->subject, name_text(*entry), site_text(*entry), to_string(entry->faults),
               or_dash(entry->category), or_dash(entry->bug_type), std::to_string(entry->support),
               mean_text(experiments::subject_of(benchmark, *entry).metrics),
               mean_text(entry->metrics), rounded(entry->verdict.d)});
  }
  std::cout << table.text();
  return 0;
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

/// What the stores of --network say of repairs.
void add_networks(experiments::Benchmark& benchmark, const Arguments& arguments) {
  if (!arguments.has("network")) return;
  std::vector<search::StoredRun> searches;
  for (const std::string& store : arguments.list("network"))
    searches.push_back(search::read_store(store));
  if (experiments::add_alternatives(benchmark, searches) == 0)
    std::cerr << "neutra: " << join(arguments.list("network"))
              << ": no finished search from an entry's faulty program for what is as good as the "
                 "correct one\n";
}

int info(const experiments::Benchmark& stored, const Arguments& arguments) {
  const bool of_entries = arguments.positional.size() > 2 || has_filters(arguments);
  if (arguments.has("network") && !of_entries)
    throw usage_error("--network: found no entries; allowed: with entries, or with filters");
  experiments::Benchmark benchmark = stored;
  add_networks(benchmark, arguments);
  if (of_entries) {
    const Entries entries = chosen_entries(benchmark, arguments);
    Json json = Json::array();
    std::string text;
    for (const experiments::BenchmarkEntry* entry : entries) {
      json.push_back(experiments::full_view(benchmark, *entry));
      text += (text.empty() ? "" : "\n") + entry_text(benchmark, *entry);
    }
    std::cout << (as_json(arguments) ? to_text(json) : text);
    return 0;
  }
  const Json kinds = kinds_without(benchmark);
  std::map<std::string, std::size_t> by_subject, by_category, by_operator;
  std::size_t active = 0;
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    if (entry.deprecated) continue;
    ++active;
    ++by_subject[entry.subject];
    ++by_category[or_dash(entry.category)];
    for (const mutators::Application& application : entry.applications)
      ++by_operator[application.op];
  }
  if (as_json(arguments)) {
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
                          {"entries", by_subject[subject.id]}});
    }
    std::cout << to_text({{"name", benchmark.name},
                          {"title", benchmark.title},
                          {"seed", benchmark.seed},
                          {"effect", benchmark.effect},
                          {"environment", benchmark.environment},
                          {"entries", active},
                          {"deprecated", benchmark.entries.size() - active},
                          {"subjects", std::move(subjects)},
                          {"categories", by_category},
                          {"operators", by_operator},
                          {"without", kinds}});
    return 0;
  }
  std::cout << benchmark.name << (benchmark.title.empty() ? "" : ": " + benchmark.title) << "\n"
            << active << " entries, " << benchmark.entries.size() - active << " deprecated, of "
            << by_operator.size() << " operators\n\n";
  TextTable subjects({"subject", "entries", "metric", "mean", "runs", "licence", "title"});
  for (const experiments::BenchmarkSubject& subject : benchmark.subjects)
    subjects.add({subject.id, std::to_string(by_subject[subject.id]), subject.metric,
                  rounded(evaluators::mean(subject.metrics)),
                  std::to_string(subject.metrics.size()), subject.licence, subject.title});
  TextTable categories({"category", "entries"});
  for (const auto& [category, count] : by_category)
    categories.add({category, std::to_string(count)});
  std::cout << subjects.text() << '\n' << categories.text() << kinds_text(kinds);
  return 0;
}

int diff(const experiments::Benchmark& benchmark, const Arguments& arguments) {
  const experiments::BenchmarkEntry& entry = *one_entry(benchmark, arguments).entry;
  const Json& fixed = experiments::subject_of(benchmark, entry).program.document;
  if (as_json(arguments)) {
    const Json buggy =
        experiments::program_of(benchmark, entry, experiments::EntryVersion::kBuggy).document;
    std::cout << to_text({{"entry", entry.id},
                          {"faults", to_string(entry.faults)},
                          {"fixed_to_buggy", entry.change},
                          {"buggy_to_fixed", program::json_patch(buggy, fixed)}});
  } else {
    std::cout << to_string(entry.faults) << ", fixed -> buggy:\n"
              << program::patch_text(fixed, entry.change);
  }
  return 0;
}

int similar(const experiments::Benchmark& benchmark, const Arguments& arguments) {
  const experiments::BenchmarkEntry& entry = *one_entry(benchmark, arguments).entry;
  Json json = Json::array();
  TextTable table({"points", "id", "subject", "name", "site", "faults"});
  for (const auto& [other, points] : experiments::similar_entries(benchmark, entry)) {
    json.push_back({{"points", points},
                    {"id", other->id},
                    {"subject", other->subject},
                    {"name", other->name},
                    {"mutation", experiments::mutation_text(*other)},
                    {"place", other->place},
                    {"faults", to_string(other->faults)}});
    table.add({std::to_string(points), std::to_string(other->id), other->subject, name_text(*other),
               site_text(*other), to_string(other->faults)});
  }
  std::cout << (as_json(arguments) ? to_text(json) : table.text());
  return 0;
}

int check_out(const experiments::Benchmark& benchmark, const Arguments& arguments) {
  const experiments::EntryAddress address = one_entry(benchmark, arguments);
  if (!address.version)
    throw usage_error("found entry '" + arguments.positional[2] +
                      "'; allowed: one version of it, " + std::to_string(address.entry->id) +
                      "b (buggy) or " + std::to_string(address.entry->id) + "f (fixed)");
  if (!arguments.has("work")) throw usage_error("found no --work; allowed: -w FOLDER");
  const fs::path folder = experiments::benchmark_path(arguments.text("work"));
  const std::string warning =
      neutra::experiments::check_out(benchmark, *address.entry, *address.version, folder,
                                     data_path(arguments, folder / "program.json"));
  if (!warning.empty()) std::cerr << "neutra: " << warning << '\n';
  if (as_json(arguments)) {
    std::cout << to_text(
        {{"folder", folder.string()},
         {"entry", address.entry->id},
         {"program_version",
          *address.version == experiments::EntryVersion::kBuggy ? "buggy" : "fixed"},
         {"arrays", warning.empty()}});
  } else {
    std::cout << "checked out " << arguments.positional[2] << " into " << folder.string()
              << ": see README.md there\n";
  }
  return 0;
}

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

int test(const experiments::Benchmark& benchmark, const Arguments& arguments) {
  catch_signals();
  const Entries entries = chosen_entries(benchmark, arguments);
  if (entries.empty()) throw input_error(describe(benchmark.name, "", "no entry", "some to test"));
  for (const experiments::BenchmarkEntry* entry : entries) {
    const experiments::BenchmarkSubject& subject = experiments::subject_of(benchmark, *entry);
    warn_of(subject.id, subject.program);
  }
  const TemporaryFolder folder("neutra-bench");
  experiments::write_data(benchmark, nullptr, folder.path());
  const auto trainer = make_trainer(arguments, folder.path() / "program.json");
  experiments::BenchmarkTestOptions options;
  options.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  options.retries = static_cast<int>(arguments.integer("retries"));
  options.workers = worker_count(arguments);
  options.stop = &stop_requested();
  experiments::BenchmarkTest result;
  {
    ProgressLine progress(arguments.flag("quiet"), "bench test");
    options.progress = [&](const Tally& tally) {
      progress.update(progress_of(tally, "trainings"));
    };
    result = experiments::test_entries(benchmark, entries, options, *trainer);
  }
  const auto passed = static_cast<std::size_t>(
      std::count_if(result.entries.begin(), result.entries.end(),
                    [&](const experiments::EntryTest& entry) { return result.passes(entry); }));
  const bool all = passed == result.entries.size();
  const Json kinds = kinds_without(benchmark);
  if (as_json(arguments)) {
    Json list = Json::array();
    for (const experiments::EntryTest& entry : result.entries)
      list.push_back({{"id", entry.entry->id},
                      {"subject", entry.entry->subject},
                      {"name", entry.entry->name},
                      {"catalogue", entry.entry->catalogue},
                      {"passed", result.passes(entry)},
                      {"buggy", json_of(entry.buggy, true)},
                      {"fixed", json_of(result.fixed_of(entry), false)}});
    std::cout << to_text({{"benchmark", benchmark.name},
                          {"seed", options.seed},
                          {"passed", passed},
                          {"total", result.entries.size()},
                          {"entries", std::move(list)},
                          {"without", kinds}});
  } else {
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
    std::cout << table.text() << "\n"
              << passed << " of " << result.entries.size()
              << " entries as they should be: the buggy version fails, the fixed one passes\n";
    if (arguments.positional.size() == 2) std::cout << kinds_text(kinds);
  }
  return static_cast<int>(all ? Exit::kDone : Exit::kFailed);
}

int export_entries(const experiments::Benchmark& benchmark, const Arguments& arguments) {
  const std::string format = chosen_format(arguments);
  if (format != "fault") require_output(arguments);
  const Entries entries = chosen_entries(benchmark, arguments);
  if (format == "json") {
    Json json = Json::array();
    for (const experiments::BenchmarkEntry* entry : entries) {
      Json view = experiments::full_view(benchmark, *entry);
      view["fixed_program"] =
          experiments::program_of(benchmark, *entry, experiments::EntryVersion::kFixed).document;
      view["buggy_program"] =
          experiments::program_of(benchmark, *entry, experiments::EntryVersion::kBuggy).document;
      json.push_back(std::move(view));
    }
    put_result(arguments, to_text(json));
  } else if (format == "fault") {
    if (!arguments.has("output"))
      throw usage_error("found no --output; allowed: -o FOLDER for fault files");
    const fs::path folder = arguments.text("output");
    require_outside_benchmarks(folder.string(), "--output");
    fs::create_directories(folder);
    for (const experiments::BenchmarkEntry* entry : entries) {
      write_file_atomically(folder / (experiments::fault_id(benchmark, *entry) + ".json"),
                            to_text(experiments::fault_file(benchmark, *entry)));
      experiments::write_data(benchmark, &experiments::subject_of(benchmark, *entry), folder);
    }
    std::cerr << "neutra: " << entries.size() << " faults in " << folder.string() << '\n';
  } else {
    put_result(arguments, to_csv(benchmark, entries));
  }
  return 0;
}

int validate(const Arguments& arguments) {
  const fs::path file = arguments.positional[1];
  std::vector<std::string> problems;
  std::size_t entries = 0;
  try {
    const experiments::Benchmark benchmark = experiments::benchmark_from_files(
        experiments::read_benchmark_files(file), file.string(), &problems);
    entries = benchmark.entries.size();
    if (problems.empty()) problems = experiments::check_benchmark(benchmark);
  } catch (const Error& error) {
    if (!experiments::has_benchmark_name(file)) throw;  // there is none
    problems.emplace_back(error.what());
  }
  if (as_json(arguments)) {
    std::cout << to_text({{"benchmark", file.string()},
                          {"sound", problems.empty()},
                          {"entries", entries},
                          {"problems", problems}});
  } else if (problems.empty()) {
    std::cout << file.string() << ": sound, " << entries << " entries\n";
  } else {
    for (const std::string& problem : problems) std::cout << problem << '\n';
  }
  return static_cast<int>(problems.empty() ? Exit::kDone : Exit::kFailed);
}

/// Is --extend the benchmark that --output names?
bool extends_itself(const Arguments& arguments, const fs::path& output) {
  std::error_code error;
  return arguments.has("extend") && fs::equivalent(arguments.text("extend"), output, error);
}

/// The folder of kept runs; goes with the object if nothing is in it.
class RunsFolder {
 public:
  explicit RunsFolder(fs::path path) : path_(std::move(path)) { fs::create_directories(path_); }
  RunsFolder(const RunsFolder&) = delete;
  RunsFolder& operator=(const RunsFolder&) = delete;
  ~RunsFolder() {
    std::error_code ignored;
    fs::remove(path_, ignored);
  }

 private:
  fs::path path_;
};

/// "small: 8 subjects, about 3 min 20 s with 2 workers, less where runs were kept"
std::string expected_text(const experiments::BenchmarkPlan& plan, int workers) {
  std::string text = plan.name + ": " + std::to_string(plan.subjects.size()) +
                     (plan.subjects.size() == 1 ? " subject, " : " subjects, ");
  if (plan.core_seconds <= 0)
    return text + "how long they take is not known (core_seconds of the plan)";
  const int at_once = std::min(workers, static_cast<int>(std::thread::hardware_concurrency()));
  return text + "about " + duration_text(plan.core_seconds / std::max(at_once, 1)) + " with " +
         std::to_string(workers) + (workers == 1 ? " worker" : " workers") +
         ", less where runs were kept";
}

int create(const Arguments& arguments) {
  if (!arguments.has("output"))
    throw usage_error("found no --output; allowed: -o FILE.h5 or -o FOLDER");
  const fs::path output = experiments::benchmark_path(arguments.text("output"));
  require_writable_folder(output.has_parent_path() ? output.parent_path() : ".", "--output");
  const bool fresh = arguments.flag("fresh");
  if (experiments::is_benchmark(output) && !fresh && !extends_itself(arguments, output))
    throw input_error(describe("--output", "", output.string() + ", a benchmark",
                               "a name that is still free; --extend " + output.string() +
                                   " to go on from it; --fresh to begin anew"));
  // A folder is replaced as a whole: nothing else may be in it.
  if (fs::is_directory(output) && experiments::is_benchmark(output))
    experiments::load_benchmark(output);
  const experiments::BenchmarkPlan plan = experiments::load_benchmark_plan(arguments.positional[1]);
  std::optional<experiments::Benchmark> earlier;
  if (arguments.has("extend")) earlier = experiments::load_benchmark(arguments.text("extend"));

  catch_signals();
  for (const experiments::PlannedSubject& planned : plan.subjects)
    warn_of(planned.subject.id, planned.subject.space.base());
  experiments::BenchmarkBuild build;
  build.trainer = [&](const fs::path& file) { return make_trainer(arguments, file); };
  build.data_path = [&](const fs::path& file) { return data_path(arguments, file); };
  const bool kept = arguments.has("store");
  build.runs = kept ? fs::path(arguments.text("store")) : fs::path(output.string() + ".runs");
  require_writable_folder(build.runs, kept ? "--store" : "--output");
  build.command = "neutra bench create " + plan.name;
  // Each subject's runs have a lock of their own, but --fresh of another would drop them in
  // between.
  const search::StoreLock lock(build.runs.string() + ".lock", build.command);
  const RunsFolder folder(build.runs);
  build.fresh = fresh;
  build.environment = {{"neutra", version()}, {"tensorflow", kTensorFlow}};
  build.workers = worker_count(arguments);
  build.stop = &stop_requested();
  std::optional<ProgressLine> line;
  const bool quiet = arguments.flag("quiet");
  if (!quiet) std::cerr << expected_text(plan, build.workers) << '\n';
  build.stage = [&](const std::string& text) {
    line.reset();
    if (!quiet) std::cerr << text << '\n';
    line.emplace(quiet, text);
  };
  build.progress = [&](const Tally& tally) {
    if (line) line->update(progress_of(tally, "trainings", true));
  };
  experiments::Benchmark benchmark =
      experiments::build_benchmark(plan, earlier ? &*earlier : nullptr, build);
  line.reset();
  add_networks(benchmark, arguments);
  const experiments::BenchmarkFiles files = experiments::to_files(benchmark);
  if (const auto problems =
          experiments::check_benchmark(experiments::benchmark_from_files(files, output.string()));
      !problems.empty())
    throw failure("the benchmark is not sound: " + problems.front());
  experiments::write_benchmark_files(files, output);
  if (!kept) {
    // The folder may be older, and hold what is not from here.
    std::error_code ignored;
    for (const experiments::PlannedSubject& subject : plan.subjects)
      fs::remove(build.runs / experiments::runs_file(subject.subject.id), ignored);
  }

  std::set<std::string> subjects, operators;
  std::size_t active = 0, deprecated = 0;
  for (const experiments::BenchmarkEntry& entry : benchmark.entries) {
    ++(entry.deprecated ? deprecated : active);
    if (entry.deprecated) continue;
    subjects.insert(entry.subject);
    for (const mutators::Application& application : entry.applications)
      operators.insert(application.op);
  }
  if (as_json(arguments)) {
    std::cout << to_text({{"benchmark", output.string()},
                          {"name", benchmark.name},
                          {"entries", active},
                          {"deprecated", deprecated},
                          {"subjects", subjects.size()},
                          {"operators", operators.size()},
                          {"without", kinds_without(benchmark)}});
  } else {
    std::cout << output.string() << ": " << active << " entries of " << operators.size()
              << " operators on " << subjects.size() << " subjects, " << deprecated
              << " deprecated\n";
  }
  return 0;
}

/// What the verb can do.
struct Action {
  const char* name;
  const char* words;                 ///< behind the name
  std::size_t least, most;           ///< words behind the first one
  bool filters;                      ///< does it take them in the place of entries?
  std::vector<std::string> options;  ///< besides filters
  std::vector<std::string> formats;
  int (*run)(const experiments::Benchmark& benchmark, const Arguments& arguments);
  int (*run_alone)(const Arguments& arguments);  ///< one that doesn't begin with a sound benchmark
};

const std::vector<Action>& actions() {
  constexpr std::size_t kAny = 1000000;
  const std::vector<std::string> plain{"text", "json"};
  static const std::vector<Action> kActions{
      {"checkout",
       "BENCHMARK ENTRYb|ENTRYf -w FOLDER",
       1,
       1,
       false,
       {"data-dir", "work"},
       plain,
       check_out,
       nullptr},
      {"create",
       "PLAN -o FILE.h5|FOLDER",
       0,
       0,
       false,
       {"backend", "data-dir", "extend", "fresh", "memory", "network", "output", "store",
        "workers"},
       plain,
       nullptr,
       create},
      {"diff", "BENCHMARK ENTRY", 1, 1, false, {}, plain, diff, nullptr},
      {"export",
       "BENCHMARK [ENTRY ...]",
       0,
       kAny,
       true,
       {"output"},
       {"text", "csv", "json", "fault"},
       export_entries,
       nullptr},
      {"info", "BENCHMARK [ENTRY ...]", 0, kAny, true, {"network"}, plain, info, nullptr},
      {"list", "BENCHMARK [ENTRY ...]", 0, kAny, true, {}, plain, list, nullptr},
      {"similar", "BENCHMARK ENTRY", 1, 1, false, {}, plain, similar, nullptr},
      {"test",
       "BENCHMARK [ENTRY ...]",
       0,
       kAny,
       true,
       {"backend", "data-dir", "memory", "retries", "seed", "workers"},
       plain,
       test,
       nullptr},
      {"validate", "BENCHMARK", 0, 0, false, {}, plain, nullptr, validate}};
  return kActions;
}

/// `name`: of one.
const Action& find_action(const std::string& name) {
  return *std::find_if(actions().begin(), actions().end(),
                       [&](const Action& action) { return action.name == name; });
}

std::vector<VerbAction> verb_actions() {
  std::vector<VerbAction> result;
  for (const Action& action : actions()) {
    std::vector<std::string> options = action.options;
    options.emplace_back("format");
    if (action.filters) options.insert(options.end(), kFilters.begin(), kFilters.end());
    result.push_back({action.name, action.words, std::move(options)});
  }
  return result;
}

/// Throws usage_error for words and options that would have no effect.
void require_used(const Action& action, const Arguments& arguments) {
  const std::string name = action.name;
  const auto among = [](const std::vector<std::string>& list, const std::string& word) {
    return std::find(list.begin(), list.end(), word) != list.end();
  };
  const std::size_t entries = arguments.positional.size() - 2;
  if (entries < action.least || entries > action.most)
    throw usage_error(name + ": found " + std::to_string(entries) + " words behind '" +
                      arguments.positional[1] + "'; allowed: " + name + " " + action.words);
  if (const std::string format = chosen_format(arguments); !among(action.formats, format))
    throw usage_error("--format: found " + format + "; allowed: " + join(action.formats) + " of " +
                      name);
  for (const std::string& option : arguments.given) {
    if (option == "format" || among(common_options(), option) || among(action.options, option))
      continue;
    if (!action.filters || !among(kFilters, option)) {
      std::vector<std::string> takers;
      for (const Action& other : actions())
        if (among(other.options, option) || (other.filters && among(kFilters, option)))
          takers.emplace_back(other.name);
      throw usage_error("--" + option + ": found with " + name + "; allowed: with " + join(takers));
    }
    if (entries > 0)
      throw usage_error("--" + option + ": found beside entries; allowed: one or the other");
  }
}

int run(const Arguments& arguments) {
  const Action& action = find_action(arguments.positional[0]);
  require_used(action, arguments);
  if (action.run_alone != nullptr) return action.run_alone(arguments);
  return action.run(experiments::load_benchmark(arguments.positional[1]), arguments);
}

}  // namespace

Verb bench_verb() {
  return {
      "bench",
      "make and use benchmarks of faulty models",
      "bench create PLAN -o FILE.h5|FOLDER [options]\n"
      "       neutra bench list|info|test|export BENCHMARK [ENTRY ...] [options]\n"
      "       neutra bench diff|similar BENCHMARK ENTRY\n"
      "       neutra bench checkout BENCHMARK ENTRYb|ENTRYf -w FOLDER\n"
      "       neutra bench validate BENCHMARK",
      {{"backend", "category", "data-dir", "deprecated", "extend", "fault-type", "fresh", "memory",
        "network", "operator", "output", "retries", "seed", "store", "subject", "work", "workers"},
       2,
       100000,
       "ACTION PLAN|BENCHMARK [ENTRY ...]",
       {"text", "csv", "json", "fault"},
       verb_actions()},
      "create: mutates and trains the subjects of a plan (a file, or bundled: kinds, small, "
      "bundled, catalogue) and keeps the\n"
      "faults that the test rows kill; the same command goes on after an interruption. list, info: "
      "the entries and all that is\n"
      "known of them; --network takes stores of finished searches, which tell how many repairs "
      "there are. test: trains both\n"
      "versions anew; exit 1 unless every buggy one fails and every fixed one passes. diff: what "
      "the fault changed. similar:\n"
      "other entries of an operator or fault type in common. checkout: one version as a folder "
      "with data, seeds and a Keras\n"
      "script. export: --format csv, json, or fault: files for neutra search, localise and study. "
      "validate: every check but\n"
      "training; exit 1 when something is wrong. Entries are numbers, or what --category, "
      "--deprecated, --fault-type,\n"
      "--operator and --subject leave. An option that has no effect on an action is refused.",
      "  neutra bench create small -o small.h5\n  neutra bench list small.h5 --subject iris\n  "
      "neutra bench test small.h5 3 17\n  neutra bench checkout small.h5 3b -w iris-3b\n  neutra "
      "bench export small.h5 --format fault -o faults",
      run};
}

}  // namespace neutra::cli
