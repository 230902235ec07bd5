#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>

#include "base/files.h"
#include "base/json.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

/// A small plan beside its data, and the verb on what comes of it.
class Bench : public testing::Test {
 protected:
  Bench() {
    std::string rows;
    for (int i = 0; i < 200; ++i) {
      rows += std::to_string(i % 7) + "," + std::to_string(i % 11) + "," +
              std::to_string(3 * (i % 7) - i % 11 + 0.1 * (i * 37 % 13)) + "\n";
    }
    folder.write("rows.csv", rows);
    folder.write("plane.json", to_text(program()));
    plan(R"(["change_epochs", "change_optimisation_function", "data_shuffle", "VRM"])");
  }

  void plan(const std::string& operators) const {
    folder.write("plan.json", R"({"format": "neutra-benchmark-plan", "version": 1, "name": "mine",
      "runs": 5, "operators": )" + operators +
                                  R"(, "subjects": [
      {"subject": "plane.json", "source": "made up", "licence": "none"}]})");
  }

  static Json program() {
    return Json::parse(R"({
      "format": "neutra-program", "version": 1, "name": "plane", "task": "regression",
      "model": {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 1, "batch_input_shape": [null, 2]}}]}},
      "compile": {"optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.1}},
                  "loss": "mean_squared_error", "metrics": ["mae"]},
      "fit": {"batch_size": 16, "epochs": 60},
      "data": {"source": "csv", "arguments": {"file": "rows.csv"},
               "preprocess": [{"op": "standardize", "on": "x"}],
               "split": {"test_size": 0.3, "seed": 1}},
      "metric": {"name": "mae", "goal": "minimize"}})");
  }

  Called bench(const std::vector<std::string>& words) const {
    std::vector<std::string> arguments{"bench"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    return call(arguments, folder.path());
  }
  Json json_of(std::vector<std::string> words) const {
    words.emplace_back("--json");
    const Called called = bench(words);
    EXPECT_EQ(called.exit, 0) << called.err;
    return parse_json(called.out, "out");
  }

  const Folder folder;
};

