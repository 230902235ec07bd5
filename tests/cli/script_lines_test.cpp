// Faults that were captured from a script: its lines in localise, parse, score, report, network and
// store.

#include <gtest/gtest.h>

#include <set>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

const fs::path kCaptured = source_file("tests/data/script");

/// A folder with the captured fault of tests/data/script. Its last layer is wrong, in line 21.
class Captured : public testing::Test {
 protected:
  Captured() {
    for (const char* name : {"fault.json", "fault.data.npz", "train.py"}) {
      fs::copy_file(kCaptured / name, folder_ / name);
    }
  }
  Called run(const std::vector<std::string>& words) const {
    const Called called = call(words, folder_.path());
    EXPECT_EQ(called.exit, 0) << called.err;
    return called;
  }
  Json json(const std::vector<std::string>& words) const {
    return parse_json(run(words).out, "out");
  }
  /// A small search; its store is s.h5.
  void search() const {
    run({"search", "fault.json", "--store", "s.h5", "--replicas", "5", "--budget-evaluations",
         "150", "--max-depth", "1", "--quiet"});
  }
  Json section() const { return read_json(folder_ / "fault.json").at("script"); }

  const Folder folder_;
};

TEST_F(Captured, StoreAndNetworkKeepTheSection) {
  search();
  Json expected = section();
  expected["folder"] = fs::canonical(folder_.path()).string();
  EXPECT_EQ(json({"network", "s.h5", "--format", "json"})["script"], expected);
  EXPECT_EQ(json({"store", "info", "s.h5", "--json"})["script"], expected);
  EXPECT_TRUE(has(run({"store", "info", "s.h5"}).out, {"script.file", "script.places  "}));
  // Also where the fault file is gone, and after lines moved.
  Json moved = read_json(folder_ / "fault.json");
  for (Json& place : moved["script"]["places"]) place["line"] = place["line"].get<int>() + 1;
  for (Json& place : moved["script"]["places"]) {
    place["end_line"] = place["end_line"].get<int>() + 1;
  }
  folder_.write("fault.json", to_text(moved));
  const Called again =
      run({"search", "fault.json", "--store", "s.h5", "--replicas", "5", "--budget-evaluations",
           "150", "--max-depth", "1", "--json", "--quiet"});
  EXPECT_EQ(parse_json(again.out, "out")["was_finished"], true);
  EXPECT_EQ(json({"network", "s.h5", "--format", "json"})["script"]["places"],
            moved["script"]["places"]);
  fs::remove(folder_ / "fault.json");
  EXPECT_EQ(json({"network", "s.h5", "--format", "json"})["script"], expected);
}

TEST_F(Captured, TheSearchIsThatOfTheFaultWithoutIt) {
  search();
  Json bare = read_json(folder_ / "fault.json");
  bare.erase("script");
  folder_.write("fault.json", to_text(bare));
  run({"search", "fault.json", "--store", "bare.h5", "--replicas", "5", "--budget-evaluations",
       "150", "--max-depth", "1", "--quiet"});
  EXPECT_EQ(run({"network", "s.h5"}).out, run({"network", "bare.h5"}).out);
  Json kept = json({"network", "s.h5", "--format", "json"});
  kept.erase("script");
  EXPECT_EQ(kept, json({"network", "bare.h5", "--format", "json"}));
  EXPECT_FALSE(json({"store", "info", "bare.h5", "--json"}).contains("script"));
}

TEST_F(Captured, LocaliseSaysTheLineOfEachFault) {
  const std::vector<std::string> words{"localise", "fault.json", "--tool", "neuralint"};
  std::vector<std::string> as_json = words;
  as_json.emplace_back("--json");
  const Json tool = json(as_json)["tools"][0];
  ASSERT_FALSE(tool["faults"].empty()) << tool;
  for (const Json& fault : tool["faults"]) {
    EXPECT_FALSE(fault["places"].empty()) << fault;
    for (const Json& place : fault["places"]) EXPECT_EQ(place["file"], "train.py") << fault;
  }
  const std::string first = tool["faults"][0]["fault"];
  const int line = tool["faults"][0]["places"][0]["line"];
  EXPECT_TRUE(has(run(words).out, {"  " + first + ": train.py:" + std::to_string(line), "lines"}));
  // Others are as they were.
  EXPECT_FALSE(
      json({"localise", "D6", "--tool", "neuralint", "--json"})["tools"][0].contains("faults"));
}

TEST_F(Captured, ParseKeepsLinesOfDeepFDAndAddsThoseOfFaults) {
  folder_.write("deepfd.txt",
                "working on subject:  train\nDiagnosed / Localized by DeepFD:\n"
                "Fault 1: [act], Lines: []\nFault 2: [loss], Lines: [25]\ncase end\n");
  const Json own = json({"parse", "--tool", "deepfd", "deepfd.txt", "--json"})["programs"][0];
  EXPECT_EQ(own["messages"][1]["lines"], Json::array({"25"}));
  EXPECT_FALSE(own["messages"][0].contains("lines"));
  EXPECT_FALSE(own.contains("places"));
  const std::vector<std::string> with{"parse",      "--tool",  "deepfd",
                                      "deepfd.txt", "--fault", "fault.json"};
  std::vector<std::string> words = with;
  words.emplace_back("--json");
  const Json known = json(words)["programs"][0];
  EXPECT_EQ(known["faults"], Json::array({"ACH", "LCH"}));
  ASSERT_EQ(known["places"].size(), 2U);
  EXPECT_EQ(known["places"][0]["fault"], "ACH");
  std::set<int> lines;
  for (const Json& place : known["places"][0]["places"]) lines.insert(place["line"].get<int>());
  EXPECT_EQ(lines, (std::set<int>{19, 20, 21}));
  EXPECT_TRUE(has(run(with).out, {"  ACH: train.py:19, train.py:20, train.py:21",
                                  "  LCH: train.py:25", "lines that the tool names: 25"}));
  words.back() = "--format";
  words.emplace_back("answers");
  EXPECT_EQ(run(words).out, "fault,tool,answer,runs,lines\ncaptured,deepfd,\"ACH, LCH\",1,25\n");
}

