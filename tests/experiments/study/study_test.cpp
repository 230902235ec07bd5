#include "experiments/study/tables.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "base/error.h"
#include "fl_adapters/registry.h"
#include "tests/test_folder.h"

namespace neutra::experiments {
namespace {

using Folder = tests::TestFolder;

/// A metric that depends on the program alone.
class FakeTrainer : public training::LocalTrainer {
 public:
  explicit FakeTrainer(std::atomic<int>& trainings) : trainings_(trainings) {}
  training::ReplicaResult train(const training::TrainingJob& job) override {
    ++trainings_;
    training::ReplicaResult result;
    result.metric = static_cast<double>(program::program_hash(*job.program).low % 100) / 10;
    result.backend = "fake";
    return result;
  }
  training::ReplicaResult train(const training::TrainingJob& job, training::Observer*) override {
    return train(job);
  }
  std::optional<std::string> refusal(const program::Program&) override { return std::nullopt; }
  std::string fingerprint(const program::Program&) override { return "fake"; }

 private:
  std::atomic<int>& trainings_;
};

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    return error.what();
  }
  return "no error";
}

Json small_study() {
  return {{"format", "neutra-study"},
          {"version", 1},
          {"search", {{"replicas", 2}}},
          {"faults", {{{"fault", "D7"}, {"search", {{"budget_evaluations", 20}}}}}},
          {"answers", {"answers.csv"}},
          {"tools", {"umlaut"}},
          {"runs", 3}};
}

TEST(Study, SearchesAsksScoresAndGoesOnFromItsFolder) {
  const Folder folder;
  folder.write("answers.csv", "fault,tool,answer\nD7,deepfd,LCH\nD7,wise,HLR\nD6,wise,LCH\n");
  const Study study = load_study(folder.write("small.json", small_study().dump()));
  EXPECT_EQ(study.name, "small");
  EXPECT_EQ(study.faults.at(0).search.replicas, 2);
  EXPECT_EQ(study.faults.at(0).search.budget_evaluations, 20);
  EXPECT_EQ(study.answers.size(), 2U);  // not that on D6

  std::atomic<int> trainings{0};
  StudyOptions options;
  const std::string recorded = folder.read("answers.csv");
  options.folder = folder.path();
  options.trainer = [&](const Fault&) { return std::make_unique<FakeTrainer>(trainings); };
  EXPECT_NE(message_of([&] { run_study(study, options); }).find("answers.csv"), std::string::npos);
  EXPECT_EQ(folder.read("answers.csv"), recorded);
  options.folder = folder.path() / "results";
  std::filesystem::create_directory(options.folder);
  const StudyResult first = run_study(study, options);
  EXPECT_EQ(first.faults.at(0).network.nodes.size(), 36U);  // the root and its neighbours
  EXPECT_EQ(first.answers.size(), 3U);
  EXPECT_EQ(first.answers.back().tool, "umlaut-native");
  EXPECT_EQ(first.answers.back().runs, 3);
  const ScoreRow* wise = first.scores.find("D7", "wise");
  ASSERT_NE(wise, nullptr);
  EXPECT_EQ(wise->before.recall, 1);
  EXPECT_EQ(first.scores.find("D7", "deepfd")->before.recall, 0);
  // Who reads a table sees which answers were not found here.
  const std::string text = evaluators::write_text(study_report(study, first, Layout::kWide));
  EXPECT_NE(text.find("deepfd (recorded)"), std::string::npos) << text;
  EXPECT_EQ(text.find("umlaut-native (recorded)"), std::string::npos) << text;
  EXPECT_NE(folder.read("results/D7.tsv").find("parent_node_id"), std::string::npos);
  EXPECT_NE(folder.read("results/answers.csv").find("umlaut-native"), std::string::npos);

  const int searched = trainings;
  const StudyResult again = run_study(study, options);
  EXPECT_EQ(trainings - searched, 0);  // neither searched nor asked again
  const auto json = [&](const StudyResult& result) {
    return evaluators::write_json(study_report(study, result, Layout::kLong));
  };
  EXPECT_EQ(json(first), json(again));  // times, too
  options.seed = 1;
  options.folder = folder.path() / "others";
  std::filesystem::create_directory(options.folder);
  const int before = trainings;
  run_study(study, options);
  EXPECT_GT(trainings, before + 3);
}

