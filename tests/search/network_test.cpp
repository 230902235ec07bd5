#include "search/network.h"

#include <gtest/gtest.h>

#include <sstream>

#include "base/error.h"
#include "search/network_reader.h"
#include "search/options.h"
#include "tests/shared_data.h"

namespace neutra::search {
namespace {

Network small_network() {
  const auto node = [](std::int64_t id, std::int64_t parent, const char* parameters,
                       std::vector<double> metrics) {
    Node node;
    node.id = id;
    node.parent = parent;
    node.depth = parent < 0 ? 0 : 1;
    node.parameters = program::parse_parameters(parameters, "");
    node.metrics = std::move(metrics);
    node.mean = (node.metrics[0] + node.metrics[1]) / 2;
    node.status = "ok";
    return node;
  };
  Network network;
  network.fault_id = "F\"1";
  network.ground_truth = 0.5;
  network.fixed_parameters = program::parse_parameters("act1=relu,lr=0.1", "");
  network.nodes = {node(0, -1, "act1=relu,lr=0.001", {0.1, 0.52}),
                   node(1, 0, "act1=sigmoid,lr=0.001", {0.25, 0.5}),
                   node(2, 0, "act1=relu,lr=0.01", {1, 1}),
                   node(3, 0, "act1=<new>,lr=0.001", {0.5, 0.625})};
  network.nodes[2].alternative = network.nodes[2].significant = network.nodes[2].queued = true;
  network.nodes[2].p = 0.001;
  network.nodes[2].d = 3;
  network.nodes[3].alternative = true;
  network.nodes[0].dequeued = 0;
  network.edges = {{0, 2}, {0, 3}};
  return network;
}

template <typename Write>
std::string text_of(Write write, const Network& network) {
  std::ostringstream out;
  write(network, out);
  return out.str();
}

TEST(Network, Tsv) {
  EXPECT_EQ(text_of(write_tsv, small_network()),
            "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
            "parent_node_param_string\tcurrent_node_param_string\tis_gt\n"
            "0\t2\t[0.1, 0.52]\t[1.0, 1.0]\tact1=relu,lr=0.001\tact1=relu,lr=0.01\tTrue\n"
            "0\t3\t[0.1, 0.52]\t[0.5, 0.625]\tact1=relu,lr=0.001\tact1=<new>,lr=0.001\tTrue\n");
}

TEST(Network, Dot) {
  EXPECT_EQ(text_of(write_dot, small_network()),
            "digraph \"F\\\"1\" {\n  rankdir=LR; nodesep=0.1; ranksep=0.3;\n"
            "  label=<<table border=\"0\" cellborder=\"1\" cellspacing=\"6\" cellpadding=\"6\"><tr>"
            "<td border=\"0\">F&quot;1</td>"
            "<td bgcolor=\"#000000\"><font color=\"#ffffff\">buggy program</font></td>"
            "<td bgcolor=\"#0072b2\"><font color=\"#ffffff\">better than the known fix</font></td>"
            "<td bgcolor=\"#80d0a0\"><font color=\"#000000\">on par with it</font></td>"
            "<td bgcolor=\"#ffffff\"><font color=\"#000000\">neutral with its parent</font></td>"
            "<td border=\"0\">the known fix is not among these programs</td>"
            "<td border=\"0\">numbers: id, mean accuracy (higher is better)</td>"
            "</tr></table>>; labelloc=b; fontname=\"sans-serif\"; fontsize=10;\n"
            "  node [fontname=\"sans-serif\", fontsize=10, margin=\"0.05,0.03\", width=0.3, "
            "height=0.2];\n"
            "  edge [color=\"#666666\", arrowsize=0.6, fontname=\"sans-serif\", "
            "fontsize=8];\n"
            "  n0 [label=\"0\\n0.31\", tooltip=\"act1=relu,lr=0.001\", style=\"filled\", "
            "fillcolor=\"#000000\", fontcolor=\"#ffffff\", shape=box];\n"
            "  n2 [label=\"2\\n1\", tooltip=\"act1=relu,lr=0.01\", style=\"filled\", "
            "fillcolor=\"#0072b2\", fontcolor=\"#ffffff\", peripheries=2];\n"
            "  n3 [label=\"3\\n0.5625\", tooltip=\"act1=<new>,lr=0.001\", style=\"filled\", "
            "fillcolor=\"#80d0a0\", fontcolor=\"#000000\", peripheries=2];\n"
            "  n0 -> n2 [label=\"lr: 0.001 -> 0.01\"];\n"
            "  n0 -> n3 [label=\"act1: relu -> <new>\"];\n}\n");
}

TEST(Network, DotOfAPictureHasWordsOnItsEdges) {
  const std::string dot = text_of(write_picture_dot, small_network());
  EXPECT_TRUE(dot.ends_with(
      "  e0_2 [shape=plaintext, fontsize=8, height=0.15, label=\"lr: 0.001 -> 0.01\"];\n"
      "  n0 -> e0_2 [arrowhead=none];\n  e0_2 -> n2;\n"
      "  e0_3 [shape=plaintext, fontsize=8, height=0.15, label=\"act1: relu -> <new>\"];\n"
      "  n0 -> e0_3 [arrowhead=none];\n  e0_3 -> n3;\n}\n"))
      << dot;
}

TEST(Network, DotMarksTheKnownFix) {
  Network network = small_network();
  network.fixed_parameters = program::parse_parameters("act1=relu,lr=0.01", "");
  const std::string text = text_of(write_picture_dot, network);
  EXPECT_NE(text.find("n2 [label=\"2\\n1\\nknown fix\", tooltip=\"act1=relu,lr=0.01\", "
                      "style=\"filled,dashed\", fillcolor=\"#0072b2\", fontcolor=\"#ffffff\", "
                      "peripheries=2, penwidth=2]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("<td style=\"dashed\">known fix</td>"), std::string::npos);
  EXPECT_EQ(text.find("style=\"filled,dashed\""), text.rfind("style=\"filled,dashed\""));

  network.fixed_parameters = program::parse_parameters("act1=relu,lr=5", "");
  const std::string without = text_of(write_picture_dot, network);
  EXPECT_NE(without.find("the known fix is not among these programs"), std::string::npos);
  EXPECT_EQ(without.find("dashed"), std::string::npos);
}

TEST(Network, DotOfALargeNetworkIsAMap) {
  Network network = small_network();
  for (std::int64_t id = 4; id < 60; ++id) {
    Node node = network.nodes[2];
    node.id = id;
    node.parameters = program::parse_parameters("act1=relu,lr=" + std::to_string(id), "");
    node.alternative = node.significant = false;
    network.nodes.push_back(node);
    network.edges.push_back({0, id});
  }
  network.fixed_parameters = network.nodes.back().parameters;
  const std::string text = text_of(write_picture_dot, network);
  EXPECT_NE(text.find("layout=sfdp"), std::string::npos) << text;
  EXPECT_NE(text.find("n0 [label=\"0  0.31\""), std::string::npos) << text;
  EXPECT_NE(text.find("n3 [label=\"3  0.5625\\nact1: <new>\""), std::string::npos);
  EXPECT_NE(text.find("n58 [label=\"58  1\\nlr: 58\""), std::string::npos);
  EXPECT_NE(text.find("n59 [label=\"59  1\\nlr: 59\\nknown fix\""), std::string::npos);
  EXPECT_NE(text.find("style=\"filled,rounded,dashed\""), std::string::npos);
  EXPECT_NE(text.find("n0 -> n59 [tooltip=\"lr: 0.001 -> 59\"]"), std::string::npos);
  EXPECT_EQ(text.find(" -> n59 [label"), std::string::npos);
}

TEST(Network, GraphMl) {
  const std::string text = text_of(write_graphml, small_network());
  for (const char* part :
       {"<graph id=\"F&quot;1\" edgedefault=\"directed\">", "<node id=\"n3\">",
        "<data key=\"parameters\">act1=&lt;new&gt;,lr=0.001</data>",
        "<data key=\"mean\">0.5625</data>", "<data key=\"role\">significantly_better</data>",
        "<data key=\"role\">on_par</data>", "<edge source=\"n0\" target=\"n2\">",
        "<data key=\"after\">0.01</data>"}) {
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  }
  EXPECT_EQ(text.find("n1\""), std::string::npos);  // led nowhere
}

TEST(Network, Json) {
  const Json json = to_json(small_network());
  EXPECT_EQ(json.begin().key(), "format");
  EXPECT_EQ(json["format"], "neutra-network");
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["goal"], "maximize");
  EXPECT_EQ(json["nodes"].size(), 3U);
  EXPECT_EQ(json["nodes"][1]["role"], "significantly_better");
  EXPECT_EQ(
      json["links"][0],
      Json({{"source", 0}, {"target", 2}, {"key", "lr"}, {"before", "0.001"}, {"after", "0.01"}}));
}

TEST(Network, ReadsWhatItWrites) {
  const std::string text = text_of(write_tsv, small_network());
  const Network read = parse_network_tsv(text, "n.tsv");
  EXPECT_EQ(text_of(write_tsv, read), text);
  ASSERT_EQ(read.nodes.size(), 3U);
  EXPECT_EQ(read.find(3)->mutation, (mutators::Mutation{"", "act1", "relu", "<new>"}));
  EXPECT_EQ(read.find(2)->mean, 1);
  EXPECT_EQ(read.alternatives().size(), 2U);
  EXPECT_EQ(read.find(1), nullptr);
  EXPECT_FALSE(read.ground_truth);
}

TEST(Network, ReadsOtherLayouts) {
  // Windows line ends, columns in another order, a further column, a byte order mark, blank lines.
  const Network read = parse_network_tsv(
      "\xef\xbb\xbfis_gt\tnote\tcurrent_node_accs\tcurrent_node_id\tcurrent_node_param_string\t"
      "parent_accs\tparent_node_id\tparent_node_param_string\r\n"
      "True\thello\t[0.5,nan]\t7\tlr=1\t[ 1e-3 , 2 ]\t0\tlr=2\r\n\r\n",
      "n.tsv");
  ASSERT_EQ(read.edges.size(), 1U);
  EXPECT_EQ(read.find(0)->metrics, (std::vector<double>{1e-3, 2}));
  EXPECT_TRUE(read.find(7)->alternative);
  EXPECT_TRUE(std::isnan(read.find(7)->mean));
}

TEST(Network, BadFilesAreRefusedAtTheirPlace) {
  const std::string header =
      "parent_node_id\tcurrent_node_id\tparent_accs\tcurrent_node_accs\t"
      "parent_node_param_string\tcurrent_node_param_string\tis_gt\n";
  const std::string row = "0\t1\t[1]\t[1]\ta=1\ta=2\tTrue\n";
  const std::pair<std::string, const char*> bad[] = {
      {"", "line 1, column 1: found no column parent_node_id"},
      {"a\tb\n", "no column parent_node_id"},
      {"is_gt\t" + header, "is_gt a second time"},
      {header + "0\t1\t[1]\n", "line 2, column 1: found 3 fields; allowed: 7"},
      {header + row + "x\t1\t[1]\t[1]\ta=1\ta=2\tTrue\n", "line 3, column 1: found 'x'"},
      {header + "0\t-1\t[1]\t[1]\ta=1\ta=2\tTrue\n", "line 2, column 3: found '-1'"},
      {header + "0\t99999999999999999999\t[1]\t[1]\ta=1\ta=2\tTrue\n", "column 3"},
      {header + "0\t1\t[1, 2x]\t[1]\ta=1\ta=2\tTrue\n", "line 2, column 9: found '2x'"},
      {header + "0\t1\t1\t[1]\ta=1\ta=2\tTrue\n", "line 2, column 5: found '1'"},
      {header + "0\t1\t[1]\t[,]\ta=1\ta=2\tTrue\n", "column 10"},
      {header + "0\t1\t[1]\t[1]\ta\ta=2\tTrue\n", "column 13: found 'a'"},
      {header + "0\t1\t[1]\t[1]\ta=1\ta=2\tyes\n", "column 21: found 'yes'; allowed: True, False"},
      {header + "0\t0\t[1]\t[1]\ta=1\ta=1\tTrue\n", "its own parent"},
      {header + row + "0\t1\t[1]\t[1]\ta=1\ta=3\tTrue\n",
       "line 3, column 3: found node 1 with other"},
  };
  for (const auto& [text, message] : bad) {
    try {
      parse_network_tsv(text, "n.tsv");
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      EXPECT_EQ(std::string(error.what()).rfind("n.tsv: ", 0), 0U) << error.what();
      EXPECT_NE(std::string(error.what()).find(message), std::string::npos) << error.what();
    }
  }
  EXPECT_THROW(read_network_tsv("no/such/file.tsv"), Error);
  EXPECT_THROW(read_network_tsv("/"), Error);
}

TEST(Network, ComplexityCountsKeysThatDifferFromTheFix) {
  Network network = small_network();
  const auto result = complexity(network);
  ASSERT_TRUE(result);
  EXPECT_EQ(result->mean, (1 + 2) / 2.0);
  EXPECT_EQ(result->hyperparameters, 2);
  EXPECT_NEAR(*result->improvement, 0.78125 - 0.5, 1e-12);
  network.goal = program::Goal::kMinimize;
  EXPECT_NEAR(*complexity(network)->improvement, 0.5 - 0.78125, 1e-12);
  network.ground_truth.reset();
  EXPECT_FALSE(complexity(network)->improvement);
  network.fixed_parameters.reset();
  EXPECT_FALSE(complexity(network));
}

TEST(Network, ComplexityOfTheRecordsIsThatOfTheStudy) {
  const std::filesystem::path folder = neutra::tests::shared_data("flstudy/alt_gt");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << folder << " is not here";
  struct Row {
    const char *file, *fix;
    double mean;
    int hyperparameters;
  };
  for (const auto& [file, fix, mean, hyperparameters] :
       {Row{"C1", "act2=relu", 1.86, 27}, Row{"C2", "epochs=50", 1, 27},
        Row{"R4", "loss=categorical_crossentropy", 1.68, 12}, Row{"R5", "optimizer=adam", 2.58, 12},
        Row{"M1", "lr=1.0", 3.54, 21}, Row{"M3", "act4=softmax", 2.01, 21}}) {
    Network network = read_network_tsv(folder / (std::string(file) + ".tsv"));
    network.fixed_parameters = network.find(0)->parameters;
    for (const auto& [key, value] : program::parse_parameters(fix, "")) {
      (*network.fixed_parameters)[key] = value;
    }
    const auto result = complexity(network);
    ASSERT_TRUE(result);
    EXPECT_NEAR(result->mean, mean, 0.005) << file;
    EXPECT_EQ(result->hyperparameters, hyperparameters) << file;
  }
}

TEST(SearchConfig, JsonReadsBack) {
  SearchConfig config;
  config.rule = Rule::kRecorded;
  config.preset = mutators::Preset::kKeras;
  config.ties = TieOrder::kSpread;
  config.improve = true;
  config.budget_seconds = 0.1;
  config.ground_truth_metric = 0.142;
  config.seed = ~0ULL;
  config.fingerprint = "eager";
  const Json json = to_json(config);
  EXPECT_EQ(to_json(search_config_from_json(json, "")), json);
  Json bad = json;
  bad["rule"] = "other";
  EXPECT_THROW(search_config_from_json(bad, "f"), Error);
  bad.erase("rule");
  EXPECT_THROW(search_config_from_json(bad, "f"), Error);
  bad = json;
  bad["ties"] = "other";
  EXPECT_THROW(search_config_from_json(bad, "f"), Error);
  // Of a store that was made before these fields came.
  Json old = json;
  old.erase("ties");
  old.erase("improve");
  EXPECT_EQ(search_config_from_json(old, "").ties, TieOrder::kParameters);
  EXPECT_FALSE(search_config_from_json(old, "").improve);
}

}  // namespace
}  // namespace neutra::search
