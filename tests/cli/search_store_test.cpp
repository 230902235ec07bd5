// `neutra search`, `network` and `store` together: going on, savings, kills.

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>

#include "base/json.h"
#include "base/strings.h"
#include "tests/cli/command.h"
#include "tests/count.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

TEST(SearchStore, SearchNetworkAndStoreGoTogether) {
  const Folder folder;
  const std::vector<std::string> search = {
      "search", "D7", "--store", "a.h5", "--budget-evaluations", "24", "-n", "3"};
  const Called first = call(search, folder.path(), 300);
  ASSERT_EQ(first.exit, 0) << first.err;
  EXPECT_EQ(folder.names(),
            (std::vector<std::string>{"a.h5"}));  // neither journal nor lock is left behind
  std::vector<std::string> as_json = search;
  as_json.emplace_back("--json");
  const Called again = call(as_json, folder.path());
  ASSERT_EQ(again.exit, 0) << again.err;
  EXPECT_EQ(parse_json(again.out, "out")["was_finished"], true);
  const Called other = call(
      {"search", "D7", "--store", "a.h5", "--budget-evaluations", "23", "-n", "3"}, folder.path());
  EXPECT_TRUE(refused(other, 3, {"a.h5", "budget_evaluations was 24, now 23"}));

  std::vector<std::string> one_worker = search;
  one_worker[3] = "b.h5";
  one_worker.insert(one_worker.end(), {"--workers", "1", "--curtail", "off"});
  ASSERT_EQ(call(one_worker, folder.path(), 300).exit, 0);
  const Called a = call({"network", "a.h5"}, folder.path()),
               b = call({"network", "b.h5"}, folder.path());
  ASSERT_EQ(a.exit, 0) << a.err;
  EXPECT_FALSE(a.out.empty());
  EXPECT_EQ(a.out, b.out);

  for (const char* format : {"tsv", "graphml", "dot", "json", "text"})
    EXPECT_EQ(call({"network", "a.h5", "--format", format, "-o", format}, folder.path()).exit, 0)
        << format;
  EXPECT_EQ(folder.read("tsv"), a.out);
  const Json json = parse_json(folder.read("json"), "json");
  EXPECT_EQ(json.begin().key(), "format");
  EXPECT_EQ(call({"network", "a.h5", "-o", "a.h5"}, folder.path()).exit, 2);  // its own store
  EXPECT_EQ(call({"store", "check", "a.h5"}, folder.path()).exit, 0);
  EXPECT_EQ(parse_json(call({"store", "info", "a.h5", "--json"}, folder.path()).out,
                       "out")["evaluations"],
            24);
}

/// The buggy program's loss scores all programs that are compared.
TEST(SearchStore, ALossThatScoresIsNamed) {
  const Folder folder;
  const Json layer = {{"class_name", "Dense"},
                      {"config", {{"units", 1}, {"batch_input_shape", {nullptr, 1}}}}};
  const Json program = {
      {"model", {{"class_name", "Sequential"}, {"config", {{"layers", {layer}}}}}},
      {"compile", {{"loss", "mean_squared_error"}, {"optimizer", "SGD"}}},
      {"fit", {{"epochs", 1}}},
      {"data",
       {{"source", "generator"},
        {"arguments", {{"name", "linear"}, {"rows", 50}, {"slope", 50}}},
        {"split", {{"test_size", 0.2}, {"seed", 42}}}}}};
  folder.write("f.json", Json{{"format", "neutra-fault"},
                              {"version", 1},
                              {"program", program},
                              {"fixed",
                               {{"patch",
                                 {{{"op", "add"},
                                   {"path", "/data/preprocess"},
                                   {"value", {{{"op", "scale"}, {"on", "y"}, {"by", 50}}}}}}}}}}
                             .dump());
  const std::string scored = "scored by mean_squared_error", scales = "different scales";
  const Called shown = call({"show", "f.json"}, folder.path());
  EXPECT_TRUE(has(shown.out, {scored, scales}));
  const Called checked =
      call({"faults", "f.json", "--check", "--replicas", "2", "--json"}, folder.path());
  EXPECT_TRUE(has(checked.err, {scored, scales}));
  const Called searched = call(
      {"search", "f.json", "--store", "f.h5", "--budget-evaluations", "6", "-n", "2", "--json"},
      folder.path());
  ASSERT_EQ(searched.exit, 0) << searched.err;
  EXPECT_TRUE(has(searched.err, {scored, scales}));
  EXPECT_EQ(parse_json(searched.out, "out")["metric"], "mse");
  const Called network = call({"network", "f.h5", "--format", "text"}, folder.path());
  EXPECT_TRUE(has(network.out, {scored}));
  const Called trained =
      call({"train", "f.json", "--version", "fixed", "--replicas", "1", "--json"}, folder.path());
  EXPECT_EQ(parse_json(trained.out, "out")["metric"], "mse") << trained.err;
}

