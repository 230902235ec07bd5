#include "fl_adapters/parsers/parser.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/fl_adapters/parsers/cases.h"
#include "tests/shared_data.h"

namespace neutra::fl_adapters::parsers::tests {
namespace {

TEST(Parsers, NothingIsRecognisedInOtherText) {
  for (const LogParser* parser : log_parsers()) {
    EXPECT_TRUE(parse(parser->name, "Dear reader,\n\n1/2 [=>] \nEpoch 1/3\n").programs.empty())
        << parser->name;
    EXPECT_TRUE(parse(parser->name, "").programs.empty()) << parser->name;
  }
}

TEST(Parsers, TheMostFrequentAnswer) {
  const std::string rate = "Issue a\n\tBatch 0: Invalid loss, terminating training Learning Rate\n";
  const std::string data =
      "Issue a\n\tBatch 0: Invalid loss, terminating training Normalize the "
      "data\n";
  EXPECT_EQ(answers(parse("deepdiagnosis", data + rate + rate)), Lines{"a x 3: HLR"});
}

TEST(Parsers, CutAnywhereTheyGiveWhatCouldBeRead) {
  const std::string text = recorded("deepdiagnosis.txt");
  for (const LogParser* parser : log_parsers()) {
    for (std::size_t length = 0; length < text.size(); length += 7) {
      const ParsedLog log = parse(parser->name, text.substr(0, length));
      for (const RecordedProgram& program : log.programs) {
        EXPECT_FALSE(program.answers.runs.empty());
      }
    }
  }
}

TEST(RecordedOutputs, EveryLineIsUnderstoodOrNoise) {
  const auto folder = neutra::tests::shared_data("flstudy/tool_outputs");
  if (!std::filesystem::exists(folder)) GTEST_SKIP() << "no recorded outputs";
  const std::vector<std::pair<std::string, std::string>> files{
      {"deepdiagnosis", "deepdiagnosis.txt"},
      {"deepfd", "deepfd.txt"},
      {"deepdiagnosis", "deepmufl_deepdiagnosis.csv"},
      {"deeplocalize", "deepmufl_deeplocalize.csv"},
      {"neuralint", "deepmufl_neuralint.csv"},
      {"umlaut", "deepmufl_umlaut.csv"}};
  for (const auto& [tool, file] : files) {
    const ParsedLog log = parse(tool, read_file(folder / file, "a log"));
    EXPECT_EQ(warnings(log), Lines{}) << file;
    EXPECT_EQ(log.noise.count("program output"), 0u) << file;
    EXPECT_FALSE(log.programs.empty()) << file;
  }
  for (const auto& entry : std::filesystem::directory_iterator(folder / "umlaut")) {
    const ParsedLog log = parse("umlaut", read_file(entry.path(), "a log"));
    EXPECT_EQ(warnings(log), Lines{}) << entry.path();
    EXPECT_FALSE(log.programs.empty()) << entry.path();
  }
}

}  // namespace
}  // namespace neutra::fl_adapters::parsers::tests
