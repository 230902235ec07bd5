// What `neutra search` takes for granted: budgets, presets, order of equals, what a repair is.

#include <gtest/gtest.h>

#include <map>

#include "base/json.h"
#include "base/strings.h"
#include "tests/cli/command.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

/// Two clusters and a tiny learning rate; the known fix uses a value that preset paper lacks.
Json blobs() {
  return Json::parse(R"({
    "format": "neutra-fault", "version": 1, "id": "blobs", "title": "blobs",
    "program": {
      "format": "neutra-program", "version": 1, "name": "blobs",
      "model": {"class_name": "Sequential", "config": {"name": "blobs", "layers": [
        {"class_name": "Dense", "config": {"units": 4, "activation": "relu", "batch_input_shape": [null, 2]}},
        {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}},
      "compile": {"optimizer": {"class_name": "SGD", "config": {"learning_rate": 1e-05}},
                  "loss": "binary_crossentropy", "metrics": ["accuracy"]},
      "fit": {"batch_size": 16, "epochs": 5},
      "data": {"source": "generator", "arguments": {"name": "blobs", "rows": 120, "seed": 1},
               "split": {"test_size": 0.5, "seed": 42}},
      "metric": {"name": "accuracy", "goal": "maximize"}},
    "fixed": {"parameters": {"lr": "0.1", "act1": "tanh"}}})");
}

class SearchCommand : public testing::Test {
 protected:
  Called neutra(const std::vector<std::string>& words) const { return call(words, folder.path()); }
  Called search(std::vector<std::string> words) const {
    words.insert(words.begin(), "search");
    words.insert(words.end(), {"-n", "2", "--json"});
    return neutra(words);
  }
  Json json(const std::vector<std::string>& words) const {
    const Called called = search(words);
    EXPECT_EQ(called.exit, 0) << called.err;
    return parse_json(called.out, "out");
  }
  const Folder folder;
};

TEST_F(SearchCommand, SaysItsBudgetFirst) {
  folder.write("f.json", blobs().dump());
  const auto first_line = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "f.json");
    const Called called = search(words);
    EXPECT_EQ(called.exit, 0) << called.err;
    return called.err.substr(0, called.err.find('\n'));
  };
  const std::vector<std::string> little = {"--max-depth", "0", "--store"};
  const auto with = [&](const char* store, std::vector<std::string> words) {
    words.insert(words.begin(), little.begin(), little.end());
    words.insert(words.begin() + 3, store);
    return first_line(words);
  };
  EXPECT_TRUE(has(with("a.h5", {}), {"budget: 10 minutes (--budget-time)"}));
  const std::string five = with("b.h5", {"--budget-evaluations", "5"});
  EXPECT_TRUE(has(five, {"budget: 5 evaluations (--budget-evaluations)"}));
  EXPECT_FALSE(contains(five, "--budget-time"));
  const std::vector<std::string> both{"budget: 5 evaluations (--budget-evaluations)",
                                      "90 minutes (--budget-time)"};
  EXPECT_TRUE(has(with("c.h5", {"--budget-evaluations", "5", "--budget-time", "90m"}), both));
  // A store keeps its own.
  EXPECT_TRUE(has(with("c.h5", {}), both));
  EXPECT_TRUE(has(with("b.h5", {"--budget-evaluations", "6"}), {"budget: 6 evaluations"}));
  EXPECT_EQ(search({"f.json", "--max-depth", "0", "--store", "b.h5", "--budget-time", "1h"}).exit,
            3);  // that would be a smaller one
}

