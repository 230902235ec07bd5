#include "experiments/benchmark/benchmark.h"
#include "base/numbers.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <functional>
#include <iterator>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "experiments/benchmark/build.h"
#include "experiments/benchmark/check.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/fault_kinds.h"
#include "experiments/benchmark/relations.h"
#include "experiments/benchmark/store.h"
#include "experiments/benchmark/views.h"
#include "experiments/catalog.h"
#include "mutators/registry.h"
#include "program/patch.h"
#include "training/data/dataset.h"

/// Documents, store and checks of benchmarks; no training.
namespace neutra::experiments {
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

/// Rows of three classes as CSV.
std::string csv_of(std::size_t features) {
  std::string text;
  for (std::size_t row = 0; row < 30; ++row) {
    for (std::size_t i = 0; i < features; ++i) text += std::to_string(row * (i + 3) % 7) + ",";
    text += std::to_string(row % 3) + "\n";
  }
  return text;
}

/// Adds a bundled subject on other rows, which are in the benchmark.
void add_subject(Benchmark& benchmark, const std::string& id, std::size_t features) {
  const Subject bundled = load_subject(id);
  BenchmarkSubject subject;
  subject.id = id;
  subject.title = bundled.title;
  subject.source = bundled.source;
  subject.licence = bundled.licence;
  subject.program = bundled.space.base();
  Json& data = subject.program.document["data"];
  data["source"] = "csv";
  data["arguments"] = {{"file", id + ".csv"}};
  const std::string bytes = csv_of(features);
  subject.files = {{id + ".csv", bytes.size(), digest(bytes), true}};
  benchmark.data[id + ".csv"] = bytes;
  const TemporaryFolder folder("neutra-test");
  write_file_atomically(folder.path() / (id + ".csv"), bytes);
  const auto rows = training::load_dataset(data, {folder.path()});
  subject.rows = rows->info();
  subject.data = to_string(digest(*rows));
  subject.trainer = "none";
  subject.metric = "accuracy";
  subject.metrics = {0.95, 0.97, 0.96, 0.98};
  benchmark.subjects.push_back(std::move(subject));
}

void add_entry(Benchmark& benchmark, const std::vector<std::string>& applications) {
  const BenchmarkSubject& subject = benchmark.subjects.back();
  BenchmarkEntry entry;
  for (const std::string& text : applications) {
    entry.applications.push_back(mutators::parse_application(text, 7));
  }
  const mutators::Mutant mutant =
      mutators::apply_all(subject.program, entry.applications, &subject.rows);
  entry.id = static_cast<int>(benchmark.entries.size()) + 1;
  entry.name = mutant.name();
  entry.subject = subject.id;
  entry.place = place_of(subject.program, entry.applications, &subject.rows);
  entry.faults = mutant.faults;
  entry.change = program::json_patch(subject.program.document, mutant.program.document);
  entry.buggy = program::program_hash(mutant.program);
  entry.fixed = program::program_hash(subject.program);
  entry.metrics = {0.5, 0.52, 0.51, 0.53};
  entry.verdict = evaluators::kill_test(subject.metrics, entry.metrics, {});
  entry.symptoms = {{"metric_drop", 0.45}, {"reduced_capacity", 0.8}};
  const FaultKind kind = fault_kind(entry);
  entry.category = kind.category;
  entry.bug_type = kind.bug_type;
  benchmark.entries.push_back(std::move(entry));
  count_support(benchmark.entries);
}

/// Entries 1 to 7: wine 1 to 5, iris 6 and 7. Number 5 has two operators.
Benchmark sample() {
  Benchmark benchmark;
  benchmark.name = "sample";
  benchmark.seed = 7;
  benchmark.effect = 2;
  benchmark.environment = {{"neutra", "0.1.0"}, {"tensorflow", ">=2.4"}};
  benchmark.without = {{"wine", "add_bias", "", true, "1 mutant: 1 refused"},
                       {"iris", "", "T21-01", true, "1 mutant: 1 refused"}};
  add_subject(benchmark, "wine", 13);
  for (const char* op : {"ACH@0=sigmoid", "ACH@3=softmax", "HLR=0.0001", "TCL=50"}) {
    add_entry(benchmark, {op});
  }
  add_entry(benchmark, {"remove_preprocessing=0", "remove_layer@2"});
  benchmark.entries.back().catalogue = "T21-10";
  add_subject(benchmark, "iris", 4);
  for (const char* op : {"ACH@1=sigmoid", "LRM@1"}) add_entry(benchmark, {op});
  return benchmark;
}

/// Replaces a document; the index has the right digest.
void set_document(BenchmarkFiles& files, const std::string& name, const Json& document) {
  files[name] = to_text(document);
  Json index = parse_json(files["benchmark.json"], "index");
  for (Json& file : index["files"]) {
    if (file["name"] != name) continue;
    file["bytes"] = files[name].size();
    file["digest"] = digest(files[name]);
  }
  files["benchmark.json"] = to_text(index);
}

TEST(Benchmark, DocumentsReadBack) {
  const Benchmark benchmark = sample();
  EXPECT_EQ(check_benchmark(benchmark), std::vector<std::string>{});
  const BenchmarkFiles files = to_files(benchmark);
  EXPECT_EQ(files.size(), 1u + 2 + 7 + 2);
  EXPECT_EQ(files.count("entries/0007.json"), 1u);
  EXPECT_EQ(to_files(benchmark_from_files(files, "sample")), files);
}

TEST(Benchmark, ChangesAreTheMutationAlone) {
  const Benchmark benchmark = sample();
  EXPECT_EQ(benchmark.entries[0].change.dump(),
            R"([{"op":"replace","path":"/model/config/layers/0/config/activation",)"
            R"("value":"sigmoid"}])");
  EXPECT_EQ(benchmark.entries[6].change.dump(),
            R"([{"op":"remove","path":"/model/config/layers/1"}])");
  const BenchmarkEntry& both = benchmark.entries[4];
  EXPECT_EQ(both.change.size(), 2u) << both.change;
  EXPECT_EQ(both.place, "program, Dropout");
  EXPECT_EQ(mutation_text(both), "remove_preprocessing=0 + remove_layer@2");
  EXPECT_EQ(to_string(both.faults), "CPP, LRM(2)");
  for (const BenchmarkEntry& entry : benchmark.entries) {
    EXPECT_EQ(program::program_hash(program_of(benchmark, entry, EntryVersion::kBuggy)),
              entry.buggy);
    EXPECT_EQ(program::program_hash(program_of(benchmark, entry, EntryVersion::kFixed)),
              entry.fixed);
  }
}

TEST(Benchmark, SupportCountsCauseAndFix) {
  Benchmark benchmark = sample();
  const auto support = [&] {
    std::vector<int> counts;
    for (const BenchmarkEntry& entry : benchmark.entries) counts.push_back(entry.support);
    return counts;
  };
  EXPECT_EQ(support(), (std::vector<int>{3, 3, 1, 1, 1, 3, 1}));
  benchmark.entries[1].deprecated = true;
  count_support(benchmark.entries);
  EXPECT_EQ(support(), (std::vector<int>{2, 0, 1, 1, 1, 2, 1}));
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
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{2, 10}, {6, 9}}));
  benchmark.entries[1].deprecated = true;
  look();
  EXPECT_EQ(found, (std::vector<std::pair<int, int>>{{6, 9}}));
}

