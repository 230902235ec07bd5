#include "graphs/tensorflow_graph.h"

#include <gtest/gtest.h>

#include "tests/error_of.h"
#include "tests/graphs/graph_text.h"
#include "tests/has.h"

namespace neutra::graphs::tests {
namespace {

using neutra::tests::error_of;
using neutra::tests::has;

/// A field of a binary message.
std::string field(int number, const std::string& bytes) {
  return std::string(1, static_cast<char>(number << 3 | 2)) +
         std::string(1, static_cast<char>(bytes.size())) + bytes;
}

std::string node(const std::string& name, const std::string& op, const std::string& input = "") {
  return field(1, field(1, name) + field(2, op) + (input.empty() ? "" : field(3, input)));
}

std::string error_of_bytes(const std::string& bytes) {
  return error_of([&] { parse_tensorflow_graph(bytes, false, "g.pb"); });
}

std::string error_of_text(const std::string& text) {
  return error_of([&] { parse_tensorflow_graph(text, true, "g.pbtxt"); });
}

TEST(TensorflowGraph, ReadsBinary) {
  const Graph graph =
      parse_tensorflow_graph(node("b", "Relu", "a:1") + node("a", "Split"), false, "g.pb");
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.name_of(graph.nodes[0].inputs[0]), "a:1");
  EXPECT_EQ(graph.order, (std::vector<std::uint32_t>{1, 0}));
}

TEST(TensorflowGraph, ReadsText) {
  const Graph graph = parse_tensorflow_graph(
      "node { name: \"c\" op: 'Const' attr { key: \"value\" value { tensor { dtype: DT_FLOAT\n"
      "tensor_shape { dim { size: 3 } } float_val: [1, 2.5f] } } } # rest\n"
      "attr { key: \"s\" value { s: \"a\\n\\001\" \"b\" } } }\n"
      "node < name: \"n\" op: \"Neg\" input: \"c\" input: \"^c\" device: \"x\" >\nversions { "
      "producer: 9 }",
      true, "g.pbtxt");
  ASSERT_EQ(graph.nodes.size(), 2u);
  EXPECT_EQ(graph.nodes[0].find("value")->tensor->values, (std::vector<double>{1, 2.5, 2.5}));
  EXPECT_EQ(graph.nodes[0].text("s", ""), std::string("a\n\001b"));
  EXPECT_EQ(graph.nodes[1].control_inputs.size(), 1u);
}

TEST(TensorflowGraph, KeepsOneValueOfHugeConstants) {
  const Graph graph = parse_tensorflow_graph(
      "node { name: \"c\" op: \"Const\" attr { key: \"value\" value { tensor { dtype: DT_FLOAT "
      "tensor_shape { dim { size: 1000000 } dim { size: 1000000 } } float_val: 3 } } } }",
      true, "g.pbtxt");
  EXPECT_EQ(graph.nodes[0].find("value")->tensor->values, (std::vector<double>{3}));
}

TEST(TensorflowGraph, RefusesWhatIsCutOff) {
  const std::string whole = node("a", "Const") + node("b", "Relu", "a");
  for (std::size_t size = 1; size < whole.size(); ++size) {
    if (size == node("a", "Const").size()) continue;
    EXPECT_NE(error_of_bytes(whole.substr(0, size)), "") << size;
  }
  EXPECT_TRUE(has(error_of_bytes(whole.substr(0, 5)), {"g.pb: byte 0: found a field of"}));
}

TEST(TensorflowGraph, RefusesHostileFiles) {
  EXPECT_TRUE(has(error_of_bytes(""), {"found no nodes"}));
  EXPECT_TRUE(has(error_of_bytes("\x0b"), {"wire type 3"}));
  EXPECT_TRUE(has(error_of_bytes(std::string(11, '\xff')), {"more than 10 bytes"}));
  EXPECT_TRUE(has(error_of_bytes(field(1, std::string("\x08\x01", 2))), {"another type"}));
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "x {";
  EXPECT_TRUE(has(error_of_text(deep), {"100 levels"}));
  EXPECT_TRUE(has(error_of_text("node { name: \"a"), {"line 1"}));
  EXPECT_TRUE(has(error_of_text("node { name: \"a\" op: \"Const\" attr { key: \"value\" value { "
                                "tensor { dtype: DT_FLOAT tensor_shape { dim { size: 9 } } "
                                "float_val: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10] } } } }"),
                  {"10 values for 9 elements"}));
  EXPECT_TRUE(has(error_of_text("node { name: \"a\" op: \"Const\" attr { key: \"value\" value { "
                                "tensor { dtype: DT_FLOAT tensor_shape { dim { size: "
                                "4000000000 } dim { size: 4000000000 } } } } } }"),
                  {"2^62"}));
}

TEST(TensorflowGraph, NamesNodesThatAreMissingDoubleOrInACircle) {
  EXPECT_TRUE(has(error_of_bytes(node("a", "Const") + node("b", "Relu", "aa")),
                  {"node 'b': input 0: found 'aa'"}));
  EXPECT_TRUE(has(error_of_bytes(node("a", "Const") + node("a", "Const")), {"a second node"}));
  EXPECT_TRUE(has(error_of_bytes(node("a", "Relu", "b") + node("b", "Neg", "a")), {"circle: "}));
  // Loops are closed by NextIteration.
  EXPECT_EQ(error_of_bytes(node("a", "Merge", "b") + node("b", "NextIteration", "a")), "");
}

}  // namespace
}  // namespace neutra::graphs::tests
