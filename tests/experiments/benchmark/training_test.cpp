#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "base/files.h"
#include "base/temporary_folder.h"
#include "evaluators/statistics.h"
#include "experiments/benchmark/build.h"
#include "experiments/benchmark/check.h"
#include "experiments/benchmark/checkout.h"
#include "experiments/benchmark/documents.h"
#include "experiments/benchmark/test.h"
#include "fl_adapters/tool_folder.h"
#include "search/store_reader.h"
#include "tests/training/programs.h"
#include "training/data/dataset.h"
#include "training/data/npy.h"

/// Benchmarks from real trainings.
namespace neutra::experiments {

using namespace training;
namespace {

namespace fs = std::filesystem;

/// A plan with two subjects and a folder for it and what comes of it.
class BenchmarkTraining : public testing::Test {
 protected:
  BenchmarkTraining() {
    for (const char* id : {"one", "two"}) {
      program::Program p = moons(15);
      p.document["fit"]["batch_size"] = 8;
      if (id == std::string("two")) p.document["data"]["arguments"]["noise"] = 0.2;
      write(std::string(id) + ".json", {{"format", "neutra-subject"},
                                        {"version", 1},
                                        {"id", id},
                                        {"title", "moons"},
                                        {"source", "generated"},
                                        {"licence", "none"},
                                        {"program", p.document}});
    }
    plan_ = {{"format", "neutra-benchmark-plan"},
             {"version", 1},
             {"name", "test"},
             {"runs", 6},
             {"operators", {"change_label", "change_optimisation_function", "data_shuffle", "RCP"}},
             {"subjects", {"one.json", "two.json"}}};
  }

  fs::path path(const std::string& name) const { return folder_.path() / name; }
  void write(const std::string& name, const Json& json) const {
    std::ofstream(path(name)) << json.dump(1);
  }

  BenchmarkBuild build(int workers = 1) const {
    BenchmarkBuild b;
    b.trainer = [](const fs::path&) { return training::make_local_trainer({}); };
    b.data_path = [](const fs::path& file) { return std::vector{file.parent_path()}; };
    b.environment = {{"neutra", "0"}, {"tensorflow", ">=2.4,<2.5"}};
    b.workers = workers;
    return b;
  }
  Benchmark create(const Benchmark* earlier = nullptr, int workers = 1) const {
    write("plan.json", plan_);
    return build_benchmark(load_benchmark_plan(path("plan.json").string()), earlier,
                           build(workers));
  }