TEST(SearchStore, ASearchWithALargerBudgetGoesOn) {
  const Folder folder;
  // So bad a level that every program is a repair.
  const auto search = [&](const std::string& store, const char* budget) {
    return call({"search", "D7", "--store", store, "--ground-truth-metric", "1000", "--replicas",
                 "2", "--budget-evaluations", budget},
                folder.path());
  };
  const Called small = search("a.h5", "10");
  ASSERT_EQ(small.exit, 0) << small.err;
  EXPECT_FALSE(contains(small.out, " more: ")) << small.out;
  const Called larger = search("a.h5", "40");
  ASSERT_EQ(larger.exit, 0) << larger.err;
  EXPECT_TRUE(has(larger.err, {"a.h5: ", "budget_evaluations was 10, now 40"}));
  ASSERT_EQ(search("b.h5", "40").exit, 0);
  const auto network = [&](const char* store, const char* format) {
    return call({"network", store, "--format", format}, folder.path()).out;
  };
  EXPECT_EQ(network("a.h5", "tsv"), network("b.h5", "tsv"));
  const Called again = search("a.h5", "10");
  EXPECT_TRUE(refused(again, 3, {"budget_evaluations was 40, now 10"}));

  // The best repairs, and where all are.
  const Json info = parse_json(call({"store", "info", "a.h5", "--json"}, folder.path()).out, "out");
  const auto repairs = info.at("alternatives").get<int>();
  ASSERT_GT(repairs, 20);
  int folded = 0;
  const Json json = parse_json(network("a.h5", "json"), "out");
  for (const Json& node : json["nodes"])
    folded += node["alternative"] == true && !node["within"].is_null();
  ASSERT_GT(folded, 1);
  EXPECT_TRUE(has(larger.out, {"and " + std::to_string(repairs - folded - 20) + " more",
                               " " + std::to_string(folded) + " ",
                               "neutra network a.h5 --format text --all-repairs"}));
  const std::string all =
      call({"network", "a.h5", "--format", "text", "--all-repairs"}, folder.path()).out;
  EXPECT_EQ(all.find(" more"), all.find(" more changes"));
  const auto lines = [](const std::string& text) {
    return std::count(text.begin(), text.end(), '\n');
  };
  EXPECT_EQ(
      lines(all.substr(all.find("Repairs: "), all.find("\nChanged in") - all.find("Repairs: "))),
      3 + repairs);
}

