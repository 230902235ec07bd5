#include <gtest/gtest.h>

#include <string>

#include "tests/fl_adapters/parsers/cases.h"

namespace neutra::fl_adapters::parsers::tests {
namespace {

TEST(NeuralintLog, TablesWithoutQuotes) {
  const ParsedLog log = parse(
      "neuralint",
      "31,keras_script.py\nLearner ==> The loss should be correctly defined and connected to the "
      "layer in accordance with its input conditions (i.e.shape and type)-pre-activation\nLayer 1 "
      "==> The initialization of biases is preferred to be zeros.\n35,N/A\n36,keras_script.py\n"
      "There is no identified fault in the DNN script\n37,keras_script.py\n");
  EXPECT_EQ(answers(log), (Lines{"31 x 1: BCI(0), LCH", "35 x 1: N/A", "36 x 1: -"}));
}

TEST(NeuralintLog, ReportsThatWereCutHaveNoVote) {
  const std::string report =
      "a.py\n\rLearner ==> The loss should be correctly defined and connected to the layer in "
      "accordance with its input conditions (i.e.shape and type)-pre-activation\n";
  for (std::size_t cut = 1; cut < report.size(); ++cut) {
    for (const std::string& text :
         {(report + report + report).substr(cut),
          (report + report + report).substr(0, 3 * report.size() - cut)}) {
      const ParsedLog log = parse("neuralint", text);
      ASSERT_EQ(log.programs.size(), 1u) << text;
      EXPECT_EQ(log.programs[0].answers.counted().size(), 1u) << text;
      EXPECT_EQ(to_string(log.programs[0].answers.answer()), "LCH") << text;
    }
  }
}

TEST(NeuralintLog, Reports) {
  const ParsedLog log = parse("neuralint", recorded("neuralint.txt"));
  EXPECT_EQ(answers(log), (Lines{"first x 2: ACH, LCH, LCN(0,3)", "second x 1: -", "third x 1: N/A",
                                 "fourth x 1: ACH(0), BCI(0,1)"}));
  EXPECT_EQ(codes(log), (Lines{"f012", "f020", "f027", "f019", "f019"}));
  EXPECT_EQ(warnings(log), Lines{});
}

TEST(NeuralintLog, LayersOfAKnownProgram) {
  // The tool counts dense, relu, dense, softmax.
  const program::Program known = classifier("softmax");
  const std::string text =
      "x.py\n\rLearner ==> A last layer activation is required to transform the logits into "
      "probabilities for classification problem(bin missing sigmoid).\n\rLayer 3 ==> The "
      "initialization of weights should not be constant to break the symmetry between neurons.";
  EXPECT_EQ(answers(parse("neuralint", text)), Lines{"x x 1: ACH, WCI(2)"});
  EXPECT_EQ(answers(parse("neuralint", text, knowing(known))), Lines{"x x 1: WCI(1)"});
  const ParsedLog beyond =
      parse("neuralint", "Layer 9 ==> The initialization of biases is preferred to be zeros.",
            knowing(known));
  EXPECT_EQ(warnings(beyond), Lines{"1: layer 9; the program has 4 as the tool counts"});
}

TEST(NeuralintLog, Garbled) {
  const ParsedLog log = parse(
      "neuralint",
      "a.py\nLearner ==> Something new., The initialization of biases is preferred to be zeros.\n"
      "Layer ==> x\nLayer 2 ==> The initialization of bia");
  EXPECT_EQ(warnings(log),
            (Lines{"2: unknown message 'Something new.,'", "3: not understood: 'Layer ==> x'",
                   "4: unknown message 'The initialization of bia'"}));
  EXPECT_EQ(answers(log), Lines{"a x 1: BCI"});
}

}  // namespace
}  // namespace neutra::fl_adapters::parsers::tests
