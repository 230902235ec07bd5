#include "experiments/benchmark.h"

#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <iterator>

#include "experiments/benchmark_build.h"
#include "experiments/benchmark_store.h"
#include "experiments/catalog.h"
#include "fl_adapters/tool_folder.h"
#include "mutators/registry.h"
#include "program/error.h"
#include "program/files.h"
#include "program/patch.h"

/// Documents, store and checks of benchmarks; no training.
namespace neutra {
namespace {

namespace fs = std::filesystem;

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput) << error.what();
    return error.what();
  }
  return "";
}

BenchmarkSubject subject(const std::string& id, const std::string& data) {
  const Subject bundled = load_subject(id);
  BenchmarkSubject subject;
  subject.id = id;
  subject.title = bundled.title;
  subject.source = bundled.source;
  subject.licence = bundled.licence;
  subject.program = bundled.space.base();
  subject.rows = {{13}, {3}, 100, true, 0, 1};
  subject.files = {{id + ".h5", data.size(), digest(data), true}};
  subject.data = std::string(32, '1');
  subject.trainer = "none";
  subject.metric = "accuracy";
  subject.metrics = {0.95, 0.97, 0.96, 0.98};
  return subject;
}

void add_entry(Benchmark& benchmark, const std::string& application) {
  const BenchmarkSubject& subject = benchmark.subjects.back();
  BenchmarkEntry entry;
  entry.application = parse_application(application, 7);
  const Mutant mutant = apply_all(subject.program, {entry.application}, &subject.rows);
  entry.id = static_cast<int>(benchmark.entries.size()) + 1;
  entry.name = mutant.name();
  entry.subject = subject.id;
  entry.place = place_of(subject.program, entry.application.site);
  entry.faults = mutant.faults;
  entry.change = json_patch(subject.program.document, mutant.program.document);
  entry.buggy = program_hash(mutant.program);
  entry.fixed = program_hash(subject.program);
  entry.metrics = {0.5, 0.52, 0.51};
  entry.verdict = kill_test(subject.metrics, entry.metrics, {});
  entry.symptoms = {{"metric_drop", 0.455}};
  const FaultKind kind = fault_kind(entry);
  entry.category = kind.category;
  entry.bug_type = kind.bug_type;
  benchmark.entries.push_back(std::move(entry));
  count_support(benchmark.entries);
}

/// Entries 1 to 6: wine 1 to 4, iris 5 and 6.
Benchmark sample() {
  Benchmark benchmark;
  benchmark.name = "sample";
  benchmark.seed = 7;
  benchmark.effect = 2;
  benchmark.environment = {{"neutra", "0.1.0"}, {"tensorflow", ">=2.4"}};
  benchmark.without = {{"wine", "add_bias", true, "1 mutant: 1 refused"}};
  benchmark.data["wine.h5"] = "wine's bytes \n";
  benchmark.data["wine.h5"] += '\0';
  benchmark.subjects.push_back(subject("wine", benchmark.data["wine.h5"]));
  for (const char* op : {"ACH@0=sigmoid", "ACH@3=softmax", "HLR=0.0001", "TCL=50"}) {
    add_entry(benchmark, op);
  }
  benchmark.data["iris.h5"] = "";
  benchmark.subjects.push_back(subject("iris", ""));
  benchmark.subjects.back().rows.x = {4};
  for (const char* op : {"ACH@1=sigmoid", "LRM@1"}) add_entry(benchmark, op);
  return benchmark;
}

TEST(Benchmark, DocumentsReadBack) {
  const Benchmark benchmark = sample();
  EXPECT_EQ(check_benchmark(benchmark), std::vector<std::string>{});
  const BenchmarkFiles files = to_files(benchmark);
  EXPECT_EQ(files.size(), 1u + 2 + 6 + 2);
  EXPECT_EQ(files.count("entries/0006.json"), 1u);
  EXPECT_EQ(to_files(benchmark_from_files(files, "sample")), files);
}

