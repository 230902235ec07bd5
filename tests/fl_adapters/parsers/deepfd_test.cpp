#include <gtest/gtest.h>

#include <string>

#include "tests/fl_adapters/parsers/cases.h"

namespace neutra::fl_adapters::parsers::tests {
namespace {

TEST(DeepFDLog, Cases) {
  const ParsedLog log = parse("deepfd", recorded("deepfd.txt"));
  EXPECT_EQ(answers(log), (Lines{"alpha x 2: HLR, LCH", "beta x 1: -"}));
  EXPECT_EQ(log.programs[0].answers.runs[0].messages[1].detail, "line 27, 30");
  EXPECT_EQ(warnings(log), Lines{});
  using evaluators::to_string;
  EXPECT_EQ(to_string(log.programs[0].answers.runs[0].messages[1].lines), "27; 30");
  EXPECT_EQ(to_string(lines_named(log.programs[0].answers.runs[0])), "27; 30");
  EXPECT_TRUE(log.programs[0].answers.runs[0].messages[0].lines.empty());
  const auto heard = messages_heard(log.programs[0].answers.runs);
  EXPECT_EQ(heard[1].lines.size(), 2U);
}

TEST(DeepFDLog, LinesThatAreNoNumbers) {
  const ParsedLog log =
      parse("deepfd", "working on subject: a\nFault 1: [lr], Lines: [7, x, 0]\ncase end\n");
  EXPECT_EQ(warnings(log), (Lines{"2: no number of a line: 'x'", "2: no number of a line: '0'"}));
  EXPECT_EQ(evaluators::to_string(log.programs[0].answers.runs[0].messages[0].lines), "7");
}

TEST(DeepFDLog, Garbled) {
  const ParsedLog log = parse("deepfd",
                              "working on subject: a\nFault 1: [lr], Lines: []\nFault 3: [act], "
                              "Lines: [2\nwhat?\ncase end\nworking on subject: b\nFault 1: "
                              "[weather], Lines: []\nFault 2: [lo");
  EXPECT_EQ(warnings(log),
            (Lines{"3: the list of lines is cut off", "3: fault 3 where fault 2 was expected",
                   "4: not understood: 'what?'", "6: the case has no end",
                   "7: unknown fault 'weather'", "8: not understood: 'Fault 2: [lo'"}));
  EXPECT_EQ(answers(log), Lines{"a x 1: ACH, HLR"});
}

TEST(DeepFDLog, CasesThatWereCutHaveNoVote) {
  const std::string text =
      "working on subject: a\nFault 1: [lr], Lines: []\nFault 2: [act], Lines: []\ncase end\n";
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    for (const std::string& part : {(text + text + text).substr(cut),
                                    (text + text + text).substr(0, 3 * text.size() - cut)}) {
      const ParsedLog log = parse("deepfd", part);
      std::size_t whole = 0;
      for (const RecordedProgram& program : log.programs) {
        if (program.name == "a") whole = program.answers.counted().size();
        EXPECT_EQ(to_string(program.answers.answer()), "ACH, HLR") << part;
      }
      EXPECT_EQ(whole, 1u) << part;
    }
  }
}

}  // namespace
}  // namespace neutra::fl_adapters::parsers::tests
