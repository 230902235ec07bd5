#include <algorithm>
#include <filesystem>
#include <iostream>
#include <set>

#include "cli/build_info.h"
#include "cli/context.h"
#include "cli/verbs.h"
#include "evaluators/statistics.h"
#include "experiments/benchmark_build.h"
#include "experiments/benchmark_checkout.h"
#include "experiments/benchmark_store.h"
#include "experiments/benchmark_test.h"
#include "fl_adapters/tool_folder.h"
#include "mutators/registry.h"
#include "program/error.h"
#include "program/files.h"
#include "program/patch.h"
#include "program/words.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// What the scripts of checked out programs run with.
constexpr const char* kTensorFlow = ">=2.4,<2.16";

using Entries = std::vector<const BenchmarkEntry*>;

bool as_json(const Arguments& arguments) { return chosen_format(arguments) == "json"; }

// --- choosing ---

std::set<std::string> types_of(const BenchmarkEntry& entry) {
  std::set<std::string> types;
  for (const auto& choice : entry.faults.items)
    for (const FaultEntry& fault : choice) types.insert(fault.type);
  return types;
}

/// The words of a filter, each of which must be one of `known`; empty: no filter.
std::set<std::string> filter(const Arguments& arguments, const std::string& option,
                             const std::set<std::string>& known) {
  std::set<std::string> words;
  if (!arguments.has(option)) return words;
  for (const std::string& word : arguments.list(option)) {
    if (!known.contains(word))
      throw input_error(describe("", "--" + option, "'" + word + "'",
                                 join({known.begin(), known.end()}) + ": those of the benchmark"));
    words.insert(word);
  }
  return words;
}

/// An operator's abbreviation; "" for one of another version of neutra.
std::string abbreviation(std::string_view id) {
  for (const MutationOperator* op : mutation_operators())
    if (op->id == id) return std::string(op->abbreviation);
  return "";
}

/// The entries that the words after the file name, or all that the filters leave; deprecated ones
/// only by number or with --deprecated.
Entries chosen_entries(const Benchmark& benchmark, const Arguments& arguments) {
  Entries chosen;
  if (arguments.positional.size() > 2) {
    for (std::size_t i = 2; i < arguments.positional.size(); ++i) {
      const EntryAddress address = find_entry(benchmark, arguments.positional[i]);
      if (address.version)
        throw usage_error("found entry '" + arguments.positional[i] +
                          "'; allowed: a number without b or f");
      if (std::find(chosen.begin(), chosen.end(), address.entry) == chosen.end())
        chosen.push_back(address.entry);
    }
    return chosen;
  }
  std::set<std::string> subjects, types, operators, categories;
  for (const BenchmarkEntry& entry : benchmark.entries) {
    subjects.insert(entry.subject);
    operators.insert(entry.application.op);
    operators.insert(abbreviation(entry.application.op));
    if (!entry.category.empty()) categories.insert(entry.category);
    types.merge(types_of(entry));
  }
  subjects = filter(arguments, "subject", subjects);
  types = filter(arguments, "fault-type", types);
  operators = filter(arguments, "operator", operators);
  categories = filter(arguments, "category", categories);
  for (const BenchmarkEntry& entry : benchmark.entries) {
    const std::set<std::string> own = types_of(entry);
    const std::string& op = entry.application.op;
    const bool fits =
        (!entry.deprecated || arguments.flag("deprecated")) &&
        (subjects.empty() || subjects.contains(entry.subject)) &&
        (operators.empty() || operators.contains(op) || operators.contains(abbreviation(op))) &&
        (categories.empty() || categories.contains(entry.category)) &&
        (types.empty() || std::any_of(own.begin(), own.end(),
                                      [&](const auto& type) { return types.contains(type); }));
    if (fits) chosen.push_back(&entry);
  }
  return chosen;
}

/// The one entry of `diff`, `similar`, `checkout`.
EntryAddress one_entry(const Benchmark& benchmark, const Arguments& arguments) {
  if (arguments.positional.size() != 3)
    throw usage_error("found " + std::to_string(arguments.positional.size() - 2) +
                      " entries; allowed: one");
  return find_entry(benchmark, arguments.positional[2]);
}