TEST(Benchmark, ChangesAreTheMutationAlone) {
  const Benchmark benchmark = sample();
  EXPECT_EQ(benchmark.entries[0].change.dump(),
            R"([{"op":"replace","path":"/model/config/layers/0/config/activation",)"
            R"("value":"sigmoid"}])");
  EXPECT_EQ(benchmark.entries[5].change.dump(),
            R"([{"op":"remove","path":"/model/config/layers/1"}])");
  for (const BenchmarkEntry& entry : benchmark.entries) {
    EXPECT_EQ(program_hash(program_of(benchmark, entry, EntryVersion::kBuggy)), entry.buggy);
    EXPECT_EQ(program_hash(program_of(benchmark, entry, EntryVersion::kFixed)), entry.fixed);
  }
}

TEST(Benchmark, SupportCountsCauseAndFix) {
  Benchmark benchmark = sample();
  const auto support = [&] {
    std::vector<int> counts;
    for (const BenchmarkEntry& entry : benchmark.entries) counts.push_back(entry.support);
    return counts;
  };
  EXPECT_EQ(support(), (std::vector<int>{3, 3, 1, 1, 3, 1}));
  benchmark.entries[1].deprecated = true;
  count_support(benchmark.entries);
  EXPECT_EQ(support(), (std::vector<int>{2, 0, 1, 1, 2, 1}));
}

TEST(Benchmark, SimilarOnesAreRanked) {
  Benchmark benchmark = sample();
  std::vector<std::pair<int, int>> found;
  const auto look = [&] {
    found.clear();
    for (const auto& [entry, points] : similar_entries(benchmark, benchmark.entries[0])) {
      found.emplace_back(entry->id, points);
    }
  };
  look();
  // Operator 4, fault type 3, place 2, subject 1.
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{2, 10}, {5, 9}}));
  benchmark.entries[1].deprecated = true;
  look();
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{5, 9}}));
}

TEST(Benchmark, Addresses) {
  const Benchmark benchmark = sample();
  EXPECT_EQ(find_entry(benchmark, "3").entry->id, 3);
  EXPECT_FALSE(find_entry(benchmark, "3").version);
  EXPECT_EQ(find_entry(benchmark, "6b").version, EntryVersion::kBuggy);
  EXPECT_EQ(find_entry(benchmark, "6f").version, EntryVersion::kFixed);
  EXPECT_NE(error_of([&] { find_entry(benchmark, "7"); }).find("1 to 6"), std::string::npos);
  for (const char* word : {"", "b", "3x", "-1b", "3bf", "99999999999"}) {
    EXPECT_THROW(find_entry(benchmark, word), Error) << word;
  }
}

TEST(Benchmark, FaultFilesLoad) {
  const Benchmark benchmark = sample();
  const TemporaryFolder folder("neutra-test");
  for (const BenchmarkEntry& entry : benchmark.entries) {
    const fs::path file = folder.path() / (fault_id(benchmark, entry) + ".json");
    write_file_atomically(file, to_text(fault_file(benchmark, entry)));
    const Fault fault = load_fault(file.string());
    EXPECT_EQ(fault.id, fault_id(benchmark, entry));
    EXPECT_EQ(program_hash(fault.buggy), entry.buggy);
    EXPECT_EQ(program_hash(*fault.fixed), entry.fixed);
    EXPECT_EQ(fault.declared, entry.faults);
    EXPECT_EQ(fault.actual, entry.faults);
  }
}

TEST(Benchmark, EveryOperatorHasAKind) {
  const Json kinds = read_json(resource_directory() / "fault_kinds.json");
  std::set<std::string> groups, operators;
  for (const MutationOperator* op : mutation_operators()) {
    BenchmarkEntry entry;
    entry.application.op = op->id;
    const FaultKind kind = fault_kind(entry);
    EXPECT_TRUE(kinds["categories"].contains(kind.category)) << op->id;
    EXPECT_TRUE(kinds["bug_types"].contains(kind.bug_type)) << op->id;
    groups.emplace(to_string(op->group));
    operators.emplace(op->id);
  }
  for (const auto& [name, kind] : kinds["operators"].items()) {
    EXPECT_TRUE(operators.contains(name)) << name;
  }
  BenchmarkEntry diverging;
  diverging.application.op = "change_optimisation_function";
  diverging.symptoms = {{"metric_drop", 0.5}, {"divergence", 0.25}};
  EXPECT_EQ(fault_kind(diverging).category, "training_configuration");
  diverging.symptoms.back().value = 0.75;
  EXPECT_EQ(fault_kind(diverging).category, "numeric_error");
}