TEST_F(Bench, FromThePlanToItsUses) {
  const Json created = json_of({"create", "plan.json", "-o", "mine.h5"});
  EXPECT_EQ(created["subjects"], 1);
  EXPECT_EQ(created["deprecated"], 0);
  // Nothing but the benchmark is left; again it has the same bytes; a folder holds the same.
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"mine.h5", "plan.json", "plane.json", "rows.csv"}));
  ASSERT_EQ(bench({"create", "plan.json", "-o", "again.h5", "--workers", "3"}).exit, 0);
  EXPECT_EQ(folder.read("again.h5"), folder.read("mine.h5"));
  ASSERT_EQ(bench({"create", "plan.json", "-o", "folder"}).exit, 0);
  EXPECT_EQ(bench({"list", "folder"}).out, bench({"list", "mine.h5"}).out);
  EXPECT_EQ(bench({"create", "plan.json", "-o", "mine.h5"}).exit, 3);  // in use
  EXPECT_EQ(bench({"create", "plan.json", "-o", "mine.h5", "--extend", "mine.h5"}).exit, 0);
  EXPECT_EQ(folder.read("again.h5"), folder.read("mine.h5"));

  const Json entries = json_of({"list", "mine.h5"});
  ASSERT_GE(entries.size(), 3u);
  EXPECT_EQ(entries[0]["id"], 1);
  EXPECT_EQ(entries[0]["faults"], "HNE");
  EXPECT_EQ(entries[0]["licence"], "none");
  EXPECT_EQ(json_of({"list", "mine.h5", "--operator", "OCH"}).back(), entries.back());
  EXPECT_EQ(json_of({"list", "mine.h5", "--fault-type", "HNE", "--category",
                     "training_configuration", "--subject", "plane"})
                .size(),
            json_of({"list", "mine.h5", "--operator", "change_epochs"}).size());
  EXPECT_EQ(bench({"list", "mine.h5", "--subject", "plain"}).exit, 3);

  const Json info = json_of({"info", "mine.h5"});
  EXPECT_EQ(info["entries"], entries.size());
  EXPECT_TRUE(info["without"].contains("data_shuffle")) << info.dump(1);
  EXPECT_TRUE(info["without"].contains("remove_validation_set"));
  EXPECT_EQ(json_of({"info", "mine.h5", "2"})[0], entries[1]);
  EXPECT_TRUE(has(bench({"diff", "mine.h5", "1"}).out, {"/fit/epochs", " 60 "}));
  EXPECT_EQ(json_of({"similar", "mine.h5", "3"})[0]["points"], 10);
  EXPECT_TRUE(has(bench({"info", "mine.h5", "1"}).out, {"faults ", " HNE\n"}));
  EXPECT_EQ(json_of({"info", "mine.h5", "--operator", "OCH"}),
            json_of({"list", "mine.h5", "--operator", "OCH"}));
  EXPECT_EQ(bench({"diff", "mine.h5"}).exit, 2);
  EXPECT_EQ(bench({"diff", "mine.h5", "99"}).exit, 3);

  EXPECT_EQ(json_of({"validate", "mine.h5"})["sound"], true);
  const Json tested = json_of({"test", "mine.h5"});
  EXPECT_EQ(tested["passed"], entries.size());
  EXPECT_TRUE(tested["without"].contains("data_shuffle"));
  EXPECT_EQ(json_of({"test", "mine.h5", "1", "--seed", "3"})["total"], 1);

  const Called csv = bench({"export", "mine.h5", "--format", "csv"});
  EXPECT_EQ(csv.exit, 0);
  EXPECT_EQ(static_cast<std::size_t>(std::count(csv.out.begin(), csv.out.end(), '\n')),
            1 + entries.size());
  const Json exported = parse_json(bench({"export", "mine.h5", "-f", "json"}).out, "out");
  EXPECT_EQ(exported[0]["fixed_program"]["fit"]["epochs"], 60);
  EXPECT_EQ(bench({"export", "mine.h5", "--format", "fault"}).exit, 2);
}

TEST_F(Bench, WhatHasNoEffectIsRefused) {
  plan(R"(["change_epochs"])");
  ASSERT_EQ(bench({"create", "plan.json", "-o", "mine.h5"}).exit, 0);
  using Words = std::vector<std::string>;
  for (const auto& [words, named] : std::vector<std::pair<Words, Words>>{
           {{"create", "plan.json", "-o", "new.h5", "--seed", "5"}, {"--seed", "create", "test"}},
           {{"create", "plan.json", "more.json", "-o", "new.h5"}, {"create", "'plan.json'"}},
           {{"validate", "mine.h5", "1"}, {"validate", "'mine.h5'"}},
           {{"list", "mine.h5", "1", "--subject", "plane"}, {"--subject", "entries"}},
           {{"list", "mine.h5", "--retries", "2"}, {"--retries", "list"}},
           {{"list", "mine.h5", "-f", "csv"}, {"csv", "list"}},
           {{"diff", "mine.h5", "1", "--subject", "plane"}, {"--subject", "diff"}},
           {{"info", "mine.h5", "--network", "store.h5"}, {"--network", "entries"}},
           {{"export", "mine.h5", "-w", "folder"}, {"--work", "export"}}}) {
    EXPECT_TRUE(refused(bench(words), 2, named));
  }
}