TEST(Benchmark, OneOperatorInCommonIsLikeness) {
  const Benchmark benchmark = sample();
  const auto similar = similar_entries(benchmark, benchmark.entries[4]);
  ASSERT_EQ(similar.size(), 1u);  // the other removed layer: operator 4, fault type 3
  EXPECT_EQ(similar[0].first->id, 7);
  EXPECT_EQ(similar[0].second, 7);
}

TEST(Benchmark, Addresses) {
  const Benchmark benchmark = sample();
  EXPECT_EQ(find_entry(benchmark, "3").entry->id, 3);
  EXPECT_FALSE(find_entry(benchmark, "3").version);
  EXPECT_EQ(find_entry(benchmark, "7b").version, EntryVersion::kBuggy);
  EXPECT_EQ(find_entry(benchmark, "7f").version, EntryVersion::kFixed);
  EXPECT_NE(error_of([&] { find_entry(benchmark, "8"); }).find("1 to 7"), std::string::npos);
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
    EXPECT_EQ(program::program_hash(fault.buggy), entry.buggy);
    EXPECT_EQ(program::program_hash(*fault.fixed), entry.fixed);
    EXPECT_EQ(fault.declared, entry.faults);
    EXPECT_EQ(fault.actual, entry.faults);
  }
}

TEST(Benchmark, EveryOperatorHasAKind) {
  const Json kinds = read_json(resource_directory() / "fault_kinds.json");
  std::set<std::string> groups, operators;
  for (const mutators::MutationOperator* op : mutators::mutation_operators()) {
    BenchmarkEntry entry;
    entry.applications = {{std::string(op->id), mutators::kWholeProgram, Json(), 0}};
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
  diverging.applications = {{"change_optimisation_function", mutators::kWholeProgram, Json(), 0}};
  diverging.symptoms = {{"metric_drop", 0.5}, {"divergence", 0.25}};
  EXPECT_EQ(fault_kind(diverging).category, "training_configuration");
  diverging.symptoms.back().value = 0.75;
  EXPECT_EQ(fault_kind(diverging).category, "numeric_error");
}

TEST(Benchmark, CsvHasALineForEachEntry) {
  Benchmark benchmark = sample();
  benchmark.entries[4].alternatives = KnownRepairs{3, false};
  const std::string text = to_csv(benchmark, {&benchmark.entries[0], &benchmark.entries[4]});
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_TRUE(text.starts_with("id,status,name,catalogue,subject,"));
  EXPECT_NE(text.find("\n1,active,ACH-0-sigmoid,,wine,"), std::string::npos) << text;
  EXPECT_NE(text.find(",change_activation_function,change_activation_function@0=sigmoid,7,Dense,"
                      "ACH(0),architecture_convention,M,3,accuracy,maximize,4,0.965,0.515,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(",metric_drop=0.45 reduced_capacity=0.8,,,,"), std::string::npos) << text;
  EXPECT_NE(text.find(",T21-10,wine,"), std::string::npos) << text;
  EXPECT_NE(text.find(",remove_preprocessing remove_layer,remove_preprocessing=0 remove_layer@2,"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find(",3,false,"), std::string::npos) << text;
}

TEST(Benchmark, FieldsAreThoseOfTheFullView) {
  const Benchmark benchmark = sample();
  const BenchmarkEntry& entry = benchmark.entries[4];
  const Json view = full_view(benchmark, entry);
  EXPECT_EQ(view["apply"], Json::parse(R"(["remove_preprocessing=0", "remove_layer@2"])"));
  std::map<std::string, std::string> fields;
  for (const auto& [name, value] : entry_fields(benchmark, entry)) fields[name] = value;
  EXPECT_EQ(fields["d"], shortest(view["test"]["d"].get<double>()));
  EXPECT_EQ(fields["licence"], view["licence"].get<std::string>());
  EXPECT_EQ(fields["triviality"], "");
}

TEST(Benchmark, OperatorsOfAnotherVersionAreKept) {
  BenchmarkFiles files = to_files(sample());
  const auto rename = [&](const char* status) {
    Json entry = parse_json(files["entries/0003.json"], "entry");
    entry["status"] = status;
    entry["support"] = status == std::string("active") ? 1 : 0;
    entry["mutation"][0]["operator"] = "of_another_version";
    set_document(files, "entries/0003.json", entry);
    return benchmark_from_files(files, "sample");
  };
  const Benchmark deprecated = rename("deprecated");
  EXPECT_EQ(check_benchmark(deprecated), std::vector<std::string>{});
  EXPECT_EQ(to_files(deprecated), files);
  EXPECT_EQ(full_view(deprecated, deprecated.entries[2])["operators"][0], "of_another_version");
  EXPECT_FALSE(similar_entries(deprecated, deprecated.entries[0]).empty());
  const std::vector<std::string> problems = check_benchmark(rename("active"));
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find("entries/0003.json"), std::string::npos) << problems[0];
  EXPECT_NE(problems[0].find("of_another_version"), std::string::npos) << problems[0];
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
  EXPECT_THROW(fresh.become(path, [] {}), Error);
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
         b.entries[0].metrics = {0.95, 0.97, 0.96, 0.98};
         b.entries[0].verdict =
             evaluators::kill_test(b.subjects[0].metrics, b.entries[0].metrics, {});
       }},
      {"another program than change_activation_function@0=tanh makes",
       [](Benchmark& b) { b.entries[0].applications[0].value = "tanh"; }},
      {"/change", [](Benchmark& b) { b.entries[0].change[0]["path"] = "/model/nothing/here"; }},
      {"the program of an earlier entry",
       [](Benchmark& b) {
         const int id = b.entries[1].id;
         b.entries[1] = b.entries[0];
         b.entries[1].id = id;
       }},
      {"entries without gaps", [](Benchmark& b) { b.entries.erase(b.entries.begin() + 2); }},
      {"a subject of the benchmark", [](Benchmark& b) { b.entries[0].subject = "water"; }},
      {"/metric: found mae", [](Benchmark& b) { b.subjects[0].metric = "mae"; }},
      {"/goal: found minimize",
       [](Benchmark& b) { b.subjects[0].goal = program::Goal::kMinimize; }},
      {"/metrics: found 1 runs", [](Benchmark& b) { b.subjects[0].metrics.resize(1); }},
      {"/test/metrics: found 3 runs", [](Benchmark& b) { b.entries[0].metrics.pop_back(); }},
      {"/symptoms/0/value: found 0.4", [](Benchmark& b) { b.entries[0].symptoms[0].value = 0.4; }},
      {"/symptoms/1: found much", [](Benchmark& b) { b.entries[0].symptoms[1].name = "much"; }},
      {"/symptoms/1/value: found 2", [](Benchmark& b) { b.entries[0].symptoms[1].value = 2; }},
      {"/symptoms: found no metric_drop", [](Benchmark& b) { b.entries[0].symptoms.clear(); }},
      {"/test/d: found", [](Benchmark& b) { b.entries[0].metrics.assign(4, std::nan("")); }},
      {"/symptoms/0: found metric_drop",
       [](Benchmark& b) { b.entries[0].metrics.assign(4, std::nan("")); }},
      {"/symptoms: found no divergence",
       [](Benchmark& b) { b.entries[0].metrics.assign(4, std::nan("")); }},
      {"/symptoms/0/value: found 0.5",
       [](Benchmark& b) {
         b.entries[0].metrics.assign(4, std::nan(""));
         b.entries[0].symptoms = {{"divergence", 0.5}};
       }},
      {"/data: found 1111", [](Benchmark& b) { b.subjects[0].data = std::string(32, '1'); }},
      {"/rows: found", [](Benchmark& b) { ++b.subjects[1].rows.training_rows; }},
      {"data file wine.csv not found",
       [](Benchmark& b) {
         b.subjects[0].files.clear();
         b.data.erase("wine.csv");
       }},
      {"/without/0/operator: found nothing", [](Benchmark& b) { b.without[0].op = "nothing"; }},
      {"/without/0/subject: found water", [](Benchmark& b) { b.without[0].subject = "water"; }},
      {"/without/0: found wine without change_label",
       [](Benchmark& b) { b.without[0].op = "change_label"; }},
      {"/name: found \"../../x\"", [](Benchmark& b) { b.name = "../../x"; }},
      {"data/wine.csv: found digest", [](Benchmark& b) { b.data["wine.csv"] += "x"; }},
      {"data/wine.csv: found no such file", [](Benchmark& b) { b.data.erase("wine.csv"); }},
      {"data/more.h5: found a file that nothing", [](Benchmark& b) { b.data["more.h5"] = "x"; }},
      {"/licence", [](Benchmark& b) { b.subjects[0].licence = ""; }},
      {"/fit/epochs", [](Benchmark& b) { b.subjects[0].program.document["fit"]["epochs"] = -3; }},
  };
  EXPECT_TRUE(problems_after([](Benchmark&) {}).empty());
  // An entry all of whose runs diverged is as sound as another.
  const auto diverged = problems_after([](Benchmark& b) {
    BenchmarkEntry& entry = b.entries[0];
    entry.metrics.assign(4, std::nan(""));
    entry.verdict = evaluators::kill_test(b.subjects[0].metrics, entry.metrics, {});
    entry.symptoms = {{"divergence", 1}};
    entry.category = fault_kind(entry).category;
    entry.bug_type = fault_kind(entry).bug_type;
  });
  EXPECT_TRUE(diverged.empty()) << diverged.front();
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
      {"entries/0003.json", "/mutation/0/operator", "no_such_operator", "no_such_operator"},
      {"entries/0001.json", "/mutation", Json::array(), "/mutation: found none"},
      {"entries/0001.json", "/alternatives", 3, "/alternatives: found 3; allowed: an object"},
      {"entries/0001.json", "/triviality", 1.5, "/triviality: found 1.5"},
      {"subjects/wine.json", "/id", "../wine", "1 to 60 letters"},
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
      {"subjects/wine.json", "/files/0/name", "../../wine.csv", "the relative name of a file"},
      {"subjects/wine.json", "/version", 2, "/version: found 2"}};
  for (const auto& [name, place, value, words] : changes) {
    BenchmarkFiles files = to_files(sample());
    Json document = parse_json(files[name], name);
    document[Json::json_pointer(place)] = value;
    set_document(files, name, document);
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
              b.entries[6].verdict.p = 0.01;
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
  EXPECT_EQ(benchmark_plans(),
            (std::vector<std::string>{"bundled", "catalogue", "kinds", "small"}));
  for (const std::string& name : benchmark_plans()) {
    const BenchmarkPlan plan = load_benchmark_plan(name);
    EXPECT_EQ(plan.name, name);
    EXPECT_GE(plan.subjects.size(), 6u);
    for (const PlannedSubject& subject : plan.subjects) {
      EXPECT_FALSE(subject.subject.licence.empty()) << subject.subject.id;
    }
  }
  EXPECT_EQ(load_benchmark_plan("kinds").per_kind, 1);
  std::size_t faults = 0;
  for (const PlannedSubject& subject : load_benchmark_plan("catalogue").subjects) {
    faults += subject.faults.size();
  }
  EXPECT_EQ(faults, 21u + 24 + 13);
  const BenchmarkPlan bundled = load_benchmark_plan("bundled");
  EXPECT_EQ(bundled.subjects.front().operators, mutators::mutation_operators());
  EXPECT_LT(bundled.subjects.back().operators.size(), mutators::mutation_operators().size());
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
  // A catalogue's faults are on subjects of the plan, and are all that is applied.
  std::ofstream(folder.path() / "own.json")
      << R"({"format": "neutra-fault-catalogue", "version": 1, "title": "own", "sections": [
             {"title": "all", "faults": [{"id": "A-1", "fault": "it", "subject": "wine",
                                          "apply": ["change_label=50"]}]}]})";
  const std::string catalogue = R"(, "catalogue": "own.json", "subjects": )";
  EXPECT_EQ(message(catalogue + R"(["wine"])"), "");
  expect(catalogue + R"(["iris"])", "/catalogue: found A-1 on the subject wine");
  expect(catalogue + R"(["wine", "iris"])", "/subjects/1: found iris");
  expect(R"(, "per_kind": 1)" + catalogue + R"(["wine"])", "/per_kind");
}