TEST_F(SearchCommand, OwnFilesAndTheStudysFaultsHaveTheirOwnDefaults) {
  folder.write("f.json", blobs().dump());
  const Json own = json({"f.json", "--budget-evaluations", "2"});
  EXPECT_EQ(own["preset"], "keras");
  EXPECT_EQ(own["ties"], "spread");
  EXPECT_TRUE(own["budget_seconds"].is_null());
  const Json bundled = json({"D7", "--budget-evaluations", "2"});
  EXPECT_EQ(bundled["preset"], "paper");
  EXPECT_EQ(bundled["ties"], "parameters");
  const Json wide =
      json({"D7", "--store", "w.h5", "--preset", "keras", "--budget-evaluations", "2"});
  EXPECT_EQ(wide["ties"], "spread");
  const Json recorded = json({"f.json", "--store", "r.h5", "--rule", "recorded", "--preset",
                              "paper", "--budget-evaluations", "2"});
  EXPECT_EQ(recorded["ties"], "parameters");
  // What a store was made with, it keeps.
  for (const char* store : {"w.h5", "D7.h5"}) {
    const Json again = json({"D7", "--store", store});
    EXPECT_TRUE(again["was_finished"].get<bool>()) << store;
    EXPECT_EQ(again["preset"], store[0] == 'w' ? "keras" : "paper");
  }
  EXPECT_EQ(search({"D7", "--store", "w.h5", "--preset", "paper"}).exit, 3);
  EXPECT_EQ(json({"f.json", "--store", "o.h5", "--ties", "parameters", "--preset", "paper",
                  "--budget-evaluations", "2"})["ties"],
            "parameters");
  EXPECT_EQ(json({"f.json", "--store", "o.h5", "--budget-evaluations", "3"})["ties"], "parameters");
}

TEST_F(SearchCommand, WithoutAKnownFixARepairImprovesSignificantly) {
  Json fault = blobs();
  fault.erase("fixed");
  folder.write("f.json", fault.dump());
  const std::vector<std::string> words = {"search", "f.json",      "-n", "5",     "--preset",
                                          "paper",  "--max-depth", "1",  "--json"};
  const Called called = neutra(words);
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json result = parse_json(called.out, "out");
  EXPECT_TRUE(result["improve"].get<bool>());
  EXPECT_TRUE(result["ground_truth"].is_null());
  EXPECT_GT(result["alternatives"], 0);
  EXPECT_EQ(result["alternatives"], result["significantly_better"]);
  const Called text = neutra({"network", "blobs.h5", "--format", "text"});
  EXPECT_TRUE(has(text.out, {"significantly better than the buggy program"}));
  const Json network = parse_json(neutra({"network", "blobs.h5", "--format", "json"}).out, "out");
  EXPECT_EQ(network["repair"], "improves_significantly");
  const Called tsv = neutra({"network", "blobs.h5"});
  EXPECT_TRUE(has(tsv.err, {"significantly better"}));
  ASSERT_EQ(neutra({"report", "blobs.h5", "-o", "f.html"}).exit, 0);

  folder.write("a.csv", "fault,tool,answer\nblobs,mine,LCH\n");
  const Called score = neutra(
      {"score", "--network", "blobs.h5", "--fault", "f.json", "--answers", "a.csv", "--json"});
  ASSERT_EQ(score.exit, 0) << score.err;
  EXPECT_EQ(parse_json(score.out, "out")["scores"][0]["after_recall"], 1) << score.out;

  // A level alone is what a repair reaches; with --improve, both count.
  const Json level = json(
      {"f.json", "--store", "l.h5", "--ground-truth-metric", "0.9", "--budget-evaluations", "1"});
  EXPECT_FALSE(level["improve"].get<bool>());
  const Json both = json({"f.json", "--store", "b.h5", "--ground-truth-metric", "0.9", "--improve",
                          "--budget-evaluations", "1"});
  EXPECT_TRUE(both["improve"].get<bool>());
  EXPECT_EQ(both["ground_truth"], 0.9);
  // The store says what it was made with; one training each tells nothing.
  const Called without = search({"f.json", "--store", "l.h5", "--budget-evaluations", "1"});
  EXPECT_TRUE(refused(without, 3, {"l.h5", "ground_truth_metric was 0.9"}));
  EXPECT_EQ(neutra({"search", "f.json", "-n", "1", "--improve", "--store", "n.h5"}).exit, 2);
}

