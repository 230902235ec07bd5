// Shapes along the source: scripts with one wrong size, and the same scripts right.

#include <gtest/gtest.h>

#include <algorithm>

#include "base/files.h"
#include "source/checker.h"
#include "source/finding_forms.h"
#include "source/project.h"
#include "tests/source_file.h"

namespace neutra::source::tests {
namespace {

std::vector<const Rule*> shape_rules() {
  std::vector<const Rule*> rules;
  for (const RuleSet& set : bundled_rules())
    if (set.name == "shapes")
      for (const Rule& rule : set.rules) rules.push_back(&rule);
  return rules;
}

std::string code_of(const Json& one, const char* member) {
  std::string code;
  for (const Json& line : one["code"]) code += line.get<std::string>() + "\n";
  const auto& with = one[member].get_ref<const std::string&>();
  for (std::size_t at = code.find('$'); at != std::string::npos; at = code.find('$', at))
    code.replace(at, 1, with);
  return code;
}

std::vector<Finding> found_in(const std::string& code) {
  const SourceText source("code.py", code);
  return check(Analysis(source), shape_rules());
}

TEST(SourceShapes, FindOneWrongSizeAndNoneInTheSameScriptWithout) {
  const Json document =
      parse_json(read_file(source_file("tests/source/shapes_cases.json"), "cases"), "cases");
  ASSERT_GE(document["cases"].size(), 40u);
  for (const Json& one : document["cases"]) {
    const std::string wrong = code_of(one, "wrong"), right = code_of(one, "right");
    const std::vector<Finding> findings = found_in(wrong);
    EXPECT_TRUE(std::any_of(
        findings.begin(), findings.end(),
        [&](const Finding& found) { return found.rule->id == one["rule"].get<std::string>(); }))
        << one["rule"] << ":\n"
        << wrong;
    for (const Finding& found : found_in(right)) ADD_FAILURE() << found.message << "\n" << right;
  }
}

TEST(SourceShapes, NameBothPlaces) {
  const std::vector<Finding> findings = found_in(
      "from torch import nn\n"
      "net = nn.Sequential(\n"
      "    nn.Linear(784, 128),\n"
      "    nn.Linear(64, 10))\n");
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].position.line, 4u);
  EXPECT_NE(findings[0].message.find("code.py:4:15"), std::string::npos) << findings[0].message;
  EXPECT_NE(findings[0].message.find("code.py:3:20"), std::string::npos) << findings[0].message;
  ASSERT_EQ(findings[0].related.size(), 2u);
  Findings all;
  CheckedFile file;
  file.name = "code.py";
  file.text = std::make_shared<const SourceText>("code.py", "a\nb\nc\nd");
  file.findings = findings;
  all.files.push_back(std::move(file));
  const Json sarif = sarif_of(all, "1");
  const Json& related = sarif["runs"][0]["results"][0]["relatedLocations"];
  ASSERT_EQ(related.size(), 2u);
  EXPECT_EQ(related[1]["physicalLocation"]["region"]["startLine"], 3);
  EXPECT_EQ(json_of(all)["findings"][0]["related"][0]["line"], 4);
}

TEST(SourceShapes, DoNotGuess) {
  for (const char* code :
       {// which layer it is depends on what nobody here knows
        "from torch import nn\n"
        "def build(wide):\n"
        "    a = nn.Linear(8, 64) if wide else nn.Linear(8, 32)\n"
        "    if wide:\n        b = nn.Linear(64, 2)\n"
        "    else:\n        b = nn.Linear(32, 2)\n"
        "    return nn.Sequential(a, b)\n",
        // an error that is expected
        "import torch, pytest\nfrom torch import nn\n"
        "def test_size():\n"
        "    with pytest.raises(RuntimeError):\n"
        "        nn.Linear(4, 2)(torch.zeros(1, 5))\n",
        // a loop that changes it
        "import torch\nfrom torch import nn\n"
        "def grow(n):\n"
        "    width = 8\n    layers = []\n"
        "    for i in range(n):\n"
        "        layers.append(nn.Linear(width, width * 2))\n        width *= 2\n"
        "    return nn.Sequential(nn.Linear(4, 8), *layers, nn.Linear(width, 1))\n",
        // a list that another function may change
        "from torch import nn\nfrom other import change\n"
        "layers = [nn.Linear(4, 8)]\nchange(layers)\n"
        "net = nn.Sequential(*layers, nn.Linear(16, 2))\nnet(x)\n",
        // rows of a sequence
        "import torch\nfrom torch import nn\n"
        "def rows(n):\n"
        "    h, _ = nn.LSTM(8, 16, batch_first=True)(torch.zeros(n, 5, 8))\n"
        "    return nn.Linear(16, 2)(h.reshape(-1, 16))\n"})
    for (const Finding& found : found_in(code)) ADD_FAILURE() << found.message << "\n" << code;
}

TEST(SourceShapes, CommentsSwitchThemOff) {
  EXPECT_TRUE(found_in("from torch import nn\n"
                       "n = nn.Sequential(nn.Linear(1, 2), nn.Linear(3, 4))"
                       "  # neutra: ignore[input-size]\n")
                  .empty());
}

/// What calls itself in any number of ways ends, and soon.
TEST(SourceShapes, StepsAreBounded) {
  std::string code = "from torch import nn\nlayer = nn.Linear(1, 1)\n";
  for (int i = 0; i < 30; ++i) {
    const std::string next = std::to_string(i + 1);
    code += "def f" + std::to_string(i) + "(x):\n    if x.a:\n        return f" + next + "(f" +
            next + "(x))\n    for i in range(60):\n        x = f" + next + "(x)\n    return x\n";
  }
  code += "def f30(x):\n    return layer(x)\nf0(1)\n";
  EXPECT_TRUE(found_in(code).empty());
}

}  // namespace
}  // namespace neutra::source::tests
