#include <gtest/gtest.h>

#include <regex>

#include "base/json.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

/// A line that a Dense(1) fits with a small learning rate; with a large one every training
/// diverges.
class Divergence : public testing::Test {
 protected:
  Divergence() {
    for (const char* metric : {"mae", "mse", "loss"}) {
      write(std::string("line_") + metric, metric, "0.1", "0.0001");
    }
    write("reverse", "mae", "0.0001", "0.1");
    write("both", "mae", "0.1", "0.2");
    Json program = line("mae");
    program["compile"]["optimizer"]["config"]["learning_rate"] = 0.0001;
    folder.write("fixed.json", to_text(program));
  }

  static Json line(const std::string& metric) {
    Json program = Json::parse(R"({
      "format": "neutra-program", "version": 1, "name": "line", "task": "regression",
      "model": {"class_name": "Sequential", "config": {"layers": [
        {"class_name": "Dense", "config": {"units": 1, "batch_input_shape": [null, 1]}}]}},
      "compile": {"optimizer": {"class_name": "SGD", "config": {"learning_rate": 0.1}},
                  "loss": "mse", "metrics": []},
      "fit": {"batch_size": 32, "epochs": 5},
      "data": {"source": "generator",
               "arguments": {"name": "linear", "rows": 200, "slope": 2, "low": 0, "high": 100},
               "split": {"test_size": 0.3, "seed": 1}}})");
    if (metric != "loss") program["metric"] = {{"name", metric}, {"goal", "minimize"}};
    return program;
  }
  void write(const std::string& name, const std::string& metric, const std::string& buggy,
             const std::string& fixed) const {
    folder.write(name + ".json", to_text({{"format", "neutra-fault"},
                                          {"version", 1},
                                          {"id", name},
                                          {"title", "a line"},
                                          {"origin", "artificial"},
                                          {"source", "made up"},
                                          {"program", line(metric)},
                                          {"buggy", {{"parameters", {{"lr", buggy}}}}},
                                          {"fixed", {{"parameters", {{"lr", fixed}}}}}}));
  }

  /// The text that a call prints, which has no NaN in it.
  std::string text(const std::vector<std::string>& arguments, int exit = 0) const {
    const Called called = call(arguments, folder.path());
    EXPECT_EQ(called.exit, exit) << called.out << called.err;
    EXPECT_FALSE(std::regex_search(called.out, std::regex("(^|[^a-z_])-?nan([^a-z]|$)")))
        << called.out;
    return called.out;
  }
  Json json(std::vector<std::string> arguments, int exit = 0) const {
    arguments.emplace_back("--json");
    const Called called = call(arguments, folder.path());
    EXPECT_EQ(called.exit, exit) << called.out << called.err;
    return parse_json(called.out, "out");
  }

  const Folder folder;
};

TEST_F(Divergence, IsAVerdictOfFaults) {
  for (const char* metric : {"mae", "mse", "loss"}) {
    for (const int replicas : {2, 10}) {
      const std::string file = std::string("line_") + metric + ".json";
      const std::string all =
          std::to_string(replicas) + " of " + std::to_string(replicas) + " diverged";
      const std::vector<std::string> check{"faults", file, "--check", "-n",
                                           std::to_string(replicas)};
      const Json row = json(check)[0];
      EXPECT_TRUE(row["shows"].get<bool>());
      EXPECT_EQ(row["diverged"], (Json{{"buggy", replicas}, {"fixed", 0}, {"of", replicas}}));
      EXPECT_TRUE(row["p"].is_number());
      EXPECT_TRUE(row["buggy"][0].is_null());
      const std::string table = text(check);
      EXPECT_TRUE(has(table, {"  " + all + "  "}));
    }
  }
  const Json reverse = json({"faults", "reverse.json", "--check", "-n", "3"}, 1)[0];
  EXPECT_FALSE(reverse["shows"].get<bool>());
  EXPECT_TRUE(has(reverse["verdict"], {"worse", "3 of 3 diverged"}));
  EXPECT_EQ(reverse["diverged"], (Json{{"buggy", 0}, {"fixed", 3}, {"of", 3}}));
  const Json both = json({"faults", "both.json", "--check", "-n", "3"}, 1)[0];
  EXPECT_FALSE(both["shows"].get<bool>());
  EXPECT_EQ(both["p"], 1);
  EXPECT_EQ(both["d"], 0);
  text({"faults", "both.json", "--check", "-n", "3"}, 1);
}

TEST_F(Divergence, OfClassificationsIsCounted) {
  Json program = Json::parse(R"({
    "format": "neutra-program", "version": 1, "name": "moons", "task": "classification",
    "model": {"class_name": "Sequential", "config": {"layers": [
      {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid",
                                         "batch_input_shape": [null, 2]}}]}},
    "compile": {"optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.1}},
                "loss": "binary_crossentropy", "metrics": ["accuracy"]},
    "fit": {"batch_size": 32, "epochs": 5},
    "data": {"source": "generator", "arguments": {"name": "moons", "rows": 200},
             "split": {"test_size": 0.3, "seed": 1}}})");
  const Json mutations = Json::array({{{"op", "zero_sample_weights"}}});
  const Json patch = {{{"op", "add"}, {"path", "/data/mutations"}, {"value", mutations}}};
  folder.write("moons.json", to_text({{"format", "neutra-fault"},
                                      {"version", 1},
                                      {"id", "moons"},
                                      {"title", "moons"},
                                      {"origin", "artificial"},
                                      {"source", "made up"},
                                      {"program", program},
                                      {"buggy", {{"patch", patch}}},
                                      {"fixed", Json::object()}}));
  const Json row = json({"faults", "moons.json", "--check", "-n", "3"})[0];
  EXPECT_TRUE(row["shows"].get<bool>());
  EXPECT_EQ(row["diverged"], (Json{{"buggy", 3}, {"fixed", 0}, {"of", 3}}));
  EXPECT_TRUE(row["buggy"][0].is_number());  // outputs that are no numbers are class 0
}