std::string site_text(const BenchmarkEntry& entry) {
  const Site site = entry.application.site;
  return site == kWholeProgram ? entry.place : entry.place + " " + std::to_string(site);
}

std::string symptoms_text(const BenchmarkEntry& entry) {
  std::vector<std::string> texts;
  for (const Symptom& symptom : entry.symptoms)
    texts.push_back(symptom.name + " " + rounded(symptom.value));
  return texts.empty() ? "-" : join(texts);
}

std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

/// Operators without an active entry, each with what the subjects say.
Json kinds_without(const Benchmark& benchmark) {
  std::set<std::string> with;
  for (const BenchmarkEntry& entry : benchmark.entries)
    if (!entry.deprecated) with.insert(entry.application.op);
  Json kinds = Json::object();
  for (const NoEntry& none : benchmark.without) {
    if (with.contains(none.op)) continue;
    kinds[none.op].push_back(
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

int list(const Benchmark& benchmark, const Arguments& arguments) {
  const Entries entries = chosen_entries(benchmark, arguments);
  if (as_json(arguments)) {
    Json json = Json::array();
    for (const BenchmarkEntry* entry : entries) json.push_back(full_view(benchmark, *entry));
    std::cout << to_text(json);
    return 0;
  }
  TextTable table({"id", "subject", "name", "site", "faults", "category", "type", "support",
                   "fixed", "buggy", "d"});
  for (const BenchmarkEntry* entry : entries) {
    table.add({std::to_string(entry->id) + (entry->deprecated ? " (deprecated)" : ""),
               entry->subject, entry->name, site_text(*entry), to_string(entry->faults),
               or_dash(entry->category), or_dash(entry->bug_type), std::to_string(entry->support),
               rounded(mean(subject_of(benchmark, *entry).metrics)), rounded(mean(entry->metrics)),
               rounded(entry->verdict.d)});
  }
  std::cout << table.text();
  return 0;
}

std::string entry_text(const Benchmark& benchmark, const BenchmarkEntry& entry) {
  const BenchmarkSubject& subject = subject_of(benchmark, entry);
  std::string text;
  const auto line = [&](const std::string& name, const std::string& value) {
    text += name + std::string(name.size() < 14 ? 14 - name.size() : 1, ' ') + value + "\n";
  };
  line("entry", std::to_string(entry.id) + (entry.deprecated ? ", deprecated" : ""));
  line("name", entry.name);
  line("subject", subject.id + ": " + subject.title);
  line("source", subject.source);
  line("licence", subject.licence);
  line("mutation",
       to_string(entry.application) +
           (entry.application.seed != 0 ? ", seed " + std::to_string(entry.application.seed) : ""));
  line("place", site_text(entry));
  line("faults", to_string(entry.faults));
  line("category", or_dash(entry.category));
  line("bug type", or_dash(entry.bug_type));
  line("support", std::to_string(entry.support));
  line("test", subject.metric + " of " + std::to_string(subject.metrics.size()) +
                   " runs on the test rows: fixed " + rounded(mean(subject.metrics)) + ", buggy " +
                   rounded(mean(entry.metrics)) + ", p " + rounded(entry.verdict.p) + ", d " +
                   rounded(entry.verdict.d) + " (fails: p < " + shortest(kKillLevel) +
                   ", |d| >= " + shortest(kKillEffect) + ")");
  line("symptoms", symptoms_text(entry));
  line("triviality", entry.triviality ? rounded(*entry.triviality) : "-");
  line("alternatives", entry.alternatives ? std::to_string(*entry.alternatives) : "not known");
  line("hashes", to_string(entry.buggy) + " buggy, " + to_string(entry.fixed) + " fixed");
  return text;
}

int info(Benchmark& benchmark, const Arguments& arguments) {
  if (arguments.has("network")) {
    const std::vector<std::string>& stores = arguments.list("network");
    if (add_alternatives(benchmark, {stores.begin(), stores.end()}) == 0)
      std::cerr << "neutra: no entry's search is finished in " << join(stores) << '\n';
  }
  if (arguments.positional.size() > 2) {
    const Entries entries = chosen_entries(benchmark, arguments);
    Json json = Json::array();
    std::string text;
    for (const BenchmarkEntry* entry : entries) {
      json.push_back(full_view(benchmark, *entry));
      text += (text.empty() ? "" : "\n") + entry_text(benchmark, *entry);
    }
    std::cout << (as_json(arguments) ? to_text(json) : text);
    return 0;
  }
  const Json kinds = kinds_without(benchmark);
  std::map<std::string, std::size_t> by_subject, by_category, by_operator;
  std::size_t active = 0;
  for (const BenchmarkEntry& entry : benchmark.entries) {
    if (entry.deprecated) continue;
    ++active;
    ++by_subject[entry.subject];
    ++by_category[or_dash(entry.category)];
    ++by_operator[entry.application.op];
  }
  if (as_json(arguments)) {
    Json subjects = Json::array();
    for (const BenchmarkSubject& subject : benchmark.subjects) {
      subjects.push_back({{"id", subject.id},
                          {"title", subject.title},
                          {"source", subject.source},
                          {"licence", subject.licence},
                          {"metric", subject.metric},
                          {"goal", to_string(subject.goal)},
                          {"runs", subject.metrics.size()},
                          {"mean", json_number(mean(subject.metrics))},
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
            << by_operator.size() << " fault kinds\n\n";
  TextTable subjects({"subject", "entries", "metric", "mean", "runs", "licence", "title"});
  for (const BenchmarkSubject& subject : benchmark.subjects)
    subjects.add({subject.id, std::to_string(by_subject[subject.id]), subject.metric,
                  rounded(mean(subject.metrics)), std::to_string(subject.metrics.size()),
                  subject.licence, subject.title});
  TextTable categories({"category", "entries"});
  for (const auto& [category, count] : by_category)
    categories.add({category, std::to_string(count)});
  std::cout << subjects.text() << '\n' << categories.text() << kinds_text(kinds);
  return 0;
}

int diff(const Benchmark& benchmark, const Arguments& arguments) {
  const BenchmarkEntry& entry = *one_entry(benchmark, arguments).entry;
  const Json& fixed = subject_of(benchmark, entry).program.document;
  if (as_json(arguments)) {
    const Json buggy = program_of(benchmark, entry, EntryVersion::kBuggy).document;
    std::cout << to_text({{"entry", entry.id},
                          {"faults", to_string(entry.faults)},
                          {"fixed_to_buggy", entry.change},
                          {"buggy_to_fixed", json_patch(buggy, fixed)}});
  } else {
    std::cout << to_string(entry.faults) << ", fixed -> buggy:\n"
              << patch_text(fixed, entry.change);
  }
  return 0;
}

int similar(const Benchmark& benchmark, const Arguments& arguments) {
  const BenchmarkEntry& entry = *one_entry(benchmark, arguments).entry;
  Json json = Json::array();
  TextTable table({"points", "id", "subject", "name", "site", "faults"});
  for (const auto& [other, points] : similar_entries(benchmark, entry)) {
    json.push_back({{"points", points},
                    {"id", other->id},
                    {"subject", other->subject},
                    {"name", other->name},
                    {"operator", other->application.op},
                    {"place", other->place},
                    {"faults", to_string(other->faults)}});
    table.add({std::to_string(points), std::to_string(other->id), other->subject, other->name,
               site_text(*other), to_string(other->faults)});
  }
  std::cout << (as_json(arguments) ? to_text(json) : table.text());
  return 0;
}

int check_out(const Benchmark& benchmark, const Arguments& arguments) {
  const EntryAddress address = one_entry(benchmark, arguments);
  if (!address.version)
    throw usage_error("found entry '" + arguments.positional[2] +
                      "'; allowed: one version of it, " + std::to_string(address.entry->id) +
                      "b (buggy) or " + std::to_string(address.entry->id) + "f (fixed)");
  if (!arguments.has("work")) throw usage_error("found no --work; allowed: -w FOLDER");
  const fs::path folder = arguments.text("work");
  const std::string warning = neutra::check_out(benchmark, *address.entry, *address.version, folder,
                                                data_path(arguments, folder / "program.json"));
  if (!warning.empty()) std::cerr << "neutra: no arrays for the Keras script: " << warning << '\n';
  if (as_json(arguments)) {
    std::cout << to_text(
        {{"folder", folder.string()},
         {"entry", address.entry->id},
         {"program_version", *address.version == EntryVersion::kBuggy ? "buggy" : "fixed"},
         {"arrays", warning.empty()}});
  } else {
    std::cout << "checked out " << arguments.positional[2] << " into " << folder.string()
              << ": see README.md there\n";
  }
  return 0;
}

Json json_of(const VersionTest& test, bool should_fail) {
  Json metrics = Json::array();
  for (const double value : test.metrics) metrics.push_back(json_number(value));
  return {{"fails", test.fails()},
          {"expected", test.fails() == should_fail},
          {"mean", json_number(mean(test.metrics))},
          {"p", json_number(test.verdict.p)},
          {"d", json_number(test.verdict.d)},
          {"attempts", test.attempts},
          {"status", to_string(test.status)},
          {"message", test.message},
          {"metrics", std::move(metrics)}};
}

/// "fails", "passes, 2 attempts"
std::string text_of(const VersionTest& test) {
  return std::string(test.fails() ? "fails" : "passes") +
         (test.attempts > 1 ? ", " + std::to_string(test.attempts) + " attempts" : "") +
         (test.status > RunStatus::kDiverged ? ", " + std::string(to_string(test.status)) : "");
}

int test(const Benchmark& benchmark, const Arguments& arguments) {
  catch_signals();
  const Entries entries = chosen_entries(benchmark, arguments);
  if (entries.empty()) throw input_error(describe(benchmark.name, "", "no entry", "some to test"));
  const TemporaryFolder folder("neutra-bench");
  write_data(benchmark, nullptr, folder.path());
  const auto trainer = make_trainer(arguments, folder.path() / "program.json");
  BenchmarkTestOptions options;
  options.seed = static_cast<std::uint64_t>(arguments.integer("seed"));
  options.retries = static_cast<int>(arguments.integer("retries"));
  options.workers = worker_count(arguments);
  options.stop = &stop_requested();
  BenchmarkTest result;
  {
    ProgressLine progress(arguments.flag("quiet"), "bench test");
    options.progress = [&](std::size_t done, std::size_t count) {
      progress.update(static_cast<double>(done) / static_cast<double>(count),
                      std::to_string(done) + " of " + std::to_string(count) + " trainings");
    };
    result = test_entries(benchmark, entries, options, *trainer);
  }
  const auto passed = static_cast<std::size_t>(
      std::count_if(result.entries.begin(), result.entries.end(),
                    [&](const EntryTest& entry) { return result.passes(entry); }));
  const bool all = passed == result.entries.size();
  const Json kinds = kinds_without(benchmark);
  if (as_json(arguments)) {
    Json list = Json::array();
    for (const EntryTest& entry : result.entries)
      list.push_back({{"id", entry.entry->id},
                      {"subject", entry.subject},
                      {"name", entry.entry->name},
                      {"passed", result.passes(entry)},
                      {"buggy", json_of(entry.buggy, true)},
                      {"fixed", json_of(result.fixed.at(entry.subject), false)}});
    std::cout << to_text({{"benchmark", benchmark.name},
                          {"seed", options.seed},
                          {"passed", passed},
                          {"total", result.entries.size()},
                          {"entries", std::move(list)},
                          {"without", kinds}});
  } else {
    TextTable table(
        {"id", "subject", "name", "buggy", "mean", "p", "d", "fixed", "mean", "p", "d", "result"});
    for (const EntryTest& entry : result.entries) {
      const VersionTest& fixed = result.fixed.at(entry.subject);
      table.add({std::to_string(entry.entry->id), entry.subject, entry.entry->name,
                 text_of(entry.buggy), rounded(mean(entry.buggy.metrics)),
                 rounded(entry.buggy.verdict.p), rounded(entry.buggy.verdict.d), text_of(fixed),
                 rounded(mean(fixed.metrics)), rounded(fixed.verdict.p), rounded(fixed.verdict.d),
                 result.passes(entry) ? "as it should" : "NOT as it should"});
    }
    std::cout << table.text() << "\n"
              << passed << " of " << result.entries.size()
              << " entries as they should be: the buggy version fails, the fixed one passes\n";
    if (arguments.positional.size() == 2) std::cout << kinds_text(kinds);
  }
  return static_cast<int>(all ? Exit::kDone : Exit::kFailed);
}

int export_entries(const Benchmark& benchmark, const Arguments& arguments) {
  const std::string format = chosen_format(arguments);
  const Entries entries = chosen_entries(benchmark, arguments);
  if (format == "json") {
    Json json = Json::array();
    for (const BenchmarkEntry* entry : entries) {
      Json view = full_view(benchmark, *entry);
      view["fixed_program"] = program_of(benchmark, *entry, EntryVersion::kFixed).document;
      view["buggy_program"] = program_of(benchmark, *entry, EntryVersion::kBuggy).document;
      json.push_back(std::move(view));
    }
    put_result(arguments, to_text(json));
  } else if (format == "fault") {
    if (!arguments.has("output"))
      throw usage_error("found no --output; allowed: -o FOLDER for fault files");
    const fs::path folder = arguments.text("output");
    fs::create_directories(folder);
    for (const BenchmarkEntry* entry : entries) {
      write_file_atomically(folder / (fault_id(benchmark, *entry) + ".json"),
                            to_text(fault_file(benchmark, *entry)));
      write_data(benchmark, &subject_of(benchmark, *entry), folder);
    }
    std::cerr << "neutra: " << entries.size() << " faults in " << folder.string() << '\n';
  } else {
    put_result(arguments, to_csv(benchmark, entries));
  }
  return 0;
}

int validate(const fs::path& file, const Arguments& arguments) {
  std::vector<std::string> problems;
  std::size_t entries = 0;
  try {
    const Benchmark benchmark =
        benchmark_from_files(read_benchmark_files(file), file.string(), &problems);
    entries = benchmark.entries.size();
    if (problems.empty()) problems = check_benchmark(benchmark);
  } catch (const Error& error) {
    if (!is_benchmark(file)) throw;  // there is none
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

int create(const Arguments& arguments) {
  if (arguments.positional.size() != 2)
    throw usage_error("found " + std::to_string(arguments.positional.size() - 1) +
                      " plans; allowed: one");
  if (!arguments.has("output"))
    throw usage_error("found no --output; allowed: -o FILE.h5 or -o FOLDER");
  const fs::path output = arguments.text("output");
  require_writable_folder(output.has_parent_path() ? output.parent_path() : ".", "--output");
  const bool fresh = arguments.flag("fresh");
  if (is_benchmark(output) && !fresh && !arguments.has("extend"))
    throw input_error(describe("--output", "", output.string() + ", a benchmark",
                               "a name that is still free; --extend " + output.string() +
                                   " to go on from it; --fresh to begin anew"));
  const BenchmarkPlan plan = load_benchmark_plan(arguments.positional[1]);
  std::optional<Benchmark> earlier;
  if (arguments.has("extend")) earlier = load_benchmark(arguments.text("extend"));

  catch_signals();
  BenchmarkBuild build;
  build.trainer = [&](const fs::path& file) { return make_trainer(arguments, file); };
  build.data_path = [&](const fs::path& file) { return data_path(arguments, file); };
  const bool kept = arguments.has("store");
  build.runs = kept ? fs::path(arguments.text("store")) : fs::path(output.string() + ".runs");
  fs::create_directories(build.runs);
  build.fresh = fresh;
  build.command = "neutra bench create " + plan.name;
  build.environment = {{"neutra", version()}, {"tensorflow", kTensorFlow}};
  build.workers = worker_count(arguments);
  build.stop = &stop_requested();
  std::optional<ProgressLine> line;
  const bool quiet = arguments.flag("quiet");
  build.stage = [&](const std::string& text) {
    line.reset();
    if (!quiet) std::cerr << text << '\n';
    line.emplace(quiet, text);
  };
  build.progress = [&](std::size_t done, std::size_t known) {
    if (line)
      line->update(-1, std::to_string(done) + " of " + std::to_string(known) +
                           " trainings known to be needed");
  };
  Benchmark benchmark = build_benchmark(plan, earlier ? &*earlier : nullptr, build);
  line.reset();
  if (arguments.has("network")) {
    const std::vector<std::string>& stores = arguments.list("network");
    add_alternatives(benchmark, {stores.begin(), stores.end()});
  }
  const BenchmarkFiles files = to_files(benchmark);
  if (const auto problems = check_benchmark(benchmark_from_files(files, output.string()));
      !problems.empty())
    throw failure("the benchmark is not sound: " + problems.front());
  write_benchmark_files(files, output);
  if (!kept) fs::remove_all(build.runs);

  std::set<std::string> subjects, operators;
  std::size_t active = 0, deprecated = 0;
  for (const BenchmarkEntry& entry : benchmark.entries) {
    ++(entry.deprecated ? deprecated : active);
    if (entry.deprecated) continue;
    subjects.insert(entry.subject);
    operators.insert(entry.application.op);
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
              << " fault kinds on " << subjects.size() << " subjects, " << deprecated
              << " deprecated\n";
  }
  return 0;
}

int run(const Arguments& arguments) {
  const std::string& action = arguments.positional[0];
  if (const std::string format = chosen_format(arguments);
      action != "export" && (format == "csv" || format == "fault"))
    throw usage_error("--format: found " + format + "; allowed: text, json; with export all");
  if (action == "create") return create(arguments);
  using Action = int (*)(const Benchmark&, const Arguments&);
  static const std::map<std::string, Action> actions{{"checkout", check_out},    {"diff", diff},
                                                     {"export", export_entries}, {"list", list},
                                                     {"similar", similar},       {"test", test}};
  const auto found = actions.find(action);
  if (found == actions.end() && action != "info" && action != "validate")
    throw usage_error(
        "found action '" + action +
        "'; allowed: checkout, create, diff, export, info, list, similar, test, validate");
  const fs::path file = arguments.positional[1];
  if (action == "validate") return validate(file, arguments);
  Benchmark benchmark = load_benchmark(file);
  return action == "info" ? info(benchmark, arguments) : found->second(benchmark, arguments);
}

}  // namespace

Verb bench_verb() {
  return {
      "bench",
      "make and use benchmarks of faulty models",
      "bench create PLAN -o FILE.h5|FOLDER [options]\n"
      "       neutra bench list|info|test|export BENCHMARK [ENTRY ...] [options]\n"
      "       neutra bench diff|similar BENCHMARK ENTRY | bench checkout BENCHMARK ENTRYb|ENTRYf "
      "-w "
      "FOLDER\n"
      "       neutra bench validate BENCHMARK",
      {{"backend", "category", "data-dir", "deprecated", "extend", "fault-type", "fresh", "memory",
        "network", "operator", "output", "retries", "seed", "store", "subject", "work", "workers"},
       2,
       100000,
       "ACTION PLAN|BENCHMARK [ENTRY ...]",
       {"text", "csv", "json", "fault"}},
      "create: mutates and trains the subjects of a plan (a file, or bundled: kinds, small, "
      "bundled) and keeps the faults that\n"
      "the test rows kill; the same command goes on after an interruption. list, info: the entries "
      "and all that is known of\n"
      "them; --network takes stores of finished searches, which tell how many repairs there are. "
      "test: trains both versions\n"
      "anew; exit 1 unless every buggy one fails and every fixed one passes. diff: what the fault "
      "changed. similar: other\n"
      "entries of the same operator or fault type. checkout: one version as a folder with data, "
      "seeds and a Keras script.\n"
      "export: --format csv, json, or fault: files for neutra search, localise and study. "
      "validate: "
      "every check but\n"
      "training; exit 1 when something is wrong.",
      "  neutra bench create small -o small.h5\n  neutra bench list small.h5 --subject iris\n  "
      "neutra bench test small.h5 3 17\n  neutra bench checkout small.h5 3b -w iris-3b\n  neutra "
      "bench export small.h5 --format fault -o faults",
      run};
}

}  // namespace neutra::cli