TEST(SearchStore, MinimisesAfterTheSearch) {
  const Folder folder;
  const std::vector<std::string> search = {"search",     "D7",      "--store",
                                           "a.h5",       "--top-k", "2",
                                           "--replicas", "2",       "--budget-evaluations",
                                           "300",        "--json"};
  const auto with = [](std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const Called searched = call(search, folder.path());
  ASSERT_EQ(searched.exit, 0) << searched.err;
  EXPECT_EQ(parse_json(searched.out, "out")["minimising"], nullptr);
  const std::string rows = call({"network", "a.h5"}, folder.path()).out;
  const Json before =
      parse_json(call({"network", "a.h5", "--format", "json"}, folder.path()).out, "out");
  EXPECT_GT(before["minimal"]["unknown"], 0);

  EXPECT_EQ(call(with(search, {"--budget-minimise", "3"}), folder.path()).exit, 2);  // alone
  const Called part = call(with(search, {"--minimise", "--budget-minimise", "1"}), folder.path());
  ASSERT_EQ(part.exit, 0) << part.err;
  EXPECT_EQ(parse_json(part.out, "out")["minimising"]["end"], "evaluation_budget");
  const Called minimised = call(with(search, {"--minimise"}), folder.path());
  ASSERT_EQ(minimised.exit, 0) << minimised.err;
  const Json json = parse_json(minimised.out, "out");
  EXPECT_EQ(json["counters"]["evaluations"], 300);
  EXPECT_EQ(json["minimising"]["end"], "queue_empty");
  EXPECT_EQ(json["was_finished"], false);  // something was trained
  EXPECT_EQ(
      parse_json(call(with(search, {"--minimise"}), folder.path()).out, "out")["was_finished"],
      true);
  EXPECT_EQ(json["minimal"]["unknown"], 0);
  EXPECT_GT(json["minimal"]["minimal"], 0);
  EXPECT_EQ(call({"network", "a.h5"}, folder.path()).out, rows);
  EXPECT_EQ(call({"store", "check", "a.h5"}, folder.path()).exit, 0);

  const Json network =
      parse_json(call({"network", "a.h5", "--format", "json"}, folder.path()).out, "out");
  EXPECT_EQ(network["minimal"], json["minimal"]);
  EXPECT_EQ(network["subpatches"].size(), json["minimising"]["counters"]["evaluations"]);
  const std::string text = call({"network", "a.h5", "--format", "text"}, folder.path()).out;
  const std::string all =
      call({"network", "a.h5", "--format", "text", "--all-repairs"}, folder.path()).out;
  EXPECT_TRUE(has(text, {"--all-repairs"}));
  EXPECT_TRUE(has(all, {"adds to "}));

  folder.write("answers.csv", "fault,tool,answer\nD7,tool,HLR\n");
  const auto score = [&](const std::vector<std::string>& more) {
    return parse_json(
        call(with({"score", "--network", "a.h5", "--answers", "answers.csv", "--format", "json"},
                  more),
             folder.path())
            .out,
        "out");
  };
  const Json every = score({}), minimal = score({"--minimal"});
  const auto counted = [](const Json& sheet) {
    return std::count_if(sheet["repairs"].begin(), sheet["repairs"].end(),
                         [](const Json& repair) { return repair["counts"] == true; });
  };
  // Those of the search, without what minimising found.
  EXPECT_EQ(counted(every), before["minimal"]["unknown"].get<int>() +
                                before["minimal"]["minimal"].get<int>() +
                                before["minimal"]["not_minimal"].get<int>());
  EXPECT_EQ(counted(minimal), network["minimal"]["minimal"]);
  EXPECT_EQ(minimal["minimal"], true);
}

TEST(SearchStore, FilesOfAnotherKindAreNamed) {
  const Folder folder;
  ASSERT_EQ(
      call({"search", "D7", "--store", "a.h5", "--replicas", "2", "--budget-evaluations", "2"},
           folder.path())
          .exit,
      0);
  ASSERT_EQ(call({"mutate", "D7", "--kill", "--operator", "missing_zero_grad", "--runs", "2",
                  "--store", "m.runs"},
                 folder.path())
                .exit,
            0);
  using Words = std::vector<std::string>;
  for (const auto& [words, named] : std::vector<std::pair<Words, Words>>{
           {{"import", "a.h5", "-o", "p.json"}, {"a.h5: found the store", "Keras"}},
           {{"evaluate", "a.h5"}, {"a.h5: found the store", "Keras"}},
           {{"show", "a.h5"}, {"a.h5: found the store", "JSON"}},
           {{"bench", "info", "a.h5"}, {"a.h5: found the store", "a benchmark"}},
           {{"store", "info", "m.runs"}, {"m.runs: found the runs of neutra mutate --kill"}},
           {{"store", "repair", "m.runs"}, {"m.runs: found the runs of neutra mutate --kill"}}}) {
    const Called called = call(words, folder.path());
    EXPECT_TRUE(refused(called, 3, named));
    EXPECT_FALSE(contains(called.err, "still free")) << called.err;
  }
  const Called copied = call({"store", "repair", "a.h5", "-o", "copy.h5", "--json"}, folder.path());
  ASSERT_EQ(copied.exit, 0) << copied.err;
  EXPECT_EQ(parse_json(copied.out, "out")["finished"], true);
  EXPECT_EQ(call({"network", "copy.h5"}, folder.path()).out,
            call({"network", "a.h5"}, folder.path()).out);
}

/// Writes graph.json: a skip connection, a layer that is called twice, and a rate that is too low.
void write_graph(const Folder& folder) {
  folder.write("graph.json", R"({
    "format": "neutra-program", "version": 1,
    "model": {"class_name": "Functional", "config": {"layers": [
      {"class_name": "InputLayer", "config": {"name": "in", "batch_input_shape": [null, 2]}},
      {"class_name": "Dense", "config": {"name": "a", "units": 2, "activation": "tanh"}},
      {"class_name": "Dense", "config": {"name": "again"}, "weights_of": "a"},
      {"class_name": "Add", "config": {"name": "sum"}, "inputs": ["again", "in"]},
      {"class_name": "Concatenate", "config": {"name": "all"}, "inputs": ["sum", "a"]},
      {"class_name": "Dense", "config": {"units": 8, "activation": "relu"}},
      {"class_name": "Dense", "config": {"units": 1, "activation": "sigmoid"}}]}},
    "compile": {"loss": "binary_crossentropy", "metrics": ["accuracy"],
                "optimizer": {"class_name": "Adam", "config": {"learning_rate": 0.00001}}},
    "fit": {"epochs": 20},
    "data": {"source": "generator", "arguments": {"name": "circles", "rows": 200, "noise": 0.05},
             "split": {"test_size": 0.2, "seed": 42}}})");
}