TEST(Benchmark, CsvHasALineForEachEntry) {
  const Benchmark benchmark = sample();
  const std::string text = to_csv(benchmark, {&benchmark.entries[0], &benchmark.entries[5]});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_NE(text.find("\n1,active,ACH-0-sigmoid,wine,change_activation_function,0,sigmoid,0,Dense,"
                      "ACH(0),architecture_convention,M,3,accuracy,maximize,4,"),
            std::string::npos)
      << text;
}

// --- the store ---

TEST(BenchmarkStore, FolderAndFileHoldTheSame) {
  const TemporaryFolder folder("neutra-test");
  const BenchmarkFiles files = to_files(sample());
  for (const char* name : {"sample.h5", "sample"}) {
    const fs::path path = folder.path() / name;
    EXPECT_FALSE(is_benchmark(path));
    write_benchmark_files(files, path);
    EXPECT_TRUE(is_benchmark(path));
    EXPECT_EQ(read_benchmark_files(path), files) << name;
    BenchmarkFiles fewer = files;
    write_benchmark_files(fewer, path);  // over itself
    EXPECT_EQ(read_benchmark_files(path), files) << name;
  }
  // Nothing else is left.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
}

TEST(BenchmarkStore, ASeparatorAtTheEndIsNoName) {
  const TemporaryFolder folder("neutra-test");
  const BenchmarkFiles files = to_files(sample());
  write_benchmark_files(files, folder.path() / "sample/");
  EXPECT_EQ(read_benchmark_files(folder.path() / "sample"), files);
  EXPECT_EQ(read_benchmark_files(folder.path() / "sample/"), files);
  write_benchmark_files(files, folder.path() / "sample/");
  write_benchmark_files(files, folder.path() / "sample.h5/");
  EXPECT_TRUE(fs::is_regular_file(folder.path() / "sample.h5"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 2);
  for (const auto& [given, path] : {std::pair{"a/", "a"}, {"a//", "a"}, {"a", "a"}, {"/", "/"}}) {
    EXPECT_EQ(benchmark_path(given), path);
  }
}

TEST(BenchmarkStore, AFolderThatCannotBeReplacedStays) {
  const TemporaryFolder folder("neutra-test");
  const fs::path path = folder.path() / "sample";
  write_benchmark_files(to_files(sample()), path);
  TemporaryFolder fresh(folder.path(), "fresh");
  fs::remove_all(fresh.path());
  EXPECT_THROW(fresh.replace(path), Error);
  EXPECT_EQ(read_benchmark_files(path), to_files(sample()));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()), 1);
}

TEST(BenchmarkStore, EqualContentsGiveEqualBytes) {
  const TemporaryFolder folder("neutra-test");
  std::string bytes[2];
  for (int i = 0; i < 2; ++i) {
    const fs::path path = folder.path() / (std::to_string(i) + ".h5");
    write_benchmark_files(to_files(sample()), path);
    bytes[i] = read_regular_file(path, "");
  }
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(BenchmarkStore, AnyChangedByteOfTheFileIsFound) {
  Benchmark benchmark = sample();
  benchmark.entries.resize(1);
  benchmark.entries[0].support = 1;
  const TemporaryFolder folder("neutra-test");
  const fs::path path = folder.path() / "a.h5";
  write_benchmark_files(to_files(benchmark), path);
  const std::string bytes = read_regular_file(path, "");
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  const auto put = [&](std::size_t at, char byte) {
    file.seekp(static_cast<std::streamoff>(at));
    file.put(byte);
    file.flush();
  };
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    put(i, static_cast<char>(bytes[i] ^ (i % 2 == 0 ? 0x01 : 0x20)));
    ASSERT_FALSE(error_of([&] { load_benchmark(path); }).empty()) << "byte " << i;
    put(i, bytes[i]);
  }
  file.close();
  EXPECT_NO_THROW(load_benchmark(path));
  for (std::size_t length = 0; length < bytes.size(); length += 101) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes.substr(0, length);
    ASSERT_FALSE(error_of([&] { load_benchmark(path); }).empty()) << length << " bytes";
  }
}

