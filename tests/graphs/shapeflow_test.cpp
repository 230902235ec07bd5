#include "graphs/shapeflow.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tests/graphs/graph_text.h"
#include "tests/shared_data.h"

namespace neutra::graphs::tests {
namespace {

std::string shape_text(const std::string& lines, const std::string& name) {
  const Graph graph = graph_of(lines);
  const GraphShapes shapes = infer_shapes(graph);
  return shapes.symbols.text(shapes.of({*graph.find(name), 0}).shape);
}

std::string network(std::int64_t rows) {
  return "x Placeholder |" + shaped({-1, 784}) + "\nw VariableV2 |" + shaped({rows, 10}) +
         "\nb VariableV2 |" + shaped({10}) + "\nm MatMul x w\ny AddV2 m b\ns Softmax y\n";
}

TEST(Shapeflow, FollowsTheBatchThroughANetwork) {
  EXPECT_EQ(shape_text(network(784), "s"), "[x.0, 10]");
}

TEST(Shapeflow, ReshapesByTheSizesThatOthersHave) {
  const std::string image = "x Placeholder |" + shaped({-1, 784}) + "\nt Const |" +
                            constant({-1, 28, 28, 1}, true) + "\nr Reshape x t\n";
  EXPECT_EQ(shape_text(image, "r"), "[x.0, 28, 28, 1]");
  const std::string back = image + "n Shape r\nz Const |" + constant({0}, true, {1}) +
                           "\no Const |" + constant({1}, true, {1}) + "\nq StridedSlice n z o o |" +
                           attribute("shrink_axis_mask", "i: 1") + "\nc Const |" +
                           constant({784}, true) + "\np Pack q c\nf Reshape r p\n";
  EXPECT_EQ(shape_text(back, "f"), "[x.0, 784]");
}

TEST(Shapeflow, CountsWindows) {
  const std::string lines = "x Placeholder |" + shaped({-1, 28, 28, 1}) + "\nk VariableV2 |" +
                            shaped({5, 5, 1, 32}) + "\nc Conv2D x k |" +
                            attribute("strides", "list { i: 1 i: 2 i: 2 i: 1 }");
  EXPECT_EQ(shape_text(lines + attribute("padding", "s: \"SAME\"") + "\n", "c"),
            "[x.0, 14, 14, 32]");
  EXPECT_EQ(shape_text(lines + attribute("padding", "s: \"VALID\"") + "\n", "c"),
            "[x.0, 12, 12, 32]");
}

TEST(Shapeflow, NamesBothEndsOfAMismatchAndTheSmallestChange) {
  const Graph graph = graph_of(network(780));
  const GraphShapes shapes = check_shapes(graph);
  ASSERT_EQ(shapes.mismatches.size(), 1u);
  const ShapeMismatch& found = shapes.mismatches[0];
  EXPECT_EQ(graph.nodes[found.node].name, "m");
  ASSERT_EQ(found.ends.size(), 2u);
  EXPECT_EQ(graph.name_of(found.ends[0].from), "x");
  EXPECT_EQ(found.ends[0].size, "784 in dimension 1");
  EXPECT_EQ(graph.name_of(found.ends[1].from), "w");
  EXPECT_EQ(found.ends[1].size, "780 in dimension 0");
  ASSERT_TRUE(found.change);
  EXPECT_EQ(found.change->left, 0u);
  // Either end may change; both leave nothing.
  EXPECT_EQ(std::min(found.change->from, found.change->to), 780);
  EXPECT_EQ(std::max(found.change->from, found.change->to), 784);
}

TEST(Shapeflow, ChangesTheConstantOfAReshape) {
  const Graph graph = graph_of("x VariableV2 |" + shaped({4, 6}) + "\nt Const |" +
                               constant({4, 5}, true) + "\nr Reshape x t\n");
  const GraphShapes shapes = check_shapes(graph);
  ASSERT_EQ(shapes.mismatches.size(), 1u);
  ASSERT_TRUE(shapes.mismatches[0].change);
  EXPECT_EQ(graph.nodes[shapes.mismatches[0].change->node].name, "t");
  EXPECT_EQ(shapes.mismatches[0].change->to, 6);
}

TEST(Shapeflow, LeavesUnknownOperationsOpen) {
  const Graph graph =
      graph_of("x Placeholder |" + shaped({-1, 4}) + "\nu Frobnicate x\ny Relu u\n");
  const GraphShapes shapes = check_shapes(graph);
  EXPECT_TRUE(shapes.mismatches.empty());
  ASSERT_EQ(shapes.unknown.size(), 1u);
  EXPECT_EQ(shapes.symbols.text(shapes.of({*graph.find("y"), 0}).shape), "of unknown rank");
}

enum class Agreement { kAgrees, kKnowsLess, kDiffers };

/// Our shape of an output and the one that TensorFlow wrote into the file.
Agreement agreement(const FileShape& theirs, const Shape& ours) {
  if (!theirs) return Agreement::kAgrees;
  if (!ours) return Agreement::kKnowsLess;
  if (ours->size() != theirs->size()) return Agreement::kDiffers;
  Agreement result = Agreement::kAgrees;
  for (std::size_t i = 0; i < ours->size(); ++i) {
    if ((*theirs)[i] < 0 || (*ours)[i] == dim_of((*theirs)[i])) continue;
    if ((*ours)[i].known()) return Agreement::kDiffers;
    result = Agreement::kKnowsLess;
  }
  return result;
}

TEST(Shapeflow, AgreesWithTensorflow) {
  const std::filesystem::path folder = neutra::tests::shared_data("graphs");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no data";
  std::size_t compared = 0, less = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".pb") continue;
    const Graph graph = read_tensorflow_graph(entry.path());
    const GraphShapes shapes = infer_shapes(graph);
    for (const ShapeMismatch& mismatch : shapes.mismatches)
      ADD_FAILURE() << entry.path() << " " << graph.nodes[mismatch.node].name << " "
                    << mismatch.expected;
    for (std::uint32_t i = 0; i < graph.nodes.size(); ++i) {
      const Attribute* theirs = graph.nodes[i].find("_output_shapes");
      if (!theirs) continue;
      for (std::uint32_t k = 0; k < theirs->shapes.size(); ++k) {
        const Agreement found = agreement(theirs->shapes[k], shapes.of({i, k}).shape);
        EXPECT_NE(found, Agreement::kDiffers)
            << entry.path() << " " << graph.nodes[i].name << ":" << k << " " << graph.nodes[i].op;
        ++compared;
        if (found == Agreement::kKnowsLess) ++less;
      }
    }
  }
  EXPECT_GT(compared, 15000u);
  // Behind set_shape() of dropout and of the gradient of Tile: it is in no node of the graph.
  EXPECT_LE(less, 66u);
  RecordProperty("compared", static_cast<int>(compared));
}

}  // namespace
}  // namespace neutra::graphs::tests
