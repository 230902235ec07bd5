#include "fl_adapters/tool_answer.h"

#include <gtest/gtest.h>

#include "base/error.h"

namespace neutra::fl_adapters {
namespace {

program::Program two_layers() {
  return {Json::parse(R"({
    "format": "neutra-program", "version": 1,
    "model": {"class_name": "Sequential", "config": {"layers": [
      {"class_name": "Dense", "config": {"units": 3, "activation": "relu", "batch_input_shape": [null, 2]}},
      {"class_name": "Dense", "config": {"units": 1}}]}},
    "compile": {"loss": "mse", "metrics": ["mae"]},
    "data": {"source": "generator", "arguments": {"name": "linear"}}})")};
}

Localisation read(std::string text) {
  text.insert(text.find('{') + 1, R"("format": "neutra-answer", "version": 1, )");
  return read_tool_answer(parse_json(text, "a.json"), "a.json", two_layers());
}

std::string refusal(const std::string& text) {
  try {
    read(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.exit(), Exit::kBadInput);
    return error.what();
  }
  return "none";
}

TEST(ToolAnswer, FaultsInTheStudysNotation) {
  const Localisation answer = read(R"({"faults": "LRM|LAD|ACH(0), HLR"})");
  EXPECT_EQ(answer.status, LocalisationStatus::kOk);
  EXPECT_EQ(answer.faults, program::parse_fault_set("LRM|LAD|ACH(0), HLR", ""));
  EXPECT_EQ(to_string(read(R"({"faults": "-"})").faults), "-");
}

TEST(ToolAnswer, NotApplicable) {
  const Localisation answer = read(R"({"faults": "N/A", "reason": "no softmax"})");
  EXPECT_EQ(answer.status, LocalisationStatus::kNotApplicable);
  EXPECT_FALSE(answer.faults.applicable);
  EXPECT_EQ(answer.reason, "no softmax");
}

TEST(ToolAnswer, FaultsFollowFromMessages) {
  const Localisation answer = read(R"~({"messages": [
    {"text": "late", "epochs": [4, 2], "layers": [1, 0], "actionability": "location",
     "faults": "LRM|ACH(1)", "detail": "0.7", "severity": "Warning", "code": "L1"},
    {"text": "ignored", "ignored": "why"}]})~");
  EXPECT_EQ(answer.faults, program::parse_fault_set("LRM|ACH(1)", ""));
  ASSERT_EQ(answer.messages.size(), 2u);
  EXPECT_EQ(answer.messages[0].epochs, (std::vector<std::int64_t>{2, 4}));
  EXPECT_EQ(answer.messages[0].layers, (std::set<int>{0, 1}));
  EXPECT_EQ(answer.messages[0].actionability, Actionability::kLocation);
  EXPECT_EQ(answer.messages[0].code, "L1");
  EXPECT_EQ(answer.messages[0].severity, "Warning");
  EXPECT_EQ(answer.messages[0].detail, "0.7");
  EXPECT_EQ(answer.messages[1].code, "ignored");
  EXPECT_EQ(answer.messages[1].ignored, "why");
  EXPECT_EQ(to_string(read(R"({"messages": []})").faults), "-");
  EXPECT_EQ(
      to_string(read(R"({"faults": "-", "messages": [{"text": "x", "faults": "HLR"}]})").faults),
      "-");
}

TEST(ToolAnswer, LinesOfTheScript) {
  const Localisation answer = read(R"({"lines": ["train.py:3", "40"], "messages": [
    {"text": "slow", "lines": ["net.py:7-9"]}, {"text": "slow", "lines": ["net.py:7-9", "8"]}]})");
  EXPECT_EQ(evaluators::to_string(answer.lines), "train.py:3; 40");
  ASSERT_EQ(answer.messages.size(), 1u);
  EXPECT_EQ(evaluators::to_string(answer.messages[0].lines), "net.py:7-9; 8");
  EXPECT_EQ(evaluators::to_string(lines_named(answer)), "8; 40; net.py:7-9; train.py:3");
  EXPECT_TRUE(read(R"({"faults": "HLR"})").lines.empty());
}