  const TemporaryFolder folder_{"neutra-test"};
  Json plan_;
};

const BenchmarkEntry& entry_with(const Benchmark& benchmark, const std::string& subject,
                                 const std::string& op) {
  for (const BenchmarkEntry& entry : benchmark.entries) {
    if (entry.subject == subject && entry.uses(op)) return entry;
  }
  throw std::runtime_error("no entry of " + op);
}

std::string reason(const Benchmark& benchmark, const std::string& op) {
  for (const NoEntry& none : benchmark.without) {
    if (none.op == op) return none.reason;
  }
  return "";
}

TEST_F(BenchmarkTraining, EntriesAreWhatWasKilled) {
  const Benchmark benchmark = create();
  EXPECT_EQ(check_benchmark(benchmark), std::vector<std::string>{});
  ASSERT_EQ(benchmark.subjects.size(), 2u);
  EXPECT_EQ(benchmark.subjects[0].metrics.size(), 6u);
  const BenchmarkEntry& labels = entry_with(benchmark, "one", "change_label");
  EXPECT_EQ(to_string(labels.faults), "TCL");
  EXPECT_EQ(labels.symptoms.front().name, "metric_drop");
  EXPECT_NEAR(labels.symptoms.front().value,
              evaluators::mean(benchmark.subjects[0].metrics) - evaluators::mean(labels.metrics),
              1e-12);
  EXPECT_GE(std::abs(labels.verdict.d), 2);
  // All runs count, also where fewer would have settled the verdict.
  for (const BenchmarkEntry& entry : benchmark.entries) EXPECT_EQ(entry.metrics.size(), 6u);
  EXPECT_EQ(labels.category, "training_data");
  // Two of each operator and subject at most.
  for (const BenchmarkEntry& entry : benchmark.entries) {
    EXPECT_LE(std::count_if(benchmark.entries.begin(), benchmark.entries.end(),
                            [&](const BenchmarkEntry& other) {
                              return other.subject == entry.subject &&
                                     other.applications[0].op == entry.applications[0].op;
                            }),
              2);
  }
  // What gives no entry says why.
  EXPECT_NE(reason(benchmark, "change_earlystopping_patience").find("no EarlyStopping"),
            std::string::npos);
  EXPECT_EQ(reason(benchmark, "data_shuffle").find("1 mutant: 1 not told from the correct"), 0u)
      << reason(benchmark, "data_shuffle");
}

TEST_F(BenchmarkTraining, SymptomsAreThoseOfMonitoredTrainings) {
  plan_["operators"] = {"missing_step", "change_label"};
  const Benchmark benchmark = create();
  const BenchmarkEntry& still = entry_with(benchmark, "one", "missing_step");
  std::map<std::string, double> symptoms;
  for (const EntrySymptom& symptom : still.symptoms) symptoms[symptom.name] = symptom.value;
  EXPECT_EQ(symptoms.at("poor_optimisation"), 1) << to_json(still)["symptoms"];
  EXPECT_FALSE(symptoms.contains("exploding_gradients"));
  EXPECT_EQ(check_benchmark(benchmark), std::vector<std::string>{});
}

TEST_F(BenchmarkTraining, ACatalogueSaysWhatIsApplied) {
  const auto fault = [](const char* id, const char* subject,
                        const std::vector<std::string>& apply) {
    return Json{{"id", id}, {"fault", "it"}, {"subject", subject}, {"apply", apply}};
  };
  const Json section = {
      {"title", "all"},
      {"faults", Json::array({fault("A-1", "one", {"missing_step"}),
                              fault("A-2", "two", {"change_label=100", "delete_training_data=80"}),
                              fault("A-3", "two", {"data_shuffle=100"}),
                              fault("A-4", "two", {"missing_eval_mode", "remove_layer@9"})})}};
  write("catalogue.json", {{"format", "neutra-fault-catalogue"},
                           {"version", 1},
                           {"title", "own"},
                           {"sections", Json::array({section})}});
  plan_.erase("operators");
  plan_["catalogue"] = "catalogue.json";
  const Benchmark benchmark = create();
  EXPECT_EQ(check_benchmark(benchmark), std::vector<std::string>{});
  ASSERT_EQ(benchmark.entries.size(), 2u);
  EXPECT_EQ(benchmark.entries[0].catalogue, "A-1");
  const BenchmarkEntry& both = benchmark.entries[1];
  EXPECT_EQ(both.catalogue, "A-2");
  EXPECT_EQ(both.subject, "two");
  EXPECT_EQ(mutation_text(both), "change_label=100 + delete_training_data=80");
  EXPECT_EQ(to_string(both.faults), "TCL, TRD");
  ASSERT_EQ(benchmark.without.size(), 2u);
  EXPECT_EQ(benchmark.without[0].catalogue, "A-3");
  EXPECT_EQ(benchmark.without[0].reason.find("1 mutant: 1 not told from the correct"), 0u);
  EXPECT_EQ(benchmark.without[1].catalogue, "A-4");
  EXPECT_EQ(benchmark.without[1].reason.find("1 mutant: 1 refused"), 0u);
  EXPECT_EQ(to_files(benchmark_from_files(to_files(benchmark), "b")), to_files(benchmark));

  const auto trainer = training::make_local_trainer({});
  const BenchmarkTest test = test_entries(benchmark, {&benchmark.entries[0], &both}, {}, *trainer);
  for (const EntryTest& entry : test.entries) EXPECT_TRUE(test.passes(entry));
}

TEST_F(BenchmarkTraining, OneOfEachKind) {
  plan_["per_kind"] = 1;
  const Benchmark benchmark = create();
  std::map<std::string, int> counts;
  for (const BenchmarkEntry& entry : benchmark.entries) ++counts[entry.applications[0].op];
  EXPECT_EQ(counts["change_label"], 1);
  EXPECT_EQ(counts["change_optimisation_function"], 1);
  EXPECT_EQ(entry_with(benchmark, "one", "change_label").id, 1);
}

TEST_F(BenchmarkTraining, SameWithAnyNumberOfWorkersAndAfterInterruptions) {
  const BenchmarkFiles files = to_files(create());
  EXPECT_EQ(to_files(create(nullptr, 3)), files);
  // Stopped after every few trainings until it is done.
  const BenchmarkPlan plan = load_benchmark_plan(path("plan.json").string());
  BenchmarkBuild b = build(2);
  b.runs = path("runs");
  fs::create_directories(b.runs);
  std::atomic<bool> stop{false};
  b.stop = &stop;
  int interruptions = 0;
  for (;; ++interruptions) {
    ASSERT_LT(interruptions, 500);
    stop = false;
    int trained = 0;
    b.progress = [&](const Tally&) {
      if (++trained == 40) stop = true;
    };
    try {
      EXPECT_EQ(to_files(build_benchmark(plan, nullptr, b)), files);
      break;
    } catch (const Error& error) {
      ASSERT_EQ(error.exit(), Exit::kInterrupted) << error.what();
    }
  }
  EXPECT_GT(interruptions, 2);
}

TEST_F(BenchmarkTraining, IdsStay) {
  const Benchmark all = create();
  const auto ids = [](const Benchmark& benchmark, bool deprecated) {
    std::map<Hash, int> found;
    for (const BenchmarkEntry& entry : benchmark.entries) {
      if (entry.deprecated == deprecated) found[entry.buggy] = entry.id;
    }
    return found;
  };
  // Again: nothing changes.
  EXPECT_EQ(to_files(create(&all)), to_files(all));

  plan_["operators"] = {"change_label"};
  const Benchmark fewer = create();
  plan_["operators"] = {"change_label", "change_optimisation_function"};
  const Benchmark more = create(&fewer);
  ASSERT_GT(more.entries.size(), fewer.entries.size());
  for (const auto& [hash, id] : ids(fewer, false)) EXPECT_EQ(ids(more, false).at(hash), id);
  for (std::size_t i = 0; i < more.entries.size(); ++i) {
    EXPECT_EQ(more.entries[i].id, static_cast<int>(i) + 1);
  }
  EXPECT_EQ(check_benchmark(more), std::vector<std::string>{});

  // What does not come up again is deprecated, and comes back under its id.
  plan_["operators"] = {"change_optimisation_function"};
  const Benchmark other = create(&more);
  EXPECT_EQ(other.entries.size(), more.entries.size());
  EXPECT_EQ(ids(other, true), ids(fewer, false));
  EXPECT_EQ(check_benchmark(other), std::vector<std::string>{});
  plan_["operators"] = {"change_label", "change_optimisation_function"};
  EXPECT_EQ(to_files(create(&other)), to_files(more));

  // A subject that is left out keeps its place; one that changed is refused.
  plan_["subjects"] = {"two.json"};
  const Benchmark half = create(&more);
  EXPECT_EQ(half.subjects.size(), 2u);
  EXPECT_EQ(benchmark_from_files(to_files(half), "half").entries.size(), more.entries.size());
  Json two = read_json(path("two.json"));
  two["program"]["fit"]["epochs"] = 14;
  write("two.json", two);
  EXPECT_THROW(create(&more), Error);
}

TEST_F(BenchmarkTraining, BuggyFailsAndFixedPasses) {
  Benchmark benchmark = create();
  std::vector<const BenchmarkEntry*> entries;
  for (const BenchmarkEntry& entry : benchmark.entries) entries.push_back(&entry);
  const auto trainer = training::make_local_trainer({});
  BenchmarkTestOptions options;
  options.workers = 2;
  const BenchmarkTest test = test_entries(benchmark, entries, options, *trainer);
  ASSERT_EQ(test.entries.size(), entries.size());
  for (const EntryTest& entry : test.entries) {
    EXPECT_TRUE(test.passes(entry)) << entry.entry->name << " d " << entry.buggy.verdict.d;
    const std::vector<double>& recorded = entry.entry->metrics;
    const bool all_alike = std::count(recorded.begin(), recorded.end(), recorded.front()) ==
                           static_cast<std::ptrdiff_t>(recorded.size());
    if (!all_alike) {
      EXPECT_NE(entry.buggy.metrics, recorded);  // other draws
    }
  }
  // The same again, on one worker.
  options.workers = 1;
  const BenchmarkTest again = test_entries(benchmark, entries, options, *trainer);
  EXPECT_EQ(again.entries.front().buggy.metrics, test.entries.front().buggy.metrics);

  // A change that is no fault passes, and so the entry does not.
  BenchmarkEntry harmless = benchmark.entries.front();
  harmless.change = Json::array({{{"op", "replace"}, {"path", "/fit/epochs"}, {"value", 16}}});
  const BenchmarkTest wrong = test_entries(benchmark, {&harmless}, options, *trainer);
  EXPECT_FALSE(wrong.entries.front().buggy.fails());
  EXPECT_FALSE(wrong.passes(wrong.entries.front()));
  EXPECT_EQ(wrong.entries.front().buggy.attempts, 2);
  // One diverged run is a failure, also where the metric of the others is as it was.
  BenchmarkEntry diverging = harmless;
  const Json weights = {{"op", "zero_sample_weights"}};
  diverging.change = Json::array(
      {{{"op", "add"}, {"path", "/data/mutations"}, {"value", Json::array({weights})}}});
  const BenchmarkTest nan = test_entries(benchmark, {&diverging}, options, *trainer);
  EXPECT_EQ(nan.entries.front().buggy.status, training::RunStatus::kDiverged);
  EXPECT_TRUE(nan.entries.front().buggy.fails());
  VersionTest one;
  EXPECT_FALSE(one.fails());
  one.status = training::RunStatus::kDiverged;
  EXPECT_TRUE(one.fails());
  // A correct program that is measured against better ones fails.
  for (BenchmarkSubject& subject : benchmark.subjects) {
    for (double& metric : subject.metrics) metric += 0.3;
  }
  const BenchmarkTest worse = test_entries(benchmark, {entries.front()}, options, *trainer);
  EXPECT_TRUE(worse.fixed_of(worse.entries.front()).fails());
  EXPECT_FALSE(worse.passes(worse.entries.front()));
  // Other data are no test at all.
  benchmark.subjects.front().data[0] = benchmark.subjects.front().data[0] == '0' ? '1' : '0';
  EXPECT_THROW(test_entries(benchmark, {entries.front()}, options, *trainer), Error);
}

TEST_F(BenchmarkTraining, CheckoutTrainsToTheRecordedMetrics) {
  Json subject = read_json(path("two.json"));
  subject["program"]["data"]["holdout"] = {{"test_size", 0.8}, {"seed", 1}};
  write("two.json", subject);
  const Benchmark benchmark = create();
  const BenchmarkEntry& entry = entry_with(benchmark, "two", "change_label");
  for (const EntryVersion version : {EntryVersion::kBuggy, EntryVersion::kFixed}) {
    const bool buggy = version == EntryVersion::kBuggy;
    const fs::path folder = path(buggy ? "b" : "f");
    EXPECT_EQ(check_out(benchmark, entry, version, folder, {}), "");
    EXPECT_THROW(check_out(benchmark, entry, version, folder, {}), Error);  // in use
    const program::Program program{read_json(folder / "program.json")};
    program::require_valid(program.document, "program.json");
    EXPECT_EQ(program::program_hash(program), buggy ? entry.buggy : entry.fixed);
    const Json checkout = read_json(folder / "checkout.json");
    const auto trainer = training::make_local_trainer({.data_path = {folder}});
    const std::vector<double>& recorded =
        buggy ? entry.metrics : subject_of(benchmark, entry).metrics;
    for (std::size_t run = 0; run < recorded.size(); ++run) {
      training::TrainingJob job;
      job.program = &program;
      job.seed = checkout["seed"];
      job.replica = static_cast<int>(run);
      job.stream = training::StreamKey::kIndependent;
      EXPECT_EQ(trainer->train(job).metric, recorded[run]);
      EXPECT_EQ(checkout["metrics"][run], recorded[run]);
    }
    for (const char* name : {"README.md", "keras/train.py", "keras/x_train.npy", "keras/y_test.npy",
                             "keras/requirements.txt"}) {
      EXPECT_TRUE(fs::exists(folder / name)) << name;
    }
    // The rows that the script measures are those that give the metric.
    training::write_npy(path("holdout.npy"),
                        training::load_dataset(program.document["data"], {})->x_holdout);
    EXPECT_EQ(read_regular_file(folder / "keras/x_test.npy", ""),
              read_regular_file(path("holdout.npy"), ""));
    // These two tell nothing of the fault.
    for (const char* name : {"README.md", "checkout.json"}) {
      for (const char* word : {"TCL", "change_label"}) {
        EXPECT_EQ(read_regular_file(folder / name, "").find(word), std::string::npos) << name;
      }
    }
  }
  EXPECT_EQ(fs::status(path("b")).permissions() & fs::perms::others_read, fs::perms::others_read);
}

TEST_F(BenchmarkTraining, DataFilesGoAlong) {
  Json subject = read_json(path("one.json"));
  Json& data = subject["program"]["data"];
  data["source"] = "csv";
  data["arguments"] = {{"file", "rows.csv"}};
  write("one.json", subject);
  std::ofstream csv(path("rows.csv"));
  for (int i = 0; i < 200; ++i) {
    csv << i % 7 * 0.1 << "," << i % 11 * 0.1 << "," << (i % 7 > 3 ? 1 : 0) << "\n";
  }
  csv.close();
  const std::string bytes = read_regular_file(path("rows.csv"), "");
  plan_["subjects"] = {"one.json"};
  plan_["operators"] = {"change_label"};
  BenchmarkBuild b = build();
  const std::vector<fs::path> here{folder_.path()};
  b.trainer = [&](const fs::path&) { return training::make_local_trainer({.data_path = here}); };
  const auto made = [&] {
    write("plan.json", plan_);
    return build_benchmark(load_benchmark_plan(path("plan.json").string()), nullptr, b);
  };
  const Benchmark with = made();
  ASSERT_FALSE(with.entries.empty());
  EXPECT_EQ(with.data.at("rows.csv"), bytes);
  EXPECT_EQ(check_out(with, with.entries[0], EntryVersion::kBuggy, path("b"), {}), "");
  EXPECT_EQ(read_regular_file(path("b/rows.csv"), ""), bytes);

  // Too large: a recipe. The arrays are left out where the file isn't here.
  plan_["data_limit"] = 100;
  const Benchmark without = made();
  EXPECT_TRUE(without.data.empty());
  EXPECT_NE(check_out(without, without.entries[0], EntryVersion::kBuggy, path("c"), {path("none")})
                .find("no arrays"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(path("c/keras/x_train.npy")));
  const Json checkout = read_json(path("c/checkout.json"));
  EXPECT_EQ(checkout["data"]["files"][0]["digest"], digest(bytes));
  EXPECT_EQ(checkout["data"]["files"][0]["here"], false);
  EXPECT_EQ(check_out(without, without.entries[0], EntryVersion::kBuggy, path("d"), here), "");
  EXPECT_TRUE(fs::exists(path("d/keras/x_train.npy")));
  // Other data of that name are refused, and nothing is written.
  fs::create_directory(path("other"));
  std::ofstream(path("other/rows.csv")) << bytes << "0,0,1\n";
  EXPECT_THROW(
      check_out(without, without.entries[0], EntryVersion::kBuggy, path("x"), {path("other")}),
      Error);
  EXPECT_FALSE(fs::exists(path("x")));
  for (const auto& item : fs::directory_iterator(folder_.path())) {
    EXPECT_FALSE(item.path().filename().string().starts_with(".")) << item.path();
  }

  // A program that Keras can't say has no script.
  plan_["operators"] = {"missing_zero_grad"};
  plan_["effect"] = 0;
  const Benchmark loop = made();
  ASSERT_FALSE(loop.entries.empty()) << loop.without.front().reason;
  EXPECT_NE(check_out(loop, loop.entries[0], EntryVersion::kBuggy, path("e"), here)
                .find("no Keras script"),
            std::string::npos);
  EXPECT_FALSE(fs::exists(path("e/keras")));
  const std::string readme = read_regular_file(path("e/README.md"), "");
  EXPECT_NE(readme.find("There is no Keras script"), std::string::npos);
  EXPECT_EQ(readme.find("zero_grad"), std::string::npos) << readme;
  EXPECT_TRUE(fs::exists(path("e/program.json")));
}

/// A finished search whose alternatives have these hashes; without a fix it has a level.
search::StoredRun search_of(const BenchmarkEntry& entry, const std::vector<Hash>& repairs,
                            Json fixed, Json level) {
  search::StoredRun run;
  run.finished = true;
  run.end = search::SearchEnd::kQueueEmpty;
  run.header = {{"program", to_string(entry.buggy)},
                {"fixed", std::move(fixed)},
                {"config", {{"ground_truth_metric", std::move(level)}}}};
  for (const Hash& hash : repairs) {
    search::Node node;
    node.id = static_cast<std::int64_t>(run.network.nodes.size());
    node.hash = hash;
    node.alternative = true;
    run.network.nodes.push_back(node);
  }
  return run;
}

TEST_F(BenchmarkTraining, AlternativesAreRepairsBesidesTheKnownOne) {
  plan_["operators"] = {"change_label"};
  Benchmark benchmark = create();
  BenchmarkEntry& entry = benchmark.entries.front();
  const Json fix = to_string(entry.fixed), level = evaluators::mean(benchmark.subjects[0].metrics);
  const Hash a{1, 2}, b{3, 4};
  const auto found = [&](const std::vector<search::StoredRun>& searches) {
    entry.alternatives.reset();
    add_alternatives(benchmark, searches);
    return entry.alternatives;
  };
  EXPECT_EQ(found({search_of(entry, {entry.fixed, a}, fix, nullptr)}), (KnownRepairs{1, true}));
  // Several searches: what they found together.
  search::StoredRun budget = search_of(entry, {a, b}, nullptr, level);
  budget.end = search::SearchEnd::kEvaluationBudget;
  EXPECT_EQ(found({budget}), (KnownRepairs{2, false}));
  EXPECT_EQ(found({search_of(entry, {a}, fix, nullptr), budget}), (KnownRepairs{2, true}));
  // For another level, of another fix, of another program, unfinished: no searches of this entry.
  EXPECT_FALSE(found({search_of(entry, {a}, nullptr, level.get<double>() - 0.1)}));
  EXPECT_FALSE(found({search_of(entry, {a}, nullptr, nullptr)}));
  EXPECT_FALSE(found({search_of(entry, {a}, to_string(a), nullptr)}));
  budget.finished = false;
  EXPECT_FALSE(found({budget}));
  budget.finished = true;
  budget.header["program"] = to_string(a);
  EXPECT_FALSE(found({budget}));
}

}  // namespace
}  // namespace neutra::experiments