TEST(BenchmarkStore, AnyChangedByteOfTheFolderIsFound) {
  Benchmark benchmark = sample();
  benchmark.entries.resize(1);
  benchmark.entries[0].support = 1;
  const TemporaryFolder folder("neutra-test");
  const fs::path path = folder.path() / "a";
  write_benchmark_files(to_files(benchmark), path);
  std::size_t files = 0;
  for (const auto& item : fs::recursive_directory_iterator(path)) {
    if (!item.is_regular_file()) continue;
    ++files;
    const std::string bytes = read_regular_file(item.path(), "");
    std::fstream file(item.path(), std::ios::in | std::ios::out | std::ios::binary);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      for (const char byte : {static_cast<char>(bytes[i] ^ (i % 2 == 0 ? 0x01 : 0x20)), bytes[i]}) {
        file.seekp(static_cast<std::streamoff>(i));
        file.put(byte);
        file.flush();
        const bool damaged = byte != bytes[i];
        ASSERT_EQ(!error_of([&] { load_benchmark(path); }).empty(), damaged)
            << item.path() << ", byte " << i;
      }
    }
  }
  EXPECT_EQ(files, 1u + 1 + 2 + 1 + 2);  // index, its digest, subjects, entry, data
  std::ofstream(path / "stray.json") << "{}";
  EXPECT_NE(error_of([&] { load_benchmark(path); }).find("stray.json"), std::string::npos);
  fs::remove(path / "stray.json");
  fs::remove(path / "subjects/wine.json");
  EXPECT_NE(error_of([&] { load_benchmark(path); }).find("subjects/wine.json"), std::string::npos);
}

TEST(BenchmarkStore, NeverOverwritesAnythingElse) {
  const TemporaryFolder folder("neutra-test");
  const BenchmarkFiles files = to_files(sample());
  std::ofstream(folder.path() / "text.h5") << "mine";
  fs::create_directories(folder.path() / "mine");
  std::ofstream(folder.path() / "mine" / "text") << "mine";
  for (const char* name : {"text.h5", "mine"}) {
    EXPECT_NE(
        error_of([&] { write_benchmark_files(files, folder.path() / name); }).find("no benchmark"),
        std::string::npos);
  }
  EXPECT_EQ(read_regular_file(folder.path() / "text.h5", ""), "mine");
  EXPECT_TRUE(fs::exists(folder.path() / "mine" / "text"));
  fs::create_directories(folder.path() / "empty");
  write_benchmark_files(files, folder.path() / "empty");
  EXPECT_TRUE(is_benchmark(folder.path() / "empty"));
}

// --- validation ---

/// Problems of the sample after a change of its documents, whose digests are set right again.
std::vector<std::string> problems_after(const std::function<void(Benchmark&)>& change) {
  Benchmark benchmark = sample();
  change(benchmark);
  std::vector<std::string> problems;
  const Benchmark read = benchmark_from_files(to_files(benchmark), "sample", &problems);
  if (problems.empty()) problems = check_benchmark(read);
  return problems;
}