TEST(ToolAnswer, RankingIsSorted) {
  const Localisation answer = read(R"({"ranking": [
    {"layer": 1, "suspiciousness": 0.5}, {"layer": 0, "neuron": 2, "suspiciousness": 2},
    {"type": "HLR", "suspiciousness": 0.5}]})");
  ASSERT_EQ(answer.ranking.size(), 3u);
  EXPECT_EQ(answer.ranking[0].neuron, 2);
  EXPECT_EQ(answer.ranking[1].layer, 1);
  EXPECT_EQ(answer.ranking[2].type, "HLR");
  EXPECT_EQ(answer.ranking[2].layer, -1);
  EXPECT_EQ(to_string(answer.faults), "-");
}

TEST(ToolAnswer, EachMistakeIsNamed) {
  for (const auto& [text, part] : {
           std::pair<const char*, const char*>{R"({"reason": ""})",
                                               "/faults: found neither faults nor"},
           {R"({"faults": ""})", "/faults: found \"\"; allowed: a text"},
           {R"({"faults": "XYZ"})", "XYZ"},
           {R"({"faults": "ACH("})", "a.json: /faults"},
           {R"~({"faults": "ACH(2)"})~", "/faults: found layer 2; allowed: layers 0 to 1"},
           {R"({"faults": ["ACH"]})", "/faults: found [\"ACH\"]"},
           {R"({"fault": "ACH"})", "did you mean faults?"},
           {R"({"ranking": [{"layer": 2, "suspiciousness": 1}]})", "/ranking/0/layer: found 2"},
           {R"({"ranking": [{"layer": -1, "suspiciousness": 1}]})", "/ranking/0/layer: found -1"},
           {R"({"ranking": [{"layer": 0.5, "suspiciousness": 1}]})", "/ranking/0/layer: found 0.5"},
           {R"({"ranking": [{"layer": 0, "neuron": 3, "suspiciousness": 1}]})",
            "/ranking/0/neuron: found 3; allowed: a whole number from 0 to 2"},
           {R"({"ranking": [{"neuron": 0, "suspiciousness": 1}]})",
            "/ranking/0/neuron: found no layer"},
           {R"({"ranking": [{"suspiciousness": 1}]})", "/ranking/0: found neither layer nor type"},
           {R"({"ranking": [{"layer": 0}]})", "/ranking/0/suspiciousness: found nothing"},
           {R"({"ranking": [{"layer": 0, "suspiciousness": "high"}]})",
            "/ranking/0/suspiciousness"},
           {R"({"ranking": [{"layer": 0, "suspiciousness": null}]})", "/ranking/0/suspiciousness"},
           {R"({"ranking": [{"layer": 0, "type": "XYZ", "suspiciousness": 1}]})",
            "/ranking/0/type: found \"XYZ\""},
           {R"({"ranking": {}})", "/ranking: found {}; allowed: a list"},
           {R"({"faults": "-", "lines": "3"})", "/lines: found \"3\"; allowed: a list"},
           {R"({"faults": "-", "lines": ["train.py"]})", "/lines/0: found 'train.py'"},
           {R"({"faults": "-", "lines": ["3; 4"]})", "/lines/0: found \"3; 4\""},
           {R"({"messages": [{"text": "x", "lines": [3]}]})", "/messages/0/lines/0: found 3"},
           {R"({"messages": [{}]})", "/messages/0/text: found nothing"},
           {R"({"messages": ["x"]})", "/messages/0: found \"x\"; allowed: an object"},
           {R"({"messages": [{"text": "x", "layers": [2]}]})", "/messages/0/layers/0: found 2"},
           {R"({"messages": [{"text": "x", "epochs": [-1]}]})", "/messages/0/epochs/0: found -1"},
           {R"({"messages": [{"text": "x", "actionability": "no"}]})",
            "/messages/0/actionability: found \"no\"; allowed: none, location, fix"},
           {R"({"messages": [{"text": "x", "faults": "ACH, HLR"}]})", "/messages/0/faults"},
           {R"({"messages": [{"text": "x", "faults": "N/A"}]})", "/messages/0/faults"},
       }) {
    EXPECT_NE(refusal(text).find(part), std::string::npos) << text << "\n" << refusal(text);
    EXPECT_NE(refusal(text).find("a.json"), std::string::npos) << text;
  }
  for (const char* text : {R"({"format": "neutra-answer", "version": 2, "faults": "-"})",
                           R"({"format": "neutra", "version": 1, "faults": "-"})", R"([])"}) {
    EXPECT_THROW(read_tool_answer(parse_json(text, ""), "", two_layers()), Error) << text;
  }
}

}  // namespace
}  // namespace neutra::fl_adapters
