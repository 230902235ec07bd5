// What DeepDiagnosis and DeepLocalize print: the line with which they stop a training.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "tests/fl_adapters/parsers/cases.h"

namespace neutra::fl_adapters::parsers::tests {
namespace {

TEST(DeepDiagnosisLog, Issues) {
  const ParsedLog log = parse("deepdiagnosis", recorded("deepdiagnosis.txt"));
  EXPECT_EQ(answers(log),
            (Lines{"alpha x 3: HLR", "beta x 1: -", "gamma x 1: ACH(0)|LAD|LRM",
                   "delta x 1: ACH(3)", "model_1 x 1: CPP", "model_2 x 1: -", "model_3 x 1: CPP",
                   "model_4 x 1: ACH(7)|LCH", "model_5 x 1: OCH"}));
  EXPECT_EQ(warnings(log), Lines{});
  EXPECT_EQ(log.programs[0].answers.runs[0].seconds, 3.5);
  EXPECT_EQ(log.programs[0].answers.runs[0].messages[0].code, "dead_node");
  EXPECT_EQ(log.programs[0].answers.runs[0].messages[0].text,
            "Batch 4 layer 1: Dead Node Problem, terminating training");
  EXPECT_EQ(log.programs[0].answers.runs[0].messages[0].layers, std::set<int>{1});
  EXPECT_EQ(log.programs[0].answers.runs[0].messages[0].epochs, std::vector<std::int64_t>{4});
}

TEST(StopLines, AnInputLayerIsNotCounted) {
  for (const bool input : {false, true}) {
    program::Program program;
    Json layers = Json::array();
    if (input) layers.push_back({{"class_name", "InputLayer"}, {"config", Json::object()}});
    for (int i = 0; i < 3; ++i) {
      layers.push_back({{"class_name", "Dense"}, {"config", {{"units", 2}}}});
    }
    program.document["model"]["config"]["layers"] = layers;
    ParseOptions options;
    options.program = [&](const std::string&) { return &program; };
    const ParsedLog diagnosis = parse(
        "deepdiagnosis",
        "Issue a\nBatch 0 layer 1: Numerical Error in delta Weights, terminating training --- 1.0 "
        "seconds --- Please change the loss function \t OR Please change the activaton function at "
        "layer: 2\n",
        options);
    ASSERT_EQ(diagnosis.programs.size(), 1u);
    const Localisation& run = diagnosis.programs[0].answers.runs[0];
    ASSERT_EQ(run.messages.size(), 2u);
    EXPECT_EQ(run.messages[0].layers, std::set<int>{input ? 2 : 1});
    EXPECT_EQ(to_string(run.faults), input ? "ACH(3)|LCH" : "ACH(2)|LCH");
    const ParsedLog localize =
        parse("deeplocalize", "Issue a\nBatch 0 layer 1: Error in forward, terminating training\n",
              options);
    EXPECT_EQ(localize.programs[0].answers.runs[0].messages[0].layers,
              std::set<int>{input ? 2 : 1});
  }
}

TEST(DeepDiagnosisLog, EverySymptomAndSuggestionIsKnown) {
  const ParsedLog log = parse("deepdiagnosis", recorded("deepdiagnosis_messages.txt"));
  std::set<std::string> heard;
  for (const RecordedProgram& program : log.programs) {
    for (const Localisation& run : program.answers.runs) {
      for (const ToolMessage& message : run.messages) heard.insert(message.code);
    }
  }
  EXPECT_EQ(heard.size(), 27u);
  EXPECT_EQ(warnings(log), Lines{});
}

TEST(DeepDiagnosisLog, SoftmaxIsDroppedWhereThereMayBeOne) {
  const std::string text =
      "Batch 0 layer 1:  Out of Rang Problem, terminating training\t\t --- 1 seconds ---\t \t "
      "change the activation function to softmax \t\n";
  EXPECT_EQ(answers(parse("deepdiagnosis", text)), Lines{"log x 1: -"});
  ParseOptions keep;
  keep.keep_misleading = true;
  EXPECT_EQ(answers(parse("deepdiagnosis", text, keep)), Lines{"log x 1: ACH(1)"});
  const program::Program softmax = classifier("softmax"), linear = classifier("linear");
  EXPECT_EQ(answers(parse("deepdiagnosis", text, knowing(softmax))), Lines{"log x 1: -"});
  EXPECT_EQ(answers(parse("deepdiagnosis", text, knowing(linear))), Lines{"log x 1: ACH(1)"});
}

TEST(DeepDiagnosisLog, Garbled) {
  const ParsedLog log = parse(
      "deepdiagnosis",
      "Issue a.py\n\tBatch 0 layer 1: Dead Nod\nIssue b.py\n\tBatch 0 layer x: Dead Node Problem, "
      "terminating training\n\tBatch 0 layer 1: Some Problem, terminating training\t Learning Rat"
      "\nIssue c.py\n\tBatch 0 layer 1: Dead Node Problem, terminating training\t --- 3.1 sec");
  EXPECT_EQ(
      warnings(log),
      (Lines{"2: the message is cut off: 'Batch 0 layer 1: Dead Nod'",
             "4: not understood: 'Batch 0 layer x: Dead Node Problem, terminating training'",
             "5: unknown symptom 'Batch 0 layer 1: Some Problem, terminating training'",
             "5: unknown suggestion 'Learning Rat'", "7: the time can't be read: '--- 3.1 sec'"}));
  // A part of each is missing, and nothing that is left blames anything.
  EXPECT_EQ(answers(log), Lines{});
}

TEST(DeepDiagnosisLog, RunsThatWereCutHaveNoVote) {
  const std::string issue =
      "Issue a.py \r\n\t Batch 0 layer 0: Numerical Problem Forward, terminating training \t\t --- "
      "9.5 "
      "seconds ---\t\tPlease change the activaton function at layer: 1\r\n";
  const std::string whole = issue + issue + issue;
  const auto only_answer = [&](const std::string& text) {
    const ParsedLog log = parse("deepdiagnosis", text);
    for (const RecordedProgram& program : log.programs) {
      EXPECT_EQ(program.answers.counted().size(), 1u) << text;
      EXPECT_EQ(to_string(program.answers.answer()), "ACH(1)") << text;
    }
    return log.programs.size();
  };
  EXPECT_EQ(only_answer(whole), 1u);
  for (std::size_t cut = 1; cut < issue.size(); ++cut) {
    EXPECT_EQ(only_answer(whole.substr(cut)), 1u) << cut;
    EXPECT_EQ(only_answer(whole.substr(0, whole.size() - cut)), 1u) << cut;
  }
  // An issue in the middle that lost its name isn't the program's before it.
  const ParsedLog lost = parse("deepdiagnosis", issue + issue.substr(12) + issue);
  EXPECT_EQ(answers(lost), Lines{"a x 2: ACH(1)"});
  EXPECT_EQ(warnings(lost).size(), 1u);
}

TEST(DeepLocalizeLog, TablesAndLines) {
  const ParsedLog log =
      parse("deeplocalize",
            "31,\"Batch 0 layer 6: Error in delta Weights, terminating training\"\n"
            "34,\"Batch 3 layer 2: Error in Delta Weights, terminating training\"\n35,N/A\n"
            "36,\"Batch 14: MDL, terminating training\"\n");
  EXPECT_EQ(answers(log), (Lines{"31 x 1: -", "34 x 1: -", "35 x 1: N/A", "36 x 1: -"}));
  EXPECT_EQ(codes(log), Lines{"delta_weights"});
  EXPECT_EQ(log.programs[1].answers.runs[0].messages[0].code, "unchanged_delta_weights");
  EXPECT_EQ(log.programs[3].answers.runs[0].messages[0].detail, "batch 14");
  EXPECT_EQ(warnings(log), Lines{});

  const ParsedLog lines = parse(
      "deeplocalize",
      "/M/normal/model_1/\t\tBatch 4 layer 12: Error in forward, terminating training\t\t --- "
      "10.5 seconds ---\t\n\n/M/normal/model_2/\t\n");
  EXPECT_EQ(answers(lines), (Lines{"model_1 x 1: -", "model_2 x 1: -"}));
  EXPECT_EQ(lines.programs[0].answers.runs[0].seconds, 10.5);

  const ParsedLog console = parse("deeplocalize",
                                  "Epoch 1/5\nBatch 4: Invalid loss, terminating training\n\n --- "
                                  "2.5 seconds ---\n");
  EXPECT_EQ(codes(console), Lines{"invalid_loss"});
  EXPECT_EQ(console.programs[0].answers.runs[0].seconds, 2.5);
  EXPECT_EQ(warnings(console), Lines{});
}

TEST(DeepLocalizeLog, TablesWithoutQuotes) {
  const ParsedLog log = parse("deeplocalize",
                              "31,Batch 0 layer 6: Error in delta Weights, terminating training\r\n"
                              "35,N/A\r\n36,Batch 14: MDL, terminating training\r\n"
                              "37,Batch 14: MDL, terminat");
  EXPECT_EQ(answers(log), (Lines{"31 x 1: -", "35 x 1: N/A", "36 x 1: -"}));
  EXPECT_EQ(codes(log), Lines{"delta_weights"});
}

}  // namespace
}  // namespace neutra::fl_adapters::parsers::tests