TEST_F(SearchCommand, SaysWhatOfTheKnownFixIsOutOfReach) {
  folder.write("f.json", blobs().dump());
  const std::string reason = "act1=tanh is not among the values of preset paper";
  const Called paper = search({"f.json", "--preset", "paper", "--budget-evaluations", "2"});
  EXPECT_TRUE(has(paper.err, {"warning: ", reason}));
  EXPECT_EQ(parse_json(paper.out, "out")["out_of_reach"][0]["reason"], reason);
  const Called keras = search({"f.json", "--store", "k.h5", "--budget-evaluations", "2"});
  EXPECT_FALSE(contains(keras.err, "out of reach")) << keras.err;
  EXPECT_TRUE(parse_json(keras.out, "out")["out_of_reach"].empty());
  const Called shallow =
      search({"f.json", "--store", "s.h5", "--max-depth", "1", "--budget-evaluations", "1"});
  EXPECT_TRUE(has(shallow.err, {"5 changes", "1 at most"}));

  const Called text = neutra({"network", "blobs.h5", "--format", "text"});
  EXPECT_TRUE(has(text.out, {reason}));
  const Called show = neutra({"show", "f.json"});
  EXPECT_TRUE(has(show.out, {"--preset paper: ", reason}));
  EXPECT_FALSE(contains(show.out, "--preset keras")) << show.out;
  const Json shown = parse_json(neutra({"show", "f.json", "--json"}).out, "out");
  EXPECT_EQ(shown["out_of_reach"]["paper"][0]["value"], "tanh");
  EXPECT_TRUE(shown["out_of_reach"]["keras"].empty());
  // Which metrics the fix compiles is no part of it.
  Json measured = blobs();
  measured["fixed"] = {{"patch", Json::parse(R"([
    {"op": "replace", "path": "/compile/optimizer/config/learning_rate", "value": 0.1},
    {"op": "replace", "path": "/compile/metrics", "value": ["mae"]},
    {"op": "remove", "path": "/metric"}])")}};
  folder.write("m.json", measured.dump());
  EXPECT_TRUE(
      parse_json(neutra({"show", "m.json", "--json"}).out, "out")["out_of_reach"]["keras"].empty());
}

/// Five programs on plateaus of different kinds, where two changes repair and the first of them
/// does nothing by itself (docs/methods/search.md, "Ties"). Their test rows have as many of one
/// class as of the other, so that programs that always answer alike are equally good.
TEST_F(SearchCommand, FindsRepairsOfTwoStepsOnPlateaus) {
  const std::filesystem::path plateaus = source_file("tests/cli/data/plateaus");
  std::filesystem::copy(plateaus, folder.path());
  // Repairs by two changes whose parent is exactly as good as the buggy program.
  const auto found = [&](const std::string& program, const char* ties) {
    const Called called =
        neutra({"search", program + ".json", "--store", "s.h5", "--fresh", "--preset", "paper",
                "--ties", ties, "--budget-evaluations", "300", "-n", "2", "--quiet", "--json"});
    EXPECT_EQ(called.exit, 0) << called.err;
    const Json network = parse_json(neutra({"network", "s.h5", "--format", "json"}).out, "out");
    std::map<int, Json> nodes;
    for (const Json& node : network["nodes"]) nodes[node["id"]] = node;
    int repairs = 0;
    for (const Json& link : network["links"]) {
      const Json &parent = nodes.at(link["source"]), &child = nodes.at(link["target"]);
      EXPECT_FALSE(child["alternative"].get<bool>() && child["depth"] == 1) << program;
      repairs += child["alternative"].get<bool>() && child["depth"] == 2 &&
                 parent["mean"] == nodes.at(0)["mean"];
    }
    return repairs;
  };
  for (const char* program :
       {"loss_activation", "loss_rate", "zero_kernels", "dead_layers", "alike_units"}) {
    EXPECT_GT(found(program, "spread"), 0) << program;
  }
  EXPECT_EQ(found("loss_rate", "parameters"), 0);
}

}  // namespace
}  // namespace neutra::cli
