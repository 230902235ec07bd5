// `neutra check-graph`: findings of both tools in both forms, ranges, exit codes.

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/has.h"

namespace neutra::cli {
namespace {

using neutra::tests::has;

const char* const kGraph =
    "node { name: \"x\" op: \"Placeholder\" attr { key: \"dtype\" value { type: DT_FLOAT } }\n"
    "  attr { key: \"shape\" value { shape { dim { size: -1 } dim { size: 4 } } } } }\n"
    "node { name: \"w\" op: \"VariableV2\" attr { key: \"dtype\" value { type: DT_FLOAT } }\n"
    "  attr { key: \"shape\" value { shape { dim { size: 5 } dim { size: 2 } } } } }\n"
    "node { name: \"m\" op: \"MatMul\" input: \"x\" input: \"w\" }\n"
    "node { name: \"y\" op: \"Log\" input: \"x\" }\n";

TEST(CheckGraph, SaysWhatBothToolsFound) {
  const Folder folder;
  folder.write("g.pbtxt", kGraph);
  const Called text = call({"check-graph", "g.pbtxt"}, folder.path());
  EXPECT_EQ(text.exit, 1) << text.err;
  EXPECT_TRUE(
      has(text.out, {"g.pbtxt: m (MatMul): found x [x.0, 4] (4 in dimension 1) and w [5, 2] "
                     "(5 in dimension 0); expected: ",
                     "[shapeflow/shape_mismatch]", "g.pbtxt: y (Log): found x", "[debar/log]",
                     "  path: x (Placeholder) -> y (Log)", "4 nodes, 2 findings"}));
  const Called json = call({"check-graph", "g.pbtxt", "--tool", "debar", "--json"}, folder.path());
  EXPECT_EQ(json.exit, 1);
  const Json document = parse_json(json.out, "out");
  EXPECT_EQ(document["format"], "neutra-check-graph");
  ASSERT_EQ(document["findings"].size(), 1u);
  EXPECT_EQ(document["findings"][0]["node"], "y");
}

TEST(CheckGraph, TakesRangesFromAFile) {
  const Folder folder;
  folder.write("g.pbtxt", kGraph);
  const std::string begin = R"({"format": "neutra-graph-ranges", "version": 1, "nodes": )";
  folder.write("r.json", begin + R"({"x": [0.1, 1]}})");
  EXPECT_EQ(
      call({"check-graph", "g.pbtxt", "--tool", "debar", "--ranges", "r.json"}, folder.path()).exit,
      0);
  folder.write("r.json", begin + R"({"z": [0.1, 1]}})");
  const Called wrong = call({"check-graph", "g.pbtxt", "--ranges", "r.json"}, folder.path());
  EXPECT_EQ(wrong.exit, 3);
  EXPECT_TRUE(has(wrong.err, {"r.json: /nodes: found 'z'"}));
}

TEST(CheckGraph, RefusesWhatIsNoGraph) {
  const Folder folder;
  folder.write("g.pb", "\x0a\x7f");
  const Called called = call({"check-graph", "g.pb"}, folder.path());
  EXPECT_EQ(called.exit, 3);
  EXPECT_TRUE(has(called.err, {"g.pb: byte 0: found a field of 127 bytes"}));
  EXPECT_EQ(call({"check-graph", "none.pb"}, folder.path()).exit, 3);
  EXPECT_EQ(call({"check-graph"}, folder.path()).exit, 2);
}

}  // namespace
}  // namespace neutra::cli
