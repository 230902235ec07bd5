// `neutra localise`: answers, rankings, messages, the list of tools.

#include <gtest/gtest.h>

#include <set>
#include <sstream>

#include "base/json.h"
#include "base/strings.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

TEST(Localise, AToolWithoutMessagesHasNoHeadingForThem) {
  const Folder folder;
  const Called called =
      call({"localise", "D6", "--tool", "neuralint", "--runs", "1"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  EXPECT_FALSE(contains(called.out, "\n\n\n")) << called.out;
  std::istringstream lines(called.out);
  std::string last;
  for (std::string line; std::getline(lines, line);) last = line.empty() ? last : line;
  EXPECT_NE(last.back(), ':') << called.out;
}

TEST(Localise, LocaliseIsTheSameWithAnyNumberOfWorkers) {
  const Folder folder;
  std::vector<Json> answers;
  for (const char* workers : {"1", "3"}) {
    const Called called = call({"localise", "D6", "--runs", "4", "--json", "--workers", workers,
                                "--tool", "umlaut", "--tool", "umlaut"},
                               folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    Json tools = parse_json(called.out, "out")["tools"];
    ASSERT_EQ(tools.size(), 1u);
    EXPECT_EQ(tools[0]["answers"], Json::parse(R"([{"answer": "-", "runs": 4}])"));
    EXPECT_GT(tools[0]["seconds"].get<double>(), 0);
    EXPECT_EQ(tools[0]["runs"][0]["messages"][0]["code"], "no_softmax");
    for (Json& run : tools[0]["runs"]) run.erase("seconds");
    answers.push_back(tools[0]["runs"]);
  }
  EXPECT_EQ(answers[0], answers[1]);
}

TEST(Localise, LocaliseRepairedSaysNothingMisleading) {
  const Folder folder;
  const auto codes = [&](const char* defects) {
    const Called called =
        call({"localise", "D1", "--tool", "umlaut", "--runs", "1", "--defects", defects, "--json"},
             folder.path());
    EXPECT_EQ(called.exit, 0) << called.err;
    std::set<std::string> found;
    const Json tools = parse_json(called.out, "out")["tools"];
    EXPECT_EQ(tools[0]["answer"], "-") << called.out;
    for (const Json& message : tools[0]["runs"][0]["messages"]) found.insert(message["code"]);
    return found;
  };
  EXPECT_TRUE(codes("as-published").contains("no_softmax"));
  EXPECT_FALSE(codes("repaired").contains("no_softmax"));
}

TEST(Localise, LayersAreToldByNumberAndName) {
  const Folder folder;
  Json program = parse_json(call({"show", "D6", "--json"}, folder.path()).out, "out")["program"];
  Json& layers = program["model"]["config"]["layers"];
  layers[1]["config"]["name"] = "dense_out";
  const Json shape = layers[0]["config"]["batch_input_shape"];
  layers[0]["config"].erase("batch_input_shape");
  const Json input = {{"class_name", "InputLayer"},
                      {"config", {{"batch_input_shape", shape}, {"name", "rows"}}}};
  layers.insert(layers.begin(), input);
  folder.write("p.json", program.dump());
  const std::vector<std::string> localise{"localise",     "p.json", "--tool",
                                          "deeplocalize", "--runs", "1"};
  const Called text = call(localise, folder.path());
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_TRUE(has(text.out, {"layer 2, dense_out (the tool's layer 1): ", "  2, dense_out  "}));
  std::vector<std::string> as_json = localise;
  as_json.push_back("--json");
  const Json said = parse_json(call(as_json, folder.path()).out, "output");
  EXPECT_EQ(said["layer_names"], Json({"rows", "dense_1", "dense_out"}));
  EXPECT_EQ(said["tools"][0]["runs"][0]["messages"][0]["layers"], Json({2}));
  EXPECT_TRUE(has(call({"show", "p.json"}, folder.path()).out, {"2  dense_out  Dense"}));
}

TEST(Localise, StaticToolsNeedNoData) {
  const Folder folder;
  const Called called = call(
      {"localise", "D4", "--tool", "neuralint", "--json", "--data-dir", folder.path().string()},
      folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json tool = parse_json(called.out, "out")["tools"][0];
  EXPECT_EQ(tool["answer"], "ACH(0), BCI(0,1)");
  EXPECT_EQ(tool["runs"].size(), 1u);
}

TEST(Localise, LocalisePrintsRankings) {
  const Folder folder;
  const std::vector<std::string> arguments{"localise", "D6",       "--runs",    "2",
                                           "--tool",   "deepmufl", "--defects", "repaired"};
  const Called text = call(arguments, folder.path());
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_TRUE(has(text.out, {"rank  layer"}));
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--tool", "deepfault", "--json"});
  const Called json = call(as_json, folder.path());
  ASSERT_EQ(json.exit, 0) << json.err;
  const Json tools = parse_json(json.out, "out")["tools"];
  ASSERT_EQ(tools.size(), 12u);  // nine formulas and three measures
  for (const Json& tool : tools) {
    const Json& ranking = tool["runs"][1]["ranking"];
    EXPECT_EQ(ranking["layers"].size(), 2u) << tool["tool"];
    const bool neurons = tool["tool"].get<std::string>().starts_with("deepfault");
    EXPECT_EQ(ranking["neurons"].size(), neurons ? 4u : 0u) << tool["tool"];
    EXPECT_TRUE(ranking["layers"][0].contains("suspiciousness"));
  }
}

TEST(Localise, LocaliseWritesAnswersThatAreScored) {
  const Folder folder;
  const Called written = call({"localise", "D6", "--runs", "2", "--tool", "umlaut", "--tool",
                               "neuralint", "--format", "csv", "-o", "answers.csv"},
                              folder.path());
  ASSERT_EQ(written.exit, 0) << written.err;
  EXPECT_EQ(written.out, "");
  const std::string text = folder.read("answers.csv");
  EXPECT_TRUE(text.starts_with("fault,tool,answer,version,runs,")) << text;
  const Called scored = call({"score", "--answers", "answers.csv", "--json"}, folder.path());
  ASSERT_EQ(scored.exit, 0) << scored.err;
  const Json scores = parse_json(scored.out, "out")["scores"];
  ASSERT_EQ(scores.size(), 2u);
  EXPECT_EQ(scores[0]["fault"], "D6");
  EXPECT_EQ(scores[0]["tool"], "umlaut");
  EXPECT_EQ(scores[0]["answer"], "-");
  for (const char* other : {"--list", "--check-tool=none.json"})
    EXPECT_EQ(call({"localise", other, "--format", "csv"}, folder.path()).exit, 2) << other;
}

TEST(Localise, LocaliseListsToolsAndRefusesOthers) {
  const Folder folder;
  const Called list = call({"localise", "--list", "--json"}, folder.path());
  ASSERT_EQ(list.exit, 0) << list.err;
  EXPECT_EQ(parse_json(list.out, "out").back()["tool"], "umlaut");
  EXPECT_EQ(call({"localise"}, folder.path()).exit, 2);
  const Called unknown = call({"localise", "D6", "--tool", "umlat"}, folder.path());
  EXPECT_TRUE(refused(unknown, 2, {"--tool", "'umlat'", "umlaut"}));
}

}  // namespace
}  // namespace neutra::cli
