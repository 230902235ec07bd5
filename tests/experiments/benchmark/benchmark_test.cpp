#include "experiments/benchmark/benchmark.h"

#include <gtest/gtest.h>

#include "base/csv_table.h"
#include "base/numbers.h"
#include "experiments/benchmark/check.h"
#include "experiments/benchmark/views.h"
#include "mutators/registry.h"
#include "tests/experiments/benchmark/sample.h"

namespace neutra::experiments::tests {
namespace {

namespace fs = std::filesystem;

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

}  // namespace
}  // namespace neutra::experiments::tests