TEST(BenchmarkValidation, FindsEachKindOfMistake) {
  const std::vector<std::pair<std::string, std::function<void(Benchmark&)>>> mistakes{
      {"/fixed: found", [](Benchmark& b) { b.entries[0].fixed.low ^= 1; }},
      {"/buggy: found", [](Benchmark& b) { b.entries[0].buggy.low ^= 1; }},
      {"/faults: found HLR", [](Benchmark& b) { b.entries[0].faults = b.entries[2].faults; }},
      {"/name: found other", [](Benchmark& b) { b.entries[0].name = "other"; }},
      {"/place: found Dropout", [](Benchmark& b) { b.entries[0].place = "Dropout"; }},
      {"/category: found", [](Benchmark& b) { b.entries[0].category = "api_misuse"; }},
      {"/bug_type: found", [](Benchmark& b) { b.entries[0].bug_type = "A"; }},
      {"/support: found 9", [](Benchmark& b) { b.entries[0].support = 9; }},
      {"/test/p: found", [](Benchmark& b) { b.entries[0].verdict.p = 0.01; }},
      {"/test/d: found", [](Benchmark& b) { b.entries[0].verdict.d *= 2; }},
      {"/test/power: found", [](Benchmark& b) { b.entries[0].verdict.power = 0.5; }},
      {"/test: found p = ",
       [](Benchmark& b) {
         b.entries[0].metrics = {0.95, 0.97, 0.96};
         b.entries[0].verdict = kill_test(b.subjects[0].metrics, b.entries[0].metrics, {});
       }},
      {"another program than change_activation_function@0=tanh makes",
       [](Benchmark& b) { b.entries[0].application.value = "tanh"; }},
      {"/change", [](Benchmark& b) { b.entries[0].change[0]["path"] = "/model/nothing/here"; }},
      {"the program of an earlier entry",
       [](Benchmark& b) {
         const int id = b.entries[1].id;
         b.entries[1] = b.entries[0];
         b.entries[1].id = id;
       }},
      {"entries without gaps", [](Benchmark& b) { b.entries.erase(b.entries.begin() + 2); }},
      {"a subject of the benchmark", [](Benchmark& b) { b.entries[0].subject = "water"; }},
      {"data/wine.h5: found digest", [](Benchmark& b) { b.data["wine.h5"] += "x"; }},
      {"data/wine.h5: found no such file", [](Benchmark& b) { b.data.erase("wine.h5"); }},
      {"data/more.h5: found a file that nothing", [](Benchmark& b) { b.data["more.h5"] = "x"; }},
      {"/licence", [](Benchmark& b) { b.subjects[0].licence = ""; }},
      {"/fit/epochs", [](Benchmark& b) { b.subjects[0].program.document["fit"]["epochs"] = -3; }},
  };
  EXPECT_TRUE(problems_after([](Benchmark&) {}).empty());
  for (const auto& [words, change] : mistakes) {
    const std::vector<std::string> problems = problems_after(change);
    const bool found = std::any_of(
        problems.begin(), problems.end(),
        [&, &words = words](const auto& p) { return p.find(words) != std::string::npos; });
    EXPECT_TRUE(found) << words << " not in "
                       << (problems.empty() ? "no problem" : problems.front());
  }
}

TEST(BenchmarkValidation, DocumentsAreRead) {
  struct Change {
    const char *file, *place;
    Json value;
    const char* words;
  };
  const std::vector<Change> changes{
      {"entries/0001.json", "/mutation/operator", "no_such_operator", "no_such_operator"},
      {"entries/0001.json", "/id", 2, "entries/0001.json: /id: found 2"},
      {"entries/0001.json", "/id", -1, "entries/0001.json: /id: found -1"},
      {"entries/0001.json", "/status", "gone", "active, deprecated"},
      {"entries/0001.json", "/more", 1, "an unknown field"},
      {"entries/0001.json", "/change", Json::array(), "a JSON Patch"},
      {"entries/0001.json", "/change/0", 3, "a JSON Patch"},
      {"entries/0001.json", "/buggy", "0", "32 hex digits"},
      {"entries/0001.json", "/faults", "XYZ", "unknown fault type"},
      {"entries/0001.json", "/test/p", "much", "a number"},
      {"entries/0001.json", "/symptoms/0/value", "much", "/symptoms/0"},
      {"subjects/wine.json", "/goal", "more", "maximize, minimize"},
      {"subjects/wine.json", "/rows/x", Json::array({0}), "/rows/x/0"},
      {"subjects/wine.json", "/files/0/name", "../../wine.h5", "the relative name of a file"},
      {"subjects/wine.json", "/version", 2, "/version: found 2"}};
  for (const auto& [name, place, value, words] : changes) {
    BenchmarkFiles files = to_files(sample());
    Json document = parse_json(files[name], name);
    document[Json::json_pointer(place)] = value;
    files[name] = to_text(document);
    Json index = parse_json(files["benchmark.json"], "index");
    for (Json& file : index["files"]) {
      if (file["name"] != name) continue;
      file["bytes"] = files[name].size();
      file["digest"] = digest(files[name]);
    }
    files["benchmark.json"] = to_text(index);
    std::vector<std::string> problems;
    const Benchmark read = benchmark_from_files(files, "sample", &problems);
    if (problems.empty()) problems = check_benchmark(read);
    ASSERT_FALSE(problems.empty()) << words;
    EXPECT_NE(problems.front().find(words), std::string::npos) << words << ": " << problems.front();
    EXPECT_NE(problems.front().find(name), std::string::npos) << problems.front();
  }
}

