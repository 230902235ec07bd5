#include "graphs/debar.h"

#include <gtest/gtest.h>

#include "tests/error_of.h"
#include "tests/graphs/graph_text.h"
#include "tests/has.h"
#include "tests/test_folder.h"

namespace neutra::graphs::tests {
namespace {

/// The nodes that debar warns of, with blanks between them.
std::string alarms(const std::string& lines, const Ranges& ranges = {}, DebarParts parts = {}) {
  const Graph graph = graph_of(lines);
  std::string names;
  for (const NumericBug& bug : find_numeric_bugs(graph, infer_shapes(graph), ranges, parts).bugs)
    names += (names.empty() ? "" : " ") + graph.nodes[bug.node].name;
  return names;
}

const std::string kInput = "x Placeholder |" + shaped({-1, 10}) + "\n";

std::string number(const std::string& name, double value) {
  return name + " Const |" + constant({value}) + "\n";
}

Ranges range(const std::string& node, double lo, double hi) {
  Ranges ranges;
  ranges.nodes[node] = {lo, hi};
  return ranges;
}

TEST(Debar, WarnsOfUnguardedOperations) {
  for (const char* op : {"Log", "Log1p", "Exp", "Expm1", "Sqrt", "Rsqrt", "Reciprocal"})
    EXPECT_EQ(alarms(kInput + "y " + op + " x\n"), "y") << op;
  EXPECT_EQ(alarms(kInput + "o OnesLike x\ny RealDiv o x\n"), "y");
  EXPECT_EQ(alarms(kInput + "s Softmax x\ny Log s\n"), "y");
}

TEST(Debar, KnowsTheBordersOfDangerZones) {
  EXPECT_EQ(alarms(kInput + "y Exp x\n", range("x", -1000, 88.7)), "");
  EXPECT_EQ(alarms(kInput + "y Exp x\n", range("x", 0, 88.8)), "y");
  EXPECT_EQ(alarms(kInput + "y Log x\n", range("x", 1e-37, 1)), "");
  EXPECT_EQ(alarms(kInput + "y Log x\n", range("x", 1e-39, 1)), "y");
  EXPECT_EQ(alarms(kInput + "y Log1p x\n", range("x", -0.99, 1)), "");
  EXPECT_EQ(alarms(kInput + "y Log1p x\n", range("x", -1, 1)), "y");
  EXPECT_EQ(alarms(kInput + "y Reciprocal x\n", range("x", -2, -1)), "");
}

TEST(Debar, UnderstandsGuards) {
  const std::string softmax = kInput + "s Softmax x\n";
  EXPECT_EQ(alarms(softmax + number("e", 1e-6) + "a AddV2 s e\ny Log a\n"), "");
  EXPECT_EQ(alarms(softmax + number("e", 1e-6) + "a Maximum s e\ny Log a\n"), "");
  EXPECT_EQ(alarms(kInput + "y LogSoftmax x\n"), "");
  EXPECT_EQ(alarms(kInput + "q Square x\n" + number("e", 1e-6) + "a AddV2 q e\ny Rsqrt a\n"), "");
  EXPECT_EQ(alarms(kInput + number("l", -80) + number("h", 80) + "c ClipByValue x l h\ny Exp c\n"),
            "");
}

TEST(Debar, RoundsAsFloatDoes) {
  // 1e-10 + 1 is 1, so 1 - p + 1e-10 may be 0 where it is computed in this order.
  const std::string p =
      kInput + "p Sigmoid x\n" + number("one", 1) + "e Const |" +
      attribute("value", "tensor { dtype: DT_FLOAT tensor_shape { } float_val: 1e-10 }") + "\n";
  EXPECT_EQ(alarms(p + "a AddV2 e one\nd Sub a p\ny Log d\n"), "y");
  EXPECT_EQ(alarms(p + "d Sub one p\na AddV2 d e\ny Log a\n"), "");
}

TEST(Debar, RelatesTensorsToTheirMaximum) {
  const std::string lines = kInput + "k Const |" + constant({1}, true, {1}) + "\nm Max x k |" +
                            attribute("keep_dims", "b: true") +
                            "\nd Sub x m\ne Exp d\nt Sum e k |" +
                            attribute("keep_dims", "b: true") + "\np RealDiv e t\nl Log t\n";
  EXPECT_EQ(alarms(lines), "");
  EXPECT_EQ(alarms(lines, {}, {.relations = false}), "e p l");
}

TEST(Debar, RelatesLinearExpressions) {
  // 3x - 2x, where intervals alone allow -7 for x from 1 to 5.
  const std::string lines = kInput + number("two", 2) + number("three", 3) +
                            "a Mul x three\nb Mul x two\nd Sub a b\ny Log d\n";
  EXPECT_EQ(alarms(lines, range("x", 1, 5)), "");
  EXPECT_EQ(alarms(lines, range("x", 1, 5), {.relations = false}), "y");
}

TEST(Debar, KeepsThePartsOfATensorApart) {
  const std::string lines = "u Placeholder |" + shaped({-1, 3}) + "\n" + kInput + "k Const |" +
                            constant({1}, true) + "\ns Softplus u\n" + number("e", 0.1) +
                            "p AddV2 s e\nc ConcatV2 p x k\nb Const |" + constant({0, 0}, true) +
                            "\nn Const |" + constant({-1, 3}, true) + "\nf Slice c b n\ny Log f\n";
  EXPECT_EQ(alarms(lines), "");
  EXPECT_EQ(alarms(lines, {}, {.partitions = false}), "y");
}

TEST(Debar, SplitsAtPredicates) {
  const std::string lines = kInput + number("zero", 0) + "o OnesLike x\ng Greater x zero\n" +
                            "w SelectV2 g x o\ny Log w\n";
  EXPECT_EQ(alarms(lines), "");
  EXPECT_EQ(alarms(lines, {}, {.splitting = false}), "y");
  // The wrong branch is guarded.
  EXPECT_EQ(alarms(kInput + number("zero", 0) + "o OnesLike x\ng Greater x zero\n" +
                   "w SelectV2 g o x\ny Log w\n"),
            "y");
}

TEST(Debar, NamesUnknownOperations) {
  const Graph graph = graph_of(kInput + "u Frobnicate x\ny Log u\n");
  const GraphShapes shapes = infer_shapes(graph);
  const auto findings = findings_of(graph, find_numeric_bugs(graph, shapes, {}));
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_TRUE(neutra::tests::has(findings[0].message, {"from -inf to inf", "Frobnicate"}));
  EXPECT_EQ(findings[0].path.front(), "x (Placeholder)");
  EXPECT_EQ(findings[0].path.back(), "y (Log)");
}

TEST(Debar, LeavesGradientsOut) {
  EXPECT_EQ(alarms(kInput + "gradients/y Log x\nStopGradient/y Log x\n"), "StopGradient/y");
}

TEST(Debar, TakesTheFirstValuesOfVariables) {
  const std::string lines = "w VariableV2 |" + shaped({4}) + "\nn Const |" +
                            constant({4}, true, {1}) + "\nr RandomUniform n |" +
                            attribute("dtype", "type: DT_FLOAT") + "\n" + number("one", 1) +
                            "i AddV2 r one\nset Assign w i\ny Log w\n";
  EXPECT_EQ(alarms(lines), "y");
  Ranges ranges;
  ranges.variables = Ranges::Default::kInitial;
  EXPECT_EQ(alarms(lines, ranges), "");
  ranges.variables = Ranges::Default::kBounded;
  EXPECT_EQ(alarms(lines, ranges), "y");
}

TEST(GraphRanges, AreReadAndChecked) {
  const neutra::tests::TestFolder folder;
  const auto read = [&](const std::string& text) {
    return read_ranges(folder.write("r.json", text));
  };
  const std::string begin = R"({"format": "neutra-graph-ranges", "version": 1, )";
  const Ranges ranges =
      read(begin + R"("variables": "initial", "nodes": {"x": [0, 1], "y": [null, 2]}})");
  EXPECT_EQ(ranges.nodes.at("x"), (Interval{0, 1}));
  EXPECT_EQ(ranges.nodes.at("y"), (Interval{Interval{}.lo, 2}));
  EXPECT_EQ(ranges.variables, Ranges::Default::kInitial);
  using neutra::tests::error_of;
  using neutra::tests::has;
  EXPECT_TRUE(has(error_of([&] { read(begin + R"("nodes": {"x": [1, 0]}})"); }),
                  {"/nodes/x", "the smaller number first"}));
  EXPECT_TRUE(
      has(error_of([&] { read(begin + R"("nodes": {"x": 3}})"); }), {"a list of two numbers"}));
  EXPECT_TRUE(has(error_of([&] { read(begin + R"("placeholders": "initial"})"); }),
                  {"unbounded, bounded"}));
}

}  // namespace
}  // namespace neutra::graphs::tests