TEST_F(Bench, NothingElseIsOverwrittenOrRemoved) {
  plan(R"(["change_epochs"])");
  // A separator at the end is no part of the name.
  ASSERT_EQ(bench({"create", "plan.json", "-o", "out/"}).exit, 0);
  EXPECT_EQ(bench({"validate", "out"}).exit, 0);
  const Called extended = bench({"create", "plan.json", "-o", "out/", "--extend", "out/"});
  EXPECT_EQ(extended.exit, 0) << extended.err;
  EXPECT_EQ(bench({"validate", "out/"}).exit, 0);
  // --extend of another benchmark needs a free name.
  ASSERT_EQ(bench({"create", "plan.json", "-o", "a.h5"}).exit, 0);
  EXPECT_EQ(bench({"create", "plan.json", "-o", "out", "--extend", "a.h5"}).exit, 3);
  EXPECT_EQ(bench({"create", "plan.json", "-o", "b.h5", "--extend", "a.h5"}).exit, 0);
  // Nothing else comes into a benchmark's folder.
  for (const char* format : {"fault", "csv"}) {
    const Called inside = bench({"export", "a.h5", "--format", format, "-o", "out/entries/x"});
    EXPECT_TRUE(
        refused(inside, 2, {"--output", "out/entries/x", "in the folder of the benchmark"}));
  }
  EXPECT_EQ(bench({"validate", "out"}).exit, 0);
  // One at a time.
  const int other = open((folder.path() / "d.h5.runs.lock").c_str(), O_CREAT | O_RDWR, 0666);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  const Called second = bench({"create", "plan.json", "-o", "d.h5", "--fresh"});
  EXPECT_TRUE(refused(second, 1, {"d.h5.runs.lock", "in use"}));
  std::filesystem::remove(folder.path() / "d.h5.runs.lock");
  close(other);
  // A folder that was there stays, with what is in it.
  std::filesystem::create_directory(folder.path() / "c.h5.runs");
  folder.write("c.h5.runs/mine.txt", "mine");
  EXPECT_EQ(bench({"create", "plan.json", "-o", "c.h5"}).exit, 0);
  EXPECT_EQ(folder.read("c.h5.runs/mine.txt"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder.path() / "c.h5.runs/plane.runs"));
  EXPECT_EQ(folder.names(), (std::vector<std::string>{"a.h5", "b.h5", "c.h5", "c.h5.runs", "out",
                                                      "plan.json", "plane.json", "rows.csv"}));
}

TEST_F(Bench, OtherVerbsTakeWhatIsCheckedOutAndExported) {
  ASSERT_EQ(bench({"create", "plan.json", "-o", "mine.h5"}).exit, 0);
  ASSERT_EQ(bench({"checkout", "mine.h5", "1b", "-w", "b"}).exit, 0);
  EXPECT_EQ(bench({"checkout", "mine.h5", "1b", "-w", "b"}).exit, 3);  // in use
  EXPECT_EQ(bench({"checkout", "mine.h5", "1", "-w", "c"}).exit, 2);
  EXPECT_EQ(bench({"checkout", "mine.h5", "1b"}).exit, 2);
  const Json checkout = parse_json(folder.read("b/checkout.json"), "checkout.json");
  const Called trained = call({"train", "b/program.json", "--stream", "independent", "--seed", "0",
                               "--replicas", "5", "--json"},
                              folder.path());
  ASSERT_EQ(trained.exit, 0) << trained.err;
  const Json replicas = parse_json(trained.out, "out")["replicas"];
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    EXPECT_EQ(replicas[i]["metric"], checkout["metrics"][i]);
  }
  EXPECT_EQ(call({"mutate", "b/program.json", "--all"}, folder.path()).exit, 0);
  EXPECT_EQ(call({"localise", "b/program.json", "--tool", "neuralint"}, folder.path()).exit, 0);
  const std::string level = checkout["fixed_mean"].dump();
  EXPECT_EQ(call({"search", "b/program.json", "--ground-truth-metric", level, "--store", "b.h5",
                  "--budget-evaluations", "30", "--replicas", "2"},
                 folder.path())
                .exit,
            0);
  const Json difficulty = json_of({"info", "mine.h5", "1", "--network", "b.h5"});
  EXPECT_EQ(difficulty[0]["alternatives"]["complete"], false) << difficulty.dump(1);
  EXPECT_TRUE(json_of({"info", "mine.h5", "1"})[0]["alternatives"].is_null());
  ASSERT_EQ(
      bench({"create", "plan.json", "-o", "mine.h5", "--extend", "mine.h5", "--network", "b.h5"})
          .exit,
      0);
  EXPECT_EQ(json_of({"info", "mine.h5", "1"}), difficulty);

  ASSERT_EQ(bench({"export", "mine.h5", "1", "--format", "fault", "-o", "faults"}).exit, 0);
  const Called checked = call({"faults", "faults/mine-1.json", "--check"}, folder.path());
  EXPECT_EQ(checked.exit, 0) << checked.out << checked.err;
}

