#include "experiments/benchmark/check.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/experiments/benchmark/sample.h"

namespace neutra::experiments::tests {
namespace {

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

}  // namespace
}  // namespace neutra::experiments::tests
