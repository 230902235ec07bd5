#include <gtest/gtest.h>

#include <string>

#include "tests/fl_adapters/parsers/cases.h"

namespace neutra::fl_adapters::parsers::tests {
namespace {

TEST(UmlautLog, Console) {
  const ParsedLog log = parse("umlaut", recorded("umlaut_console.txt"));
  EXPECT_EQ(answers(log), Lines{"fake_bug x 3: HLR"});
  EXPECT_EQ(warnings(log), Lines{});
  const auto& runs = log.programs[0].answers.runs;
  ASSERT_EQ(runs[0].messages.size(), 5u);
  EXPECT_EQ(runs[0].messages[2].code, "lr_high");
  EXPECT_EQ(runs[0].messages[2].epochs, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(runs[1].messages.size(), 2u);
  EXPECT_EQ(log.understood, 12u);
  EXPECT_EQ(log.noise.at("numbers"), 3u);
  EXPECT_EQ(log.noise.at("program output"), 2u);
}

TEST(UmlautLog, IssuesAndTables) {
  const ParsedLog issues = parse("umlaut",
                                 "\"Issue 1 start\n<Critical: Missing Softmax layer before loss>]"
                                 "\x1b\nIssue 1 end 4.5\"\r\n\"Issue 1 end \n<Critical: Missing "
                                 "Softmax layer before loss>]\x1b [<Warning: Learning Rate is "
                                 "high>]\nIssue 1 end 5.5\"\n\nIssue 2\nIssue 2 1\n");
  EXPECT_EQ(answers(issues), (Lines{"1 x 2: ACH", "2 x 1: -"}));
  EXPECT_EQ(issues.programs[0].answers.mean_seconds(), 5);
  EXPECT_EQ(warnings(issues), Lines{});

  const ParsedLog table =
      parse("umlaut",
            "id,raw message\n7,\"\x1b[31m[<Critical: Missing Softmax layer before loss>]\x1b[0m\n"
            "\x1b[31m[<Warning: Learning Rate is low>]\x1b[0m\"\r\n8,N/A\r\n9,\"\"\n");
  EXPECT_EQ(answers(table), (Lines{"7 x 1: ACH, HLR", "8 x 1: N/A", "9 x 1: -"}));

  const ParsedLog lines =
      parse("umlaut",
            " data/model_1/\t138.2\t4\t[<Warning: Check validation accuracy>]\ton_epoch_end\n"
            " data/model_2/\t71.5\t2\t[<Warning: Learning Rate is high>]\ton_epoch_end\n");
  EXPECT_EQ(answers(lines), (Lines{"model_1 x 1: -", "model_2 x 1: HLR"}));
  EXPECT_EQ(lines.programs[1].answers.runs[0].messages[0].epochs, std::vector<std::int64_t>{1});
}

TEST(UmlautLog, MisleadingMessages) {
  const std::string both =
      "[<Critical: Missing Softmax layer before loss>, <Warning: Last model layer has nonlinear "
      "activation>]\n";
  EXPECT_EQ(answers(parse("umlaut", both)), Lines{"log x 1: -"});
  ParseOptions keep;
  keep.keep_misleading = true;
  EXPECT_EQ(answers(parse("umlaut", both, keep)), Lines{"log x 1: ACH"});
  const program::Program softmax = classifier("softmax"), sigmoid = classifier("sigmoid");
  EXPECT_EQ(answers(parse("umlaut", both, knowing(softmax))), Lines{"log x 1: -"});
  EXPECT_EQ(answers(parse("umlaut", both, knowing(sigmoid))), Lines{"log x 1: ACH(1)"});
  // Alone it means an output without any activation.
  EXPECT_EQ(answers(parse("umlaut", "[<Critical: Missing Softmax layer before loss>]")),
            Lines{"log x 1: ACH"});
}

TEST(UmlautLog, Garbled) {
  const ParsedLog log = parse("umlaut",
                              "Umlaut results:\nEpoch 1/2\n"
                              "[<Crtical: Missing Softmax layer before loss>, <Warning: Learning "
                              "Rate is high>]\n[<Warning: Lerning Rate is high>]\n"
                              "Critical: Missing activation functions\nUmlaut results:\n"
                              "[<Critical: Missing Softmax layer before loss>, <Warni");
  EXPECT_EQ(warnings(log),
            (Lines{"1: no list of messages follows",
                   "3: unknown severity in '<Crtical: Missing Softmax layer before loss>'",
                   "4: unknown message '<Warning: Lerning Rate is high>'",
                   "5: not understood: 'Critical: Missing activation functions'",
                   "7: the list of messages has no end"}));
  // The second run's list has no end: it has no vote.
  EXPECT_EQ(answers(log), Lines{"log x 1: HLR"});
  EXPECT_EQ(log.programs[0].cut.size(), 1u);
}

TEST(UmlautLog, TablesWithoutQuotes) {
  const Lines expected{"7 x 1: ACH, HLR", "8 x 1: N/A", "9 x 1: HLR"};
  for (const std::string escape :
       {"\x1b", "ESC", "<ESC>", "\\x1b", "\\033", "\\e", "\\u001b", "^[", "\xe2\x90\x9b", ""}) {
    for (const std::string end : {"\n", "\r\n"}) {
      const ParsedLog table =
          parse("umlaut", "id,raw message" + end + "7," + escape +
                              "[31m[<Critical: Missing Softmax layer before loss>]" + escape +
                              "[0m" + end + escape + "[31m[<Warning: Learning Rate is low>]" +
                              escape + "[0m" + end + "8,N/A" + end + "9," + escape +
                              "[31m[<Warning: Learning Rate is high>]" + escape + "[0m" + end);
      EXPECT_EQ(answers(table), expected) << escape;
      EXPECT_EQ(warnings(table), Lines{}) << escape;
    }
  }
}

TEST(UmlautLog, RunsThatWereCutHaveNoVote) {
  const std::string run =
      "Train on 8 samples, validate on 2 samples\nUmlaut results:\n[<Critical: Missing activation "
      "functions>]\nEpoch 1/2\n - loss: 1.0\nUmlaut results:\n[<Warning: Learning Rate is "
      "high>]\nEpoch 2/2\n - loss: 1.0\nUmlaut results:\n[<Warning: Learning Rate is high>]\n";
  const std::string whole = run + run + run;
  EXPECT_EQ(answers(parse("umlaut", whole)), Lines{"log x 3: ACH, HLR"});
  // Wherever the start of the first run or the end of the last is cut, nothing else is answered.
  for (std::size_t cut = 1; cut < run.size(); ++cut) {
    const ParsedLog start = parse("umlaut", whole.substr(cut));
    EXPECT_EQ(start.programs.at(0).answers.counted().size(), 1u) << whole.substr(cut, 40);
    EXPECT_EQ(to_string(start.programs[0].answers.answer()), "ACH, HLR") << cut;
    const ParsedLog end = parse("umlaut", whole.substr(0, whole.size() - cut));
    EXPECT_EQ(end.programs.at(0).answers.counted().size(), 1u)
        << whole.substr(whole.size() - cut - 40, 40);
    EXPECT_EQ(to_string(end.programs[0].answers.answer()), "ACH, HLR") << cut;
  }
  // A list that is closed needs no line end.
  EXPECT_EQ(answers(parse("umlaut", whole.substr(0, whole.size() - 1))),
            Lines{"log x 3: ACH, HLR"});
  // What remains of a list is read.
  EXPECT_EQ(
      answers(parse("umlaut", "ssing activation functions>, <Warning: High dropout rate>]\n")),
      Lines{"log x 1: ACH, RCD"});
  // Without a whole run, one that blames something counts, and one that doesn't is no answer.
  EXPECT_EQ(answers(parse("umlaut", "[<Critical: Missing activation functions>, <Warn")),
            Lines{"log x 1: ACH"});
  EXPECT_EQ(answers(parse("umlaut", "[<Warning: Check validation accuracy>, <Warn")), Lines{});
}

}  // namespace
}  // namespace neutra::fl_adapters::parsers::tests
