#include "experiments/study.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <sstream>

#include "program/error.h"

namespace neutra {
namespace {

class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "neutra_study_XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~Folder() { std::filesystem::remove_all(path_); }
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path_ / name) << text;
    return path_ / name;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path_ / name);
    std::ostringstream text;
    text << in.rdbuf();
    return text.str();
  }

 private:
  std::filesystem::path path_;
};

/// A metric that depends on the program alone.
class FakeTrainer : public LocalTrainer {
 public:
  explicit FakeTrainer(std::atomic<int>& trainings) : trainings_(trainings) {}
  ReplicaResult train(const TrainingJob& job) override {
    ++trainings_;
    ReplicaResult result;
    result.metric = static_cast<double>(program_hash(*job.program).low % 100) / 10;
    result.backend = "fake";
    return result;
  }
  ReplicaResult train(const TrainingJob& job, Observer*) override { return train(job); }
  std::optional<std::string> refusal(const Program&) override { return std::nullopt; }
  std::string fingerprint(const Program&) override { return "fake"; }

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
  EXPECT_NE(folder.read("results/D7.tsv").find("parent_node_id"), std::string::npos);
  EXPECT_NE(folder.read("results/answers.csv").find("umlaut-native"), std::string::npos);

  const int searched = trainings;
  const StudyResult again = run_study(study, options);
  EXPECT_EQ(trainings - searched, 3);  // the tool's own
  const auto json = [&](const StudyResult& result) {
    return write_json(study_report(study, result, Layout::kLong));
  };
  EXPECT_EQ(json(first), json(again));
}

TEST(Study, ARecordedNetworkNeedsNoTraining) {
  const Folder folder;
  const Fault fault = load_fault("D7");
  Parameters fixed = fault.space.base_parameters();
  fixed["lr"] = "0.1";
  const std::string root = to_string(fault.space.base_parameters()), child = to_string(fixed);
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
}

TEST(Study, MistakesNameTheirPlace) {
  const Folder folder;
  folder.write("answers.csv", "fault,tool,answer\nD7,wise,HLR\n");
  struct Case {
    const char *pointer, *value, *message;
  };
  for (const auto& [pointer, value, message] :
       {Case{"/format", "\"neutra-fault\"", "/format"}, Case{"/version", "2", "/version"},
        Case{"/faults", "[]", "/faults"}, Case{"/faults/0/fault", "\"D77\"", "D77"},
        Case{"/faults", "[\"D7\", \"D7\"]", "/faults/1/fault"},
        Case{"/faults/0/budget", "3", "/faults/0/budget"},
        Case{"/faults/0/search/budget_evaluations", "0", "/faults/0/search/budget_evaluations"},
        Case{"/faults/0/search/budget_evaluations", "1e99", "/faults/0/search/budget_evaluations"},
        Case{"/faults/0/network", "\"none.tsv\"", "/faults/0/network"},
        Case{"/search/preset", "\"all\"", "paper, keras"},
        Case{"/search/seed", "1", "/search/seed"}, Case{"/answers/0", "\"none.csv\"", "none.csv"},
        Case{"/answers/0", "7", "/answers/0"},
        Case{"/answers/1", "\"answers.csv\"", "a second answer of wise on D7"},
        Case{"/tools/0", "\"hammer\"", "umlaut"}, Case{"/runs", "0", "/runs"},
        Case{"/name", "\"../up\"", "/name"},
        Case{"/score", "{\"match\": \"line\"}", "type, layer"}}) {
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
  EXPECT_NE(message_of([&] { load_study(file); }).find("/tools"), std::string::npos);
  EXPECT_NE(message_of([] { study_file("nothing"); }).find("quickstart"), std::string::npos);
}

}  // namespace
}  // namespace neutra