// --- the catalogue of faults ---

TEST(FaultCatalogue, EveryFaultAppliesToItsSubject) {
  std::set<Hash> programs;
  std::size_t training_bugs = 0;
  for (const CatalogueSection& section : load_fault_catalogue(bundled_fault_catalogue()).sections) {
    for (const CatalogueFault& fault : section.faults) {
      const program::Program program = load_subject(fault.subject).space.base();
      const auto data =
          training::load_dataset(program.document.at("data"), {resource_directory() / "data"});
      const program::DataInfo rows = data->info();
      const mutators::Mutant mutant = mutators::apply_all(program, fault.applications, &rows);
      EXPECT_FALSE(mutant.faults.items.empty()) << fault.id;
      EXPECT_TRUE(programs.insert(program::program_hash(mutant.program)).second) << fault.id;
      training_bugs += fault.id.starts_with("T21-");
    }
  }
  EXPECT_EQ(training_bugs, 21u);
}

TEST(FaultCatalogue, HasAllOperatorsOfLoopsAndOfDataFaults) {
  std::set<std::string> applied;
  for (const CatalogueSection& section : load_fault_catalogue(bundled_fault_catalogue()).sections) {
    for (const CatalogueFault& fault : section.faults) {
      for (const mutators::Application& application : fault.applications)
        applied.insert(application.op);
    }
  }
  for (const mutators::MutationOperator* op : mutators::mutation_operators()) {
    const std::string id(op->id);
    if (op->group == mutators::OperatorGroup::kTrainingLoop ||
        op->group == mutators::OperatorGroup::kPreprocessing) {
      EXPECT_TRUE(applied.contains(id)) << id;
    }
  }
}