TEST_F(Divergence, IsAVerdictOfMutants) {
  const std::vector<std::string> kill{
      "mutate",     "fixed.json",          "--operator", "missing_values_nan",
      "--operator", "zero_sample_weights", "--kill",     "--runs",
      "5"};
  const Json found = json(kill);
  ASSERT_GT(found["mutants"].size(), 2u);
  for (const Json& mutant : found["mutants"]) {
    EXPECT_EQ(mutant["status"], "diverged");
    const Json& verdict = mutant["verdicts"]["test"];
    EXPECT_TRUE(verdict["killed"].get<bool>()) << mutant.dump(1);
    EXPECT_TRUE(verdict["stable"].get<bool>());
    EXPECT_EQ(verdict["diverged"], 5);
    EXPECT_TRUE(verdict["mean"].is_null());
  }
  EXPECT_TRUE(found["operators"][0]["searches"][0]["killed"].is_number());
  EXPECT_EQ(found["mutation_score"]["test"], 1);
  EXPECT_TRUE(has(text(kill), {"5 of 5 diverged"}));
  for (const char* format : {"csv", "json"}) {
    std::vector<std::string> other = kill;
    other.insert(other.end(), {"--format", format, "--report", "report.json"});
    text(other);
  }
  EXPECT_TRUE(has(folder.read("report.json"), {"5 of 5 diverged"}));
  // The published analysis says nothing of them.
  std::vector<std::string> published = kill;
  published.insert(published.end(), {"--variant", "as-published"});
  EXPECT_TRUE(json(published)["mutants"][0]["verdicts"]["test"]["killed"].is_null());
}

TEST_F(Divergence, OfTheBuggyProgramOrTheKnownFixIsSaidOfNetworks) {
  const std::vector<std::string> budget{"--budget-evaluations", "20", "-n", "3"};
  const auto search = [&](std::vector<std::string> words) {
    words.insert(words.end(), budget.begin(), budget.end());
    return text(words);
  };
  EXPECT_TRUE(std::regex_search(search({"search", "line_mae.json", "--store", "line.h5"}),
                                std::regex("buggy program +3 of 3 diverged")));
  const std::string reverse =
      search({"search", "reverse.json", "--store", "reverse.h5", "--ground-truth-metric", "1000"});
  EXPECT_TRUE(std::regex_search(reverse, std::regex("known fix +3 of 3 diverged"))) << reverse;
  EXPECT_TRUE(std::regex_search(reverse, std::regex("\n\\* "))) << reverse;
  bool marked = false;
  const Json network = json({"network", "reverse.h5"});
  for (const Json& node : network["nodes"]) {
    if (!node["alternative"].get<bool>()) continue;
    EXPECT_TRUE(node["significant"].get<bool>());
    EXPECT_EQ(node["role"] == "significantly_better", node["id"] != 0);
    EXPECT_TRUE(node["p"].is_number());
    marked = true;
  }
  EXPECT_TRUE(marked);
  for (const char* store : {"line.h5", "reverse.h5"}) {
    text({"network", store, "--format", "text"});
    text({"network", store, "--format", "dot"});
    EXPECT_EQ(call({"report", store, "-o", "report.html"}, folder.path()).exit, 0);
  }
  text({"train", "line_mae.json", "-n", "3"});
}

TEST_F(Divergence, MakesEntriesOfBenchmarks) {
  folder.write("plan.json", R"({"format": "neutra-benchmark-plan", "version": 1, "name": "mine",
    "runs": 5, "operators": ["missing_values_nan", "zero_sample_weights"], "subjects": [
      {"subject": "fixed.json", "source": "made up", "licence": "none"}]})");
  text({"bench", "create", "plan.json", "-o", "mine.h5"});
  const Json entries = json({"bench", "list", "mine.h5"});
  ASSERT_GE(entries.size(), 2u);
  for (const Json& entry : entries) {
    EXPECT_EQ(entry["category"], "numeric_error") << entry.dump(1);
    EXPECT_TRUE(entry["test"]["buggy_mean"].is_null());
    EXPECT_EQ(entry["symptoms"][0], (Json{{"symptom", "divergence"}, {"value", 1.0}}));
  }
  EXPECT_TRUE(json({"bench", "validate", "mine.h5"})["sound"].get<bool>());
  EXPECT_EQ(json({"bench", "test", "mine.h5"})["passed"], entries.size());
  for (const char* action : {"list", "info", "test"}) {
    EXPECT_FALSE(text({"bench", action, "mine.h5"}).empty());
  }
  EXPECT_TRUE(has(text({"bench", "list", "mine.h5"}), {"5 of 5 diverged"}));
  text({"bench", "info", "mine.h5", "1"});
  text({"bench", "export", "mine.h5", "--format", "csv"});
  text({"bench", "checkout", "mine.h5", "1b", "-w", "work"});
  EXPECT_TRUE(has(folder.read("work/README.md"), {"5 of 5 diverged"}));
  // The entries are faults that show.
  text({"bench", "export", "mine.h5", "--format", "fault", "-o", "faults"});
  EXPECT_TRUE(json({"faults", "faults/mine-1.json", "--check", "-n", "3"})[0]["shows"].get<bool>());
}

}  // namespace
}  // namespace neutra::cli