TEST(BenchmarkValidation, NamesAllMistakesAtOnce) {
  EXPECT_EQ(problems_after([](Benchmark& b) {
              b.entries[0].support = 9;
              b.entries[3].name = "other";
              b.entries[5].verdict.p = 0.01;
            }).size(),
            3u);
}

TEST(BenchmarkValidation, WhatIsNoBenchmarkIsSaid) {
  const auto read = [](const std::string& index) {
    return error_of([&] { benchmark_from_files({{"benchmark.json", index}}, "b"); });
  };
  EXPECT_NE(read("{").find("b: benchmark.json"), std::string::npos);
  EXPECT_NE(read("[]").find("an object"), std::string::npos);
  EXPECT_NE(read(R"({"format": "neutra-study"})").find("neutra-benchmark"), std::string::npos);
  EXPECT_NE(read(R"({"formt": ""})").find("did you mean format"), std::string::npos);
  EXPECT_NE(error_of([] { benchmark_from_files({}, "b"); }).find("benchmark.json"),
            std::string::npos);
  for (const char* name : {"", "/etc/x", "../x", "a/../b", "a//b", ".hidden", "a b", "a/"}) {
    EXPECT_FALSE(is_file_name(name)) << name;
  }
  EXPECT_TRUE(is_file_name("fashion-mnist/train_1.gz"));
}

// --- plans ---

TEST(BenchmarkPlans, BundledOnesLoad) {
  EXPECT_EQ(benchmark_plans(), (std::vector<std::string>{"bundled", "kinds", "small"}));
  for (const std::string& name : benchmark_plans()) {
    const BenchmarkPlan plan = load_benchmark_plan(name);
    EXPECT_EQ(plan.name, name);
    EXPECT_GE(plan.subjects.size(), 6u);
    for (const PlannedSubject& subject : plan.subjects) {
      EXPECT_FALSE(subject.subject.licence.empty()) << subject.subject.id;
    }
  }
  EXPECT_EQ(load_benchmark_plan("kinds").per_kind, 1);
  const BenchmarkPlan bundled = load_benchmark_plan("bundled");
  EXPECT_EQ(bundled.subjects.front().operators, mutation_operators());
  EXPECT_LT(bundled.subjects.back().operators.size(), mutation_operators().size());
}

TEST(BenchmarkPlans, MistakesAreSaid) {
  const TemporaryFolder folder("neutra-test");
  const auto message = [&](const std::string& fields) {
    const fs::path file = folder.path() / "plan.json";
    std::ofstream(file) << R"({"format": "neutra-benchmark-plan", "version": 1)" << fields << "}";
    return error_of([&] { load_benchmark_plan(file.string()); });
  };
  const auto expect = [&](const std::string& fields, const std::string& words) {
    EXPECT_NE(message(fields).find(words), std::string::npos) << message(fields);
  };
  EXPECT_EQ(message(R"(, "subjects": ["iris"])"), "");
  expect("", "subjects");
  expect(R"(, "subjects": ["irs"])", "did you mean iris");
  expect(R"(, "subjects": ["iris", "iris"])", "a second time");
  expect(R"(, "subjects": ["d7"])", "subjects/0/licence");
  expect(R"(, "subjects": [{"subject": "iris", "operators": ["TCX"]}])", "/subjects/0/operators/0");
  expect(R"(, "subjects": ["iris"], "runs": 1)", "/runs");
  expect(R"(, "subjects": ["iris"], "name": "a/b")", "/name");
  expect(R"(, "subjects": ["iris"], "run": 3)", "did you mean runs");
  EXPECT_NE(error_of([] { load_benchmark_plan("smal"); }).find("small"), std::string::npos);
}

}  // namespace
}  // namespace neutra
