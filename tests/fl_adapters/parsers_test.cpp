#include "fl_adapters/parsers/parser.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/training/programs.h"

namespace neutra::fl_adapters::parsers {

using namespace training;
namespace {

const std::filesystem::path kData = NEUTRA_SOURCE_DIR "/tests/fl_adapters/data";

std::string read(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  EXPECT_TRUE(in) << file;
  return {std::istreambuf_iterator<char>(in), {}};
}

ParsedLog parse(const std::string& tool, const std::string& text, ParseOptions options = {}) {
  if (options.name.empty()) options.name = "log";
  const LogParser* parser = find_log_parser(tool);
  EXPECT_NE(parser, nullptr) << tool;
  return parse_log(*parser, text, options);
}

/// "name x runs: answer" of each program.
std::vector<std::string> answers(const ParsedLog& log) {
  std::vector<std::string> lines;
  for (const RecordedProgram& program : log.programs) {
    lines.push_back(program.name + " x " + std::to_string(program.answers.runs.size()) + ": " +
                    to_string(program.answers.answer()));
  }
  return lines;
}
/// Codes of the first run of the first program.
std::vector<std::string> codes(const ParsedLog& log) {
  std::vector<std::string> list;
  for (const ToolMessage& message : log.programs.at(0).answers.runs.at(0).messages) {
    list.push_back(message.code);
  }
  return list;
}
/// "line: text" of each warning.
std::vector<std::string> warnings(const ParsedLog& log) {
  std::vector<std::string> lines;
  for (const ParseWarning& warning : log.warnings) {
    lines.push_back(std::to_string(warning.line) + ": " + warning.text);
  }
  return lines;
}
using Lines = std::vector<std::string>;

/// A classifier whose last layer has this activation.
program::Program classifier(const std::string& output) {
  return program_of("moons", 2, Json::array({dense(4, "relu"), dense(2, output)}),
                    "categorical_crossentropy", "accuracy", optimizer("Adam", 0.001));
}
ParseOptions knowing(const program::Program& program) {
  ParseOptions options;
  options.program = [&](const std::string&) { return &program; };
  return options;
}

std::vector<std::string> texts(const std::string& bytes) {
  std::vector<std::string> list;
  for (const LogLine& line : log_lines(bytes)) {
    list.push_back(std::to_string(line.number) + ":" + line.text + (line.garbled ? "!" : ""));
  }
  return list;
}

TEST(Log, LinesEndInAnyWay) {
  EXPECT_EQ(texts("a\r\nb\n\rc\n\nd"), (Lines{"1:a", "2:b", "3:c", "4:", "5:d"}));
  EXPECT_EQ(texts(""), Lines{});
}

TEST(Log, ProgressBarsAreWrittenOverThemselves) {
  EXPECT_EQ(texts(" 1/2 [=>.]\r 2/2 [==]\n"), (Lines{"1: 1/2 [=>.]", "1: 2/2 [==]"}));
  EXPECT_EQ(texts("1/2 [=>.]\b\b\b\b\b2/2 [==]\n"), (Lines{"1:1/2 [=>.]", "1:2/2 [==]"}));
}

TEST(Log, ColoursAreDropped) {
  EXPECT_EQ(texts("\x1b[31m[<a>]\x1b[0m"), Lines{"1:[<a>]"});
  EXPECT_EQ(texts("\x1b[1;31m[<a>]\x1b[m"), Lines{"1:[<a>]"});
  EXPECT_EQ(texts("[31m[<a>][0m"), Lines{"1:[<a>]"});
  EXPECT_EQ(texts("<a>]\x1b [<b>]\x1b"), Lines{"1:<a>] [<b>]"});
  EXPECT_EQ(texts("\x1b[<Critical>]"), Lines{"1:[<Critical>]"});
  EXPECT_EQ(texts("\x1b]0;title\x07text"), Lines{"1:text"});
}

TEST(Log, OtherEncodings) {
  EXPECT_EQ(texts("\xef\xbb\xbf"
                  "a"),
            Lines{"1:a"});
  EXPECT_EQ(texts(std::string("\xff\xfe"
                              "a\0\n\0b\0",
                              8)),
            (Lines{"1:a", "2:b"}));
  EXPECT_EQ(texts(std::string("\xfe\xff"
                              "\0a",
                              4)),
            Lines{"1:a"});
  EXPECT_EQ(texts("gr\xc3\xbc\xc3\x9f"), Lines{"1:gr\xc3\xbc\xc3\x9f"});
  EXPECT_EQ(texts("a\xff"
                  "b\x01"),
            Lines{"1:a?b!"});
}

TEST(Log, NamesOfPrograms) {
  EXPECT_EQ(program_name("C:\\work\\1.py"), "1");
  EXPECT_EQ(program_name("/Blob/normal/model_7/"), "model_7");
  EXPECT_EQ(command_of("C:\\python.exe C:\\work\\41600519.py"), "41600519");
  EXPECT_EQ(command_of("$ python3 -u bug.py"), "bug");
  EXPECT_EQ(command_of("C:\\work\\1.py:44: FutureWarning: python.py"), std::nullopt);
  EXPECT_EQ(issue_of("Issue 1.py \r")->name, "1");
  EXPECT_FALSE(issue_of("Issue a start")->ends);
  EXPECT_TRUE(issue_of("\"Issue a end\"")->ends);
  EXPECT_EQ(issue_of("Issue a end 4.5\"")->seconds, 4.5);
  EXPECT_EQ(issue_of("Issue a 4.5")->seconds, 4.5);
  EXPECT_FALSE(issue_of("Issues with this"));
  EXPECT_FALSE(issue_of("Issue with a start of its own"));
}

TEST(Log, NoiseHasNames) {
  const std::vector<std::pair<const char*, const char*>> lines{
      {"  ", "blank"},
      {"  32/2000 [....] - ETA: 0s", "progress bar"},
      {"40/40 [=====] - 0s 50us/step - loss: 1 - accuracy: 0.5", "progress bar"},
      {"Epoch 1/30", "epoch header"},
      {" - 11s - loss: nan - accuracy: 0.0987", "metrics"},
      {"[205.8022892036438, 0.14350000023841858]", "numbers"},
      {"[0. 1. 0. ... 0. 0. 0.]", "numbers"},
      {"2023-03-19 16:54:35.600327: I tensorflow/x.cc:44] Opened", "library"},
      {"Total params: 23,860", "model summary"},
      {"C:\\work\\5.py:44: FutureWarning: arrays", "Python warning"},
      {"the an brazil vs reuter", ""},
  };
  for (const auto& [line, kind] : lines) EXPECT_EQ(noise_kind(line), kind) << line;
}

TEST(UmlautLog, Console) {
  const ParsedLog log = parse("umlaut", read(kData / "umlaut_console.txt"));
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

TEST(DeepDiagnosisLog, Issues) {
  const ParsedLog log = parse("deepdiagnosis", read(kData / "deepdiagnosis.txt"));
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
  const ParsedLog log = parse("deepdiagnosis", read(kData / "deepdiagnosis_messages.txt"));
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
  const ParsedLog log = parse("neuralint", read(kData / "neuralint.txt"));
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

TEST(DeepFDLog, Cases) {
  const ParsedLog log = parse("deepfd", read(kData / "deepfd.txt"));
  EXPECT_EQ(answers(log), (Lines{"alpha x 2: HLR, LCH", "beta x 1: -"}));
  EXPECT_EQ(log.programs[0].answers.runs[0].messages[1].detail, "line 27, 30");
  EXPECT_EQ(warnings(log), Lines{});
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
  const std::string text = read(kData / "deepdiagnosis.txt");
  for (const LogParser* parser : log_parsers()) {
    for (std::size_t length = 0; length < text.size(); length += 7) {
      const ParsedLog log = parse(parser->name, text.substr(0, length));
      for (const RecordedProgram& program : log.programs) {
        EXPECT_FALSE(program.answers.runs.empty());
      }
    }
  }
}

/// Recorded outputs of the study, where they are at hand.
std::filesystem::path recorded() {
  const char* shared = std::getenv("NEUTRA_SHARED");
  return std::filesystem::path(shared != nullptr ? shared : NEUTRA_SOURCE_DIR "/../shared") /
         "data/flstudy/tool_outputs";
}

TEST(RecordedOutputs, EveryLineIsUnderstoodOrNoise) {
  if (!std::filesystem::exists(recorded())) GTEST_SKIP() << "no recorded outputs";
  const std::vector<std::pair<std::string, std::string>> files{
      {"deepdiagnosis", "deepdiagnosis.txt"},
      {"deepfd", "deepfd.txt"},
      {"deepdiagnosis", "deepmufl_deepdiagnosis.csv"},
      {"deeplocalize", "deepmufl_deeplocalize.csv"},
      {"neuralint", "deepmufl_neuralint.csv"},
      {"umlaut", "deepmufl_umlaut.csv"}};
  for (const auto& [tool, file] : files) {
    const ParsedLog log = parse(tool, read(recorded() / file));
    EXPECT_EQ(warnings(log), Lines{}) << file;
    EXPECT_EQ(log.noise.count("program output"), 0u) << file;
    EXPECT_FALSE(log.programs.empty()) << file;
  }
  for (const auto& entry : std::filesystem::directory_iterator(recorded() / "umlaut")) {
    const ParsedLog log = parse("umlaut", read(entry.path()));
    EXPECT_EQ(warnings(log), Lines{}) << entry.path();
    EXPECT_FALSE(log.programs.empty()) << entry.path();
  }
}

}  // namespace
}  // namespace neutra::fl_adapters::parsers