TEST(FaultCatalogue, ThePageIsMadeOfIt) {
  const fs::path page = fs::path(NEUTRA_SOURCE_DIR) / "docs/reference/fault_catalogue.md";
  EXPECT_EQ(read_regular_file(page, ""),
            catalogue_page(load_fault_catalogue(bundled_fault_catalogue())))
      << "run scripts/update_docs";
}

TEST(FaultCatalogue, MistakesAreSaid) {
  const TemporaryFolder folder("neutra-test");
  const auto message = [&](const std::string& faults) {
    const fs::path file = folder.path() / "catalogue.json";
    std::ofstream(file) << R"({"format": "neutra-fault-catalogue", "version": 1, "title": "own",
                               "sections": [{"title": "all", "faults": [)"
                        << faults << "]}]}";
    return error_of([&] { load_fault_catalogue(file); });
  };
  const std::string good =
      R"({"id": "A-1", "fault": "it", "subject": "wine", "apply": ["change_label=50"]})";
  EXPECT_EQ(message(good), "");
  for (const auto& [faults, words] : std::vector<std::pair<std::string, std::string>>{
           {good + "," + good, "/sections/0/faults/1/id"},
           {R"({"id": "../A", "fault": "it", "subject": "wine", "apply": ["HNE=1"]})",
            "/faults/0/id"},
           {R"({"id": "A", "fault": "it", "subject": "wine", "apply": []})", "/faults/0/apply"},
           {R"({"id": "A", "fault": "it", "subject": "wine", "apply": ["HNX=1"]})",
            "/faults/0/apply/0"},
           {R"({"id": "A", "subject": "wine", "apply": ["HNE=1"]})", "/faults/0/fault"},
           {R"({"id": "A", "fault": "it", "subjct": "wine", "apply": ["HNE=1"]})",
            "did you mean subject"}}) {
    EXPECT_NE(message(faults).find(words), std::string::npos) << message(faults);
  }
}

}  // namespace
}  // namespace neutra::experiments