TEST_F(Captured, ScoresByLine) {
  search();
  folder_.write("a.csv",
                "fault,tool,answer,lines\ncaptured,layers,ACH(3),\ncaptured,wrong,ACH(1),\n"
                "captured,own,-,train.py:21\ncaptured,none,-,\n");
  const std::vector<std::string> words{"score", "--network", "s.h5", "--answers",
                                       "a.csv", "--match",   "line", "--json"};
  const Json scores = json(words);
  EXPECT_EQ(scores["match"], "line");
  const Json& rows = scores["scores"];
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0]["lines"], "train.py:21");
  EXPECT_EQ(rows[0]["after_recall"], 1);
  EXPECT_EQ(rows[2]["after_recall"], 1);
  EXPECT_EQ(rows[3]["after_recall"], 0);
  bool sigmoid = false;
  for (const Json& repair : scores["repairs"]) {
    sigmoid = sigmoid || repair["lines"] == "train.py:21";
  }
  EXPECT_TRUE(sigmoid) << scores["repairs"];
  EXPECT_TRUE(refused(call({"score", "--network", "s.h5", "--answers", "a.csv", "--match", "line",
                            "--variant", "as-published"},
                           folder_.path()),
                      2, {"--match line", "--variant"}));
  folder_.write("d7.csv", "fault,tool,answer\nD7,a,HLR\n");
  EXPECT_TRUE(refused(call({"score", "--answers", "d7.csv", "--match", "line"}, folder_.path()), 3,
                      {"D7.json", "/script", "--match type, layer"}));
}

TEST_F(Captured, TheReportHasLinesAlsoWithoutPython) {
  search();
  folder_.write("a.csv", "fault,tool,answer\ncaptured,layers,ACH(3)\n");
  const Json report = json({"report", "s.h5", "--json", "--answers", "a.csv", "--patches", "off"});
  EXPECT_EQ(report["script"]["file"], "train.py");
  EXPECT_EQ(report["script"]["folder"], fs::canonical(folder_.path()).string());
  EXPECT_EQ(report["patches"], nullptr);
  EXPECT_EQ(report["keys"]["act3"]["places"][0]["line"], 21);
  EXPECT_EQ(report["keys"]["unit1"]["places"][0]["line"], 7);
  EXPECT_EQ(report["keys"]["lr"]["places"][0]["kind"], "command_line");
  EXPECT_EQ(report["scores"]["tools"][0]["lines"], "train.py:21");
  const Called none =
      call({"report", "s.h5", "--json", "--python", "/no/such/python"}, folder_.path());
  ASSERT_EQ(none.exit, 0) << none.err;
  EXPECT_TRUE(has(none.err, {"the report has lines and no patches", "/no/such/python"}));
  const Json patches = parse_json(none.out, "out")["patches"];
  EXPECT_TRUE(has(patches["refusal"].get<std::string>(), {"/no/such/python"}));
  EXPECT_EQ(patches["repairs"], Json::object());
}

/// Python's standard library is all that patches need.
TEST_F(Captured, TheReportHasEachRepairAsAPatch) {
  search();
  const Called called = call({"report", "s.h5", "--json"}, folder_.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json report = parse_json(called.out, "out");
  ASSERT_EQ(report["patches"]["refusal"], nullptr) << report["patches"];
  bool sigmoid = false;
  for (const Json& node : report["network"]["nodes"]) {
    if (!node["alternative"].get<bool>()) continue;
    const Json& patch = report["patches"]["repairs"].at(std::to_string(node["id"].get<int>()));
    if (node["changes"] != Json{{"act3", "sigmoid"}}) continue;
    sigmoid = true;
    EXPECT_EQ(patch["refused"], Json::array());
    EXPECT_EQ(patch["diff"][0], "--- a/train.py");
    std::string text;
    for (const Json& line : patch["diff"]) text += line.get<std::string>() + "\n";
    EXPECT_TRUE(has(text, {"-        layers.Dense(1, activation=\"softmax\"),\n",
                           "+        layers.Dense(1, activation=\"sigmoid\"),\n"}));
  }
  EXPECT_TRUE(sigmoid);
  // Files that have changed since: lines alone.
  folder_.write("train.py", "\n" + folder_.read("train.py"));
  const Called changed = call({"report", "s.h5", "--json"}, folder_.path());
  ASSERT_EQ(changed.exit, 0) << changed.err;
  EXPECT_TRUE(has(parse_json(changed.out, "out")["patches"]["refusal"].get<std::string>(),
                  {"train.py has changed since it was captured"}));
}

}  // namespace
}  // namespace neutra::cli