/// Searches D7 or the graph, further words behind.
std::vector<std::string> search_of(const std::string& fault, const std::string& store,
                                   const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"search", fault, "--store", store, "--budget-evaluations",
                                    "40",     "-n",  "2",       "-q"};
  if (fault != "D7") words.insert(words.end(), {"--ground-truth-metric", "0.9"});
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Each life ends with SIGKILL once it has trained more than the one before. Gives the deaths.
int search_through_deaths(const Folder& folder, std::vector<std::string> words,
                          const std::string& journal) {
  const auto results = [&] { return count(folder.read(journal), "\"finished\""); };
  words.insert(words.begin(), built_command());
  int killed = 0;
  for (std::size_t life = 1;; ++life) {
    Running running(words, folder.path());
    const std::size_t before = results();
    running.wait_until([&] { return results() >= before + life; });
    kill(running.pid(), SIGKILL);
    const Called called = running.wait(300);
    if (called.exit != 128 + SIGKILL) {
      EXPECT_EQ(called.exit, 0) << called.err;
      return killed;
    }
    ++killed;
  }
}

TEST(SearchStore, KilledSearchesGoOnToTheSameNetwork) {
  const Folder folder;
  write_graph(folder);
  for (const std::string fault : {"D7", "graph.json"}) {
    const std::vector<std::string> eager = {"--backend", "eager"};
    const Called whole = call(search_of(fault, "whole.h5", eager), folder.path(), 300);
    ASSERT_EQ(whole.exit, 0) << whole.err;
    EXPECT_GT(
        search_through_deaths(folder, search_of(fault, "killed.h5", eager), "killed.h5.journal"),
        0);
    EXPECT_EQ(call({"network", "killed.h5"}, folder.path()).out,
              call({"network", "whole.h5"}, folder.path()).out)
        << fault;
    for (const char* store : {"killed.h5", "whole.h5"}) fs::remove(folder.path() / store);
  }
}

TEST(SearchStore, GraphsAreSearchedAlikeByAnyNumberOfWorkers) {
  const Folder folder;
  write_graph(folder);
  std::string network;
  for (const char* workers : {"1", "2", "5"}) {
    const std::string store = workers + std::string(".h5");
    const Called called =
        call(search_of("graph.json", store, {"--workers", workers}), folder.path(), 300);
    ASSERT_EQ(called.exit, 0) << called.err;
    const std::string found = call({"network", store}, folder.path()).out;
    if (network.empty()) network = found;
    EXPECT_EQ(found, network) << workers;
  }
  EXPECT_GT(count(network, "\n"), 3U);  // there are repairs
}

TEST(SearchStore, NetworkOfATsvReadsBack) {
  const Folder folder;
  const std::string d7 =
      "act1=linear,batch_size=32,bi1=zeros,epochs=200,ki1=glorot_uniform,loss=mean_squared_error,"
      "lr=0.001,"
      "optimizer=rmsprop,unit1=1";
  std::string child = d7;
  child.replace(child.find("lr=0.001"), 8, "lr=0.01");
  const std::string text =
      "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\tparent_node_param_string\t"
      "current_node_param_string\tis_gt\n0\t32\t[5.18, 7.63]\t[0.5, 0.6]\t" +
      d7 + "\t" + child + "\tFalse\n";
  folder.write("n.tsv", text);
  const Called called = call({"network", "n.tsv"}, folder.path());
  EXPECT_EQ(called.exit, 0) << called.err;
  EXPECT_EQ(called.out, text);
}

}  // namespace
}  // namespace neutra::cli
