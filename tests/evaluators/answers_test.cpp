#include "evaluators/answers.h"

#include <gtest/gtest.h>

#include "base/csv_table.h"
#include "base/error.h"

namespace neutra::evaluators {
namespace {

std::string error_of(const std::string& text) {
  try {
    parse_answers(text, "a.csv");
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    return error.what();
  }
  return "";
}

TEST(Answers, ReadByColumnName) {
  const auto answers = parse_answers(
      "\xef\xbb\xbftool, fault,note,answer,seconds,runs\r\n"
      "deepfd,D4,\"one, two\",OCH,797.46,20\r\n\r\n"
      "\"deep \"\"X\"\"\",R4,,LRM|LAD|ACH(0),,\n"
      "neuralint,D7,,N/A,,\n"
      "umlaut,D7,,-,0.5,",
      "a.csv");
  ASSERT_EQ(answers.size(), 4u);
  EXPECT_EQ(answers[0].fault, "D4");
  EXPECT_EQ(answers[0].tool, "deepfd");
  EXPECT_EQ(to_string(answers[0].faults), "OCH");
  EXPECT_EQ(answers[0].seconds, 797.46);
  EXPECT_EQ(answers[0].runs, 20);
  EXPECT_EQ(answers[1].tool, "deep \"X\"");
  EXPECT_EQ(to_string(answers[1].faults), "ACH(0)|LAD|LRM");
  EXPECT_FALSE(answers[2].faults.applicable);
  EXPECT_FALSE(answers[2].seconds);
  EXPECT_TRUE(answers[3].faults.applicable);
  EXPECT_TRUE(answers[3].faults.items.empty());
}

TEST(Answers, WrittenTextReadsBack) {
  const std::string text =
      "fault,tool,answer,version,seconds\n"
      "D4,neuralint,\"ACH(0), BCI(0,1)\",2023-10,6.87\n"
      "D7,neuralint,N/A,2023-10,\n";
  EXPECT_EQ(to_csv(parse_answers(text, "a.csv")), text);
  EXPECT_EQ(to_csv({}), "fault,tool,answer\n");
  const std::string more =
      "fault,tool,answer,runs,seconds,stability,status,ranking\n"
      "D4,deepfault,-,20,6.87,0.75,\"18 ok, 2 timeout\",(1) > (0:3) = (2)\n"
      "D7,wise,\"HLR, LCH\",,,,,HLR > LCH\n";
  const std::vector<Answer> read = parse_answers(more, "a.csv");
  EXPECT_EQ(to_csv(read), more);
  EXPECT_EQ(read.at(0).stability, 0.75);
  EXPECT_EQ(read.at(0).status, "18 ok, 2 timeout");
  EXPECT_EQ(read.at(0).ranking.at(1).neuron, 3);
}

TEST(Answers, LinesOfAScript) {
  const std::string text =
      "fault,tool,answer,lines\n"
      "D1,deepfd,LCH,27; 30\n"
      "D1,mine,HLR,net one.py:4; train.py:7-9\n"
      "D1,none,-,\n";
  const std::vector<Answer> read = parse_answers(text, "a.csv");
  EXPECT_EQ(to_csv(read), text);
  EXPECT_EQ(read[0].lines, (std::vector<CodeLines>{{"", 27, 27}, {"", 30, 30}}));
  EXPECT_EQ(read[1].lines, (std::vector<CodeLines>{{"net one.py", 4, 4}, {"train.py", 7, 9}}));
  EXPECT_TRUE(read[2].lines.empty());
}

TEST(Answers, MistakesAreNamedWithTheirPlace) {
  const std::string header = "fault,tool,answer,runs,seconds\n";
  for (const auto& [text, start] : std::vector<std::pair<std::string, std::string>>{
           {"", "a.csv: found nothing"},
           {"fault,tool\nD1,x\n", "a.csv: header: found no column answer"},
           {"fault,tool,answer,fault\n", "a.csv: line 1: found column fault a second time"},
           {"fault,,answer\n", "a.csv: line 1: found a column without a name"},
           {"fault,tool,answer,ranking\nD1,x,-,ACH > 7\n", "a.csv: line 2, ranking: found '7'"},
           {"fault,tool,answer,stability\nD1,x,-,1.5\n", "a.csv: line 2, stability: found '1.5'"},
           {"fault,tool,answer,lines\nD1,x,-,a.py\n", "a.csv: line 2, lines: found 'a.py'"},
           {"fault,tool,answer,lines\nD1,x,-,a.py:0\n", "a.csv: line 2, lines: found 'a.py:0'"},
           {"fault,tool,answer,lines\nD1,x,-,9-3\n", "a.csv: line 2, lines: found '9-3'"},
           {header + "D1,x,ACH\n", "a.csv: line 2: found 3 fields"},
           {header + "D1,x,ACH,1,1\nD\xe9,y,ACH,1,1\n",
            "a.csv: line 3: found bytes that are not UTF-8; allowed: text in UTF-8"},
           {header + "D1,x,\"ACH,1,1\n", "a.csv: line 2: found a quote that isn't closed"},
           {header + "D1,x,\"ACH\"s,1,1\n", "a.csv: line 2: found text behind a closing quote"},
           {header + ",x,ACH,,\n", "a.csv: line 2: found no fault"},
           {header + "D1,,ACH,,\n", "a.csv: line 2: found no tool"},
           {header + "D1,x,ABC,,\n", "a.csv: line 2, answer: column 1: found the unknown fault"},
           {header + "D1,x,,,\n", "a.csv: line 2, answer: column 1: found nothing"},
           {header + "D1,x,ACH,1.5,\n", "a.csv: line 2, runs: found '1.5'"},
           {header + "D1,x,ACH,-1,\n", "a.csv: line 2, runs: found '-1'"},
           {header + "D1,x,ACH,,nan\n", "a.csv: line 2, seconds: found 'nan'"},
           {header + "D1,x,ACH,,\n\nD1,x,LCH,,\n",
            "a.csv: line 4: found a second answer of x on D1 (the first is in line 2)"},
       }) {
    EXPECT_EQ(error_of(text).substr(0, start.size()), start) << error_of(text);
  }
  EXPECT_THROW(read_answers("absent.csv"), Error);
}

TEST(CsvTable, QuotedLinesCount) {
  const CsvTable table = parse_csv_table("a,b\n\"x\ny\",1\n  z ,\n", "t.csv");
  ASSERT_EQ(table.rows.size(), 2u);
  EXPECT_EQ(table.rows[0].cells[0], "x\ny");
  EXPECT_EQ(table.rows[1].line, 4u);
  EXPECT_EQ(table.rows[1].cells[0], "z");
  EXPECT_EQ(table.rows[1].cells[1], "");
  EXPECT_EQ(table.column("b"), 1u);
  EXPECT_EQ(table.column("c"), 2u);
}

}  // namespace
}  // namespace neutra::evaluators