/// A tool that the test makes.
fl_adapters::Tool fake_tool(const std::string& name,
                            std::function<fl_adapters::Localisation(int run)> answer) {
  fl_adapters::Tool tool;
  tool.name = name;
  tool.version = "1";
  tool.kind = fl_adapters::ToolKind::kNative;
  tool.needs = {fl_adapters::ToolNeed::kTraining};
  tool.localise = [answer = std::move(answer)](const fl_adapters::FaultyProgram&,
                                               const fl_adapters::LocaliseContext& context) {
    return answer(context.run);
  };
  return tool;
}

fl_adapters::Localisation answer_of(const std::string& faults, double seconds) {
  fl_adapters::Localisation run;
  run.faults = program::parse_fault_set(faults, "test");
  run.seconds = seconds;
  return run;
}

/// What the study of the next test leaves in `folder`/results.
void expect_tables_and_figures(const Folder& folder) {
  const std::string table = folder.read("results/tables/table4-7_wise-native.csv");
  EXPECT_NE(table.find("D6,\"ACH(1), HLR, HNE, LCH\",4,\"0, 1, 0, 0\",1,HLR"), std::string::npos)
      << table;
  EXPECT_EQ(folder.read("results/tables/table12.csv"),
            "fault,broken-native,wise-native,places-native,slow-native\n"
            "D7,,2,1,9\nD6,,2,1,9\nall,,2,1,9\n");
  const std::string averages = folder.read("results/tables/rank_averages.csv");
  EXPECT_NE(averages.find("all,places-native,2,"), std::string::npos) << averages;
  for (const char* name : {"table8", "table9", "table10", "table11", "stability", "comparisons",
                           "ranks", "differences", "troubles", "friedman", "mean_ranks"}) {
    EXPECT_NE(folder.read(std::string("results/tables/") + name + ".csv"), "") << name;
  }
  for (const char* name :
       {"scores.json", "tables.txt", "tables.tex", "figure2.svg", "D7.svg",
        "critical_difference.svg", "figure2.pdf", "D7.pdf", "critical_difference.pdf"}) {
    EXPECT_NE(folder.read(std::string("results/") + name), "") << name;
  }
}