TEST_F(Bench, DamageAndMissingEntriesAreSaid) {
  ASSERT_EQ(bench({"create", "plan.json", "-o", "mine.h5"}).exit, 0);
  std::string bytes = folder.read("mine.h5");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  folder.write("mine.h5", bytes);
  const Called damaged = bench({"list", "mine.h5"});
  EXPECT_TRUE(refused(damaged, 3, {"mine.h5", "damaged"}));
  const auto problems = [&](const std::string& benchmark) {
    const Called called = bench({"validate", benchmark, "--json"});
    EXPECT_EQ(called.exit, 1) << called.err;
    return parse_json(called.out, "out")["problems"];
  };
  EXPECT_EQ(problems("mine.h5").size(), 1U);
  EXPECT_EQ(bench({"validate", "mine.h5"}).exit, 1);
  bytes[0] = 'N';  // of the checksum header
  folder.write("mine.h5", bytes);
  EXPECT_EQ(problems("mine.h5").size(), 1U);
  EXPECT_EQ(bench({"validate", "plan.json"}).exit, 3);
  EXPECT_EQ(bench({"list", "none.h5"}).exit, 3);
  EXPECT_EQ(bench({"create", "plan.json", "-o", "plan.json"}).exit, 3);
  EXPECT_EQ(bench({"create", "no_such_plan", "-o", "x.h5"}).exit, 3);
  EXPECT_EQ(bench({"create", "plan.json"}).exit, 2);
  EXPECT_EQ(bench({"jump", "mine.h5"}).exit, 2);
}

TEST_F(Bench, ATestThatIsNotAsItShouldBeEndsWithOne) {
  plan(R"(["change_epochs"])");
  ASSERT_EQ(bench({"create", "plan.json", "-o", "folder"}).exit, 0);
  // The correct program's runs are said to have been better than it is.
  Json subject = parse_json(folder.read("folder/subjects/plane.json"), "subject");
  for (Json& metric : subject["metrics"]) metric = metric.get<double>() / 2;
  const std::string text = to_text(subject);
  folder.write("folder/subjects/plane.json", text);
  EXPECT_EQ(bench({"test", "folder"}).exit, 3);  // the digests tell
  Json index = parse_json(folder.read("folder/benchmark.json"), "index");
  for (Json& file : index["files"]) {
    if (file["name"] == "subjects/plane.json") file["digest"] = digest(text);
    if (file["name"] == "subjects/plane.json") file["bytes"] = text.size();
  }
  folder.write("folder/benchmark.json", to_text(index));
  folder.write("folder/benchmark.json.xxh128", digest(to_text(index)) + "  benchmark.json\n");
  const Called test = bench({"test", "folder", "--json"});
  EXPECT_EQ(test.exit, 1) << test.out << test.err;
  const Json entry = parse_json(test.out, "out")["entries"][0];
  EXPECT_EQ(entry["passed"], false);
  EXPECT_EQ(entry["fixed"]["fails"], true);
  EXPECT_EQ(entry["fixed"]["expected"], false);
  EXPECT_EQ(entry["fixed"]["attempts"], 2);
  const Called validated = bench({"validate", "folder", "--json"});
  EXPECT_EQ(validated.exit, 1);
  EXPECT_TRUE(has(validated.out, {"/test/d"}));
}

}  // namespace
}  // namespace neutra::cli
