// The files of earlier versions: tests/data/compat/README.md.

#include <gtest/gtest.h>

#include <algorithm>
#include <regex>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/count.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

const fs::path kFiles = source_file("tests/data/compat");

std::vector<std::string> versions() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFiles)) {
    if (entry.is_directory()) names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

/// A copy of the files of one version.
class Compat : public testing::TestWithParam<std::string> {
 protected:
  Compat() {
    fs::copy(kFiles / GetParam(), folder.path(), fs::copy_options::recursive);
    setenv("NEUTRA_ISA", "avx2", 1);  // as they were made
  }
  ~Compat() override { unsetenv("NEUTRA_ISA"); }

  Called neutra(const std::vector<std::string>& words) const { return call(words, folder.path()); }
  /// What it prints.
  std::string out(const std::vector<std::string>& words) const {
    const Called called = neutra(words);
    EXPECT_EQ(called.exit, 0) << words[0] << ' ' << words[1] << '\n' << called.out << called.err;
    return called.out;
  }
  Json json(std::vector<std::string> words) const {
    words.emplace_back("--json");
    return parse_json(out(words), "out");
  }
  /// Other libraries train otherwise: then a search or an analysis that is under way doesn't go on,
  /// for the reason that `pattern` says and no other.
  static bool refused(const Called& called, const std::string& pattern) {
    if (called.exit == 0) return false;
    EXPECT_EQ(called.exit, 3) << called.err;
    EXPECT_TRUE(std::regex_search(called.err, std::regex(pattern))) << called.err;
    return true;
  }
  /// Trainings in the file of a mutation analysis.
  std::size_t runs() const { return count(folder.read("mutants.runs"), R"("type":"run")"); }

  const Folder folder;
};

TEST_P(Compat, SearchesAreReadAndGoOn) {
  const std::string network = folder.read("batch/D6.tsv");
  EXPECT_EQ(out({"network", "batch/D6.h5"}), network);
  EXPECT_EQ(out({"network", "batch/D6.tsv"}), network);
  const Json info = json({"store", "info", "batch/D6.h5"});
  EXPECT_EQ(info["evaluations"], 12);
  EXPECT_EQ(info["finished"], true);
  for (const char* store : {"batch/D6.h5", "unfinished.h5"}) {
    EXPECT_EQ(json({"store", "check", store})["sound"], true) << store;
  }
  const Json states = json({"status", "batch", "unfinished.h5"});
  ASSERT_EQ(states["searches"].size(), 2u) << states;
  EXPECT_EQ(states["searches"][0]["state"], "finished");
  EXPECT_EQ(states["searches"][1]["state"], "stopped");
  EXPECT_EQ(json({"collect", "batch"})["searches"].size(), 1u);

  const Json merged = json({"store", "merge", "unfinished.h5", "-o", "merged.h5"});
  EXPECT_GE(merged["trainings"], 6);
  for (const char* store : {"unfinished.h5", "merged.h5"}) {
    const Called called =
        neutra({"search", "D6", "--store", store, "--replicas", "2", "--budget-evaluations", "12",
                "--backend", "eager", "--quiet", "--json"});
    if (refused(called, "made with other options: fingerprint was [^;]*; give")) continue;
    EXPECT_EQ(parse_json(called.out, "out")["counters"]["trainings_from_store"],
              merged["trainings"]);
    EXPECT_EQ(out({"network", store}), network);
  }
}

TEST_P(Compat, StudiesKeepTheirAnswers) {
  const std::string runs = folder.read("study/runs.jsonl");
  out({"study", "study.json", "--folder", "study"});
  EXPECT_EQ(folder.read("study/runs.jsonl"), runs) << "nothing is asked again";
  EXPECT_EQ(json({"score", "--network", "batch/D6.tsv", "--answers", "study/answers.csv"})["scores"]
                .size(),
            1u);
}

TEST_P(Compat, MutationAnalysesKeepTheirRuns) {
  const Json expected = parse_json(folder.read("mutants.json"), "mutants.json");
  const std::size_t before = runs();
  ASSERT_GT(before, 0u);
  const Called called = neutra({"mutate", "program.json", "--operator", "HNE", "--operator", "TCL",
                                "--kill", "--runs", "2", "--store", "mutants.runs", "--json"});
  if (refused(called, "trainer: found [^;]* in the file;")) return;
  const Json again = parse_json(called.out, "out");
  ASSERT_EQ(again["mutants"].size(), expected["mutants"].size());
  for (std::size_t i = 0; i < again["mutants"].size(); ++i) {
    // Later versions say more of a verdict; what was said stays.
    for (const auto& [set, verdict] : expected["mutants"][i]["verdicts"].items())
      for (const auto& [field, value] : verdict.items())
        EXPECT_EQ(again["mutants"][i]["verdicts"][set][field], value) << set << " " << field;
  }
  EXPECT_EQ(runs(), before) << "nothing is trained again";
}

TEST_P(Compat, WhatIsMadeOnceIsRead) {
  EXPECT_EQ(json({"bench", "validate", "benchmark.h5"})["sound"], true);
  EXPECT_EQ(json({"bench", "list", "benchmark.h5"})[0]["faults"], "TCL");
  out({"bench", "checkout", "benchmark.h5", "1b", "-w", "entry"});
  EXPECT_EQ(json({"symptoms", "monitor.h5"})["replicas"].size(), 2u);
  EXPECT_EQ(json({"localise", "program.json", "--tool", "deepfd", "--deepfd-model", "deepfd.json",
                  "--runs", "1"})["tools"][0]["runs"]
                .size(),
            1u);
}

INSTANTIATE_TEST_SUITE_P(, Compat, testing::ValuesIn(versions()), [](const auto& info) {
  std::string name = "v" + info.param;
  std::replace(name.begin(), name.end(), '.', '_');
  return name;
});

}  // namespace
}  // namespace neutra::cli