TEST(Study, GoesOnWhereAToolFailsAndAsksOnlyWhatIsMissing) {
  const Folder folder;
  Json json = small_study();
  json["faults"] = {{{"fault", "D7"}, {"search", {{"budget_evaluations", 20}}}},
                    {{"fault", "D6"}, {"search", {{"budget_evaluations", 10}}}}};
  json.erase("answers");
  Study study = load_study(folder.write("s.json", json.dump()));
  std::atomic<int> broken_calls{0}, wise_calls{0}, trainings{0};
  const fl_adapters::Tool broken = fake_tool("broken", [&](int) -> fl_adapters::Localisation {
    ++broken_calls;
    throw std::runtime_error("it broke");
  });
  fl_adapters::Tool wise = fake_tool("wise", [&](int run) {
    ++wise_calls;
    return answer_of(run == 0 ? "LCH" : "HLR", 2);
  });
  const fl_adapters::Tool places = fake_tool("places", [&](int) {
    fl_adapters::Localisation run = answer_of("-", 1);
    run.ranking = {{1, -1, "", 0.9}, {0, -1, "", 0.4}};
    return run;
  });
  const fl_adapters::Tool slow = fake_tool("slow", [&](int run) {
    fl_adapters::Localisation late = answer_of("HLR", 9);
    if (run == 0) late.status = fl_adapters::LocalisationStatus::kTimeout;
    if (run == 0) late.reason = "9 seconds";
    return late;
  });
  study.tools = {{&broken, 2}, {&wise, 3}, {&places, 1}, {&slow, 2}};
  StudyOptions options;
  options.folder = folder.path() / "results";
  options.search.workers = 2;
  std::filesystem::create_directory(options.folder);
  options.trainer = [&](const Fault&) { return std::make_unique<FakeTrainer>(trainings); };
  const StudyResult first = run_study(study, options);
  EXPECT_EQ(broken_calls, 4);
  EXPECT_EQ(wise_calls, 6);
  ASSERT_EQ(first.troubles.size(), 4U);
  EXPECT_EQ(first.troubles.at(0).tool, "broken-native");
  EXPECT_EQ(first.troubles.at(0).status, fl_adapters::LocalisationStatus::kFailed);
  EXPECT_EQ(first.troubles.at(0).runs, 2);
  EXPECT_EQ(first.troubles.at(0).reason, "it broke");
  EXPECT_EQ(first.troubles.at(1).status, fl_adapters::LocalisationStatus::kTimeout);
  EXPECT_EQ(first.troubles.at(1).of, 2);
  const ScoreRow* row = first.scores.find("D7", "wise-native");
  ASSERT_NE(row, nullptr);
  EXPECT_EQ(row->before.recall, 1);
  EXPECT_DOUBLE_EQ(*row->stability, 2. / 3);
  EXPECT_EQ(row->seconds, 2);
  EXPECT_FALSE(first.scores.find("D7", "broken-native")->answer.applicable);
  EXPECT_EQ(first.scores.find("D7", "broken-native")->after.score.recall, 0);
  row = first.scores.find("D6", "places-native");  // HLR, HNE, LCH, ACH(1)
  EXPECT_EQ(to_string(row->answer), "(1)");
  EXPECT_EQ(row->before.recall, 0.25);
  EXPECT_EQ(row->before.precision, 1);
  EXPECT_EQ(row->ranks->before.first, 1);
  EXPECT_EQ(row->ranks->before.average_precision, 0.25);
  EXPECT_FALSE(first.scores.find("D6", "wise-native")->ranks);

  write_study(study, first, options.folder, {"svg", "pdf"});
  const StudyResult again = run_study(study, options);
  EXPECT_EQ(broken_calls, 8);  // failed runs are tried again
  EXPECT_EQ(wise_calls, 6);
  const auto text = [&](const StudyResult& result) {
    return evaluators::write_csv(study_report(study, result, Layout::kOneTable));
  };
  EXPECT_EQ(text(first), text(again));

  wise.digest = "an external tool that changed";
  EXPECT_EQ(text(first), text(run_study(study, options)));
  EXPECT_EQ(wise_calls, 12);
  expect_tables_and_figures(folder);
}

TEST(Study, LeavesOutFaultsWhoseDataAreAbsent) {
  class Empty final : public FakeTrainer {
   public:
    using FakeTrainer::FakeTrainer;
    std::string fingerprint(const program::Program&) override { throw MissingData("no mnist"); }
  };
  const Folder folder;
  Json json = small_study();
  json["faults"] = {"D4", {{"fault", "D7"}, {"search", {{"budget_evaluations", 2}}}}};
  json.erase("answers");
  const Study study = load_study(folder.write("s.json", json.dump()));
  std::atomic<int> trainings{0};
  StudyOptions options;
  options.folder = folder.path() / "results";
  std::filesystem::create_directory(options.folder);
  options.trainer = [&](const Fault& fault) -> std::unique_ptr<training::LocalTrainer> {
    if (fault.id == "D4") return std::make_unique<Empty>(trainings);
    return std::make_unique<FakeTrainer>(trainings);
  };
  const StudyResult result = run_study(study, options);
  ASSERT_EQ(result.skipped.size(), 1U);
  EXPECT_EQ(result.skipped.at(0).fault, "D4");
  EXPECT_EQ(result.skipped.at(0).reason, "no mnist");
  EXPECT_EQ(result.faults.size(), 1U);
  EXPECT_NE(evaluators::write_text(study_report(study, result, Layout::kWide)).find("no mnist"),
            std::string::npos);
  options.trainer = [&](const Fault&) { return std::make_unique<Empty>(trainings); };
  EXPECT_NE(message_of([&] { run_study(study, options); }).find("no mnist"), std::string::npos);
}

