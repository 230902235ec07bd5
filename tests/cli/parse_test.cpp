// `neutra parse`: what the real tools printed.

#include <gtest/gtest.h>

#include "base/json.h"
#include "tests/cli/command.h"

namespace neutra::cli {
namespace {

TEST(Parse, ParseReadsRecordedOutput) {
  const Folder folder;
  const std::string issue =
      "Issue 48385830.py \r\n\t Batch 0 layer 0: Numerical Problem Forward, terminating training "
      "\t\t --- 11.5 seconds ---\t\tPlease change the activaton function at layer: 1\t\r\n";
  folder.write("runs.txt", issue + issue + "\tBatch 3 layer 1: Dead No");
  const std::vector<std::string> parse{"parse", "--tool", "deepdiagnosis", "runs.txt"};
  const auto with = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments = parse;
    arguments.insert(arguments.end(), more.begin(), more.end());
    return call(arguments, folder.path());
  };
  const Called json = with({"--json"});
  ASSERT_EQ(json.exit, 0) << json.err;
  const Json parsed = parse_json(json.out, "out");
  EXPECT_EQ(parsed["tool"], "deepdiagnosis");
  ASSERT_EQ(parsed["programs"].size(), 1u);
  const Json& program = parsed["programs"][0];
  EXPECT_EQ(program["program"], "48385830");
  EXPECT_EQ(program["fault"], "D4");
  EXPECT_EQ(program["runs"], 2);  // a message without its issue is of no run
  EXPECT_EQ(program["answer"], "ACH(1)");
  EXPECT_EQ(program["faults"], Json::array({"ACH(1)"}));
  EXPECT_EQ(program["messages"][0]["code"], "numerical_forward");
  EXPECT_EQ(parsed["warnings"][0]["line"], 5);
  EXPECT_TRUE(has(json.err, {"runs.txt:5: "}));

  const Called text = with({});
  ASSERT_EQ(text.exit, 0) << text.err;
  EXPECT_EQ(text.out.substr(0, 22), "48385830 (D4): ACH(1)\n") << text.out;

  ASSERT_EQ(with({"--format", "answers", "-o", "answers.csv"}).exit, 0);
  EXPECT_EQ(folder.read("answers.csv").substr(0, 13), "fault,tool,an");
  const Called score =
      call({"score", "--answers", "answers.csv", "--format", "csv"}, folder.path());
  EXPECT_EQ(score.exit, 0) << score.err;
}

TEST(Parse, ParseRefusesWhatNoToolPrinted) {
  const Folder folder;
  folder.write("log.txt", "Epoch 1/3\nhello\n");
  EXPECT_EQ(call({"parse", "log.txt"}, folder.path()).exit, 2);
  EXPECT_EQ(call({"parse", "--tool", "umlat", "log.txt"}, folder.path()).exit, 2);
  EXPECT_EQ(call({"parse", "--tool", "umlaut", "none.txt"}, folder.path()).exit, 3);
  const Called nothing = call({"parse", "--tool", "umlaut", "log.txt"}, folder.path());
  EXPECT_TRUE(refused(nothing, 3, {"log.txt", "umlaut"}));
}

}  // namespace
}  // namespace neutra::cli