TEST(Study, QuickIsAPatchOfTheFile) {
  const Folder folder;
  folder.write("answers.csv", "fault,tool,answer\nD7,wise,HLR\n");
  Json json = small_study();
  EXPECT_NE(
      message_of([&] { load_study(folder.write("s.json", json.dump()), true); }).find("/quick"),
      std::string::npos);
  json["quick"] = {{"name", "tiny"}, {"search", {{"top_k", 2}}}, {"runs", 1}, {"tools", "all"}};
  const auto file = folder.write("s.json", json.dump());
  EXPECT_EQ(load_study(file).name, "s");
  EXPECT_EQ(load_study(file).tools.at(0).runs, 3);
  const Study quick = load_study(file, true);
  EXPECT_EQ(quick.name, "tiny");
  EXPECT_EQ(quick.faults.at(0).search.replicas, 2);  // stays
  EXPECT_EQ(quick.faults.at(0).search.top_k, 2);
  EXPECT_EQ(quick.tools.size(), fl_adapters::tools().size());
  EXPECT_EQ(quick.tools.at(0).runs, 1);
}

TEST(Study, ToolsAreAskedAsTheirEntrySays) {
  const Folder folder;
  Json json = small_study();
  json.erase("answers");
  json["time_limit"] = 60;
  json["tools"] = {
      "all", {{"tool", "umlaut"}, {"runs", 7}, {"memory_limit", 1000}, {"defects", "repaired"}}};
  const Study study = load_study(folder.write("s.json", json.dump()));
  ASSERT_EQ(study.tools.size(), fl_adapters::tools().size());
  for (const StudyTool& asked : study.tools) {
    const bool own = asked.tool->name == "umlaut";
    EXPECT_EQ(asked.runs, own ? 7 : 3);
    EXPECT_EQ(asked.time_limit, 60);
    EXPECT_EQ(asked.memory_limit, own ? 1000U : 0U);
    EXPECT_EQ(asked.variant == fl_adapters::ToolVariant::kRepaired, own);
  }
}

TEST(Study, ARecordedNetworkNeedsNoTraining) {
  const Folder folder;
  const Fault fault = load_fault("D7");
  program::Parameters fixed = fault.space.base_parameters();
  fixed["lr"] = "0.1";
  const std::string root = program::to_string(fault.space.base_parameters()),
                    child = program::to_string(fixed);
  folder.write("n.tsv",
               "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
               "parent_node_param_string\tcurrent_node_param_string\tis_gt\n0\t1\t[5]\t[0.1]\t" +
                   root + "\t" + child + "\tTrue\n");
  folder.write("answers.csv", "fault,tool,answer\nD7,wise,HLR\n");
  Json json = small_study();
  json["faults"] = {{{"fault", "D7"}, {"network", "n.tsv"}}};
  json.erase("tools");
  const Study study = load_study(folder.write("s.json", json.dump()));
  StudyOptions options;
  options.folder = folder.path();
  options.folder /= "results";
  std::filesystem::create_directory(options.folder);
  const StudyResult result = run_study(study, options);  // there is no trainer to ask
  EXPECT_EQ(result.faults.at(0).end, "recorded");
  EXPECT_EQ(result.scores.find("D7", "wise")->after.truths, 2);  // the fix and the repair
}

TEST(Study, TheBundledOnesLoad) {
  const Study study = load_study(study_file("quickstart"));
  EXPECT_EQ(study.faults.size(), 3U);
  EXPECT_EQ(study.answers.size(), 12U);  // four tools
  EXPECT_EQ(study.tools.size(), 1U);
  const Study whole = load_study(study_file("fl_study"));
  EXPECT_EQ(whole.faults.size(), 22U);
  EXPECT_EQ(whole.tools.size(), fl_adapters::tools().size());
  EXPECT_EQ(whole.tools.at(0).runs, 20);
  const Study quick = load_study(study_file("fl_study"), true);
  ASSERT_EQ(quick.faults.size(), 6U);
  EXPECT_EQ(quick.faults.back().fault.id, "F3");
  EXPECT_EQ(to_string(quick.faults.back().fault.actual), "HLR");
  EXPECT_NE(quick.name, whole.name);
}

TEST(Study, MistakesNameTheirPlace) {
  const Folder folder;
  folder.write("answers.csv", "fault,tool,answer\nD7,wise,HLR\n");
  struct Case {
    const char *pointer, *value, *message;
  };
  for (const auto& [pointer, value, message] :
       {Case{"/format", "\"neutra-fault\"", "/format"},
        Case{"/version", "2", "/version"},
        Case{"/faults", "[]", "/faults"},
        Case{"/faults/0/fault", "\"D77\"", "D77"},
        Case{"/faults", "[\"D7\", \"D7\"]", "/faults/1/fault"},
        Case{"/faults/0/budget", "3", "/faults/0/budget"},
        Case{"/faults/0/search/budget_evaluations", "0", "/faults/0/search/budget_evaluations"},
        Case{"/faults/0/search/budget_evaluations", "1e99", "/faults/0/search/budget_evaluations"},
        Case{"/faults/0/network", "\"none.tsv\"", "/faults/0/network"},
        Case{"/search/preset", "\"all\"", "paper, keras"},
        Case{"/search/seed", "1", "/search/seed"},
        Case{"/answers/0", "\"none.csv\"", "none.csv"},
        Case{"/answers/0", "7", "/answers/0"},
        Case{"/answers/1", "\"answers.csv\"", "a second answer of wise on D7"},
        Case{"/tools/0", "\"hammer\"", "words such as all, autotrainer"},
        Case{"/tools/0", "7", "/tools/0"},
        Case{"/tools/0", "{\"tool\": \"umlaut\", \"speed\": 1}", "/tools/0/speed"},
        Case{"/tools/0", "{\"tool\": \"umlaut\", \"defects\": \"some\"}", "as-published"},
        Case{"/tools", "[\"umlaut\", \"umlaut\"]", "/tools/1"},
        Case{"/time_limit", "-1", "/time_limit"},
        Case{"/score", "{\"top\": 0}", "/score/top"},
        Case{"/runs", "0", "/runs"},
        Case{"/name", "\"../up\"", "/name"},
        Case{"/score", "{\"match\": \"column\"}", "type, layer, line"}}) {
    Json json = small_study();
    json[Json::json_pointer(pointer)] = Json::parse(value);
    const auto file = folder.write("s.json", json.dump());
    const std::string found = message_of([&] { load_study(file); });
    EXPECT_NE(found.find(message), std::string::npos) << pointer << ": " << found;
  }
  Json json = small_study();
  json.erase("tools");
  json["answers"] = Json::array();
  const auto file = folder.write("s.json", json.dump());
  const Study searched = load_study(file);  // there is no harm in a search
  StudyOptions options;
  options.folder = folder.path() / "results";
  EXPECT_NE(message_of([&] { run_study(searched, options); }).find("/tools"), std::string::npos);
  EXPECT_NE(message_of([&] {
              require_faults(searched, {"D7", "X9"});
            }).find("'X9'"),
            std::string::npos);
  EXPECT_NE(message_of([] { study_file("nothing"); }).find("quickstart"), std::string::npos);
}

}  // namespace
}  // namespace neutra::experiments
