// PYSIASSIST in `localise`: lines and faults of the script that a program was captured from.

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/sha256.h"
#include "fl_adapters/messages.h"
#include "fl_adapters/registry.h"
#include "source/rule.h"
#include "tests/has.h"
#include "tests/test_folder.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters::pysiassist::tests {
namespace {

using neutra::tests::has;
using neutra::tests::TestFolder;

constexpr const char* kLoop =
    "import torch\n"
    "from model import Net\n"
    "model = Net()\n"
    "optimizer = torch.optim.SGD(model.parameters(), lr=0.1)\n"
    "for x, y in loader:\n"
    "    loss = criterion(model(x), y)\n"
    "    loss.backward()\n"
    "    optimizer.step()\n";
constexpr const char* kModel =
    "import torch.nn as nn\n"
    "class Net(nn.Module):\n"
    "    def forward(self, x):\n"
    "        return x\n"
    "def loss(x, y):\n"
    "    return nn.CrossEntropyLoss()(nn.functional.softmax(x, dim=1), y)\n";

/// A program that was captured from train.py and model.py in `folder`.
FaultyProgram captured(const TestFolder& folder) {
  const program::Program program = training::program_of(
      "moons", 2, Json::array({training::dense(2, "softmax")}), "categorical_crossentropy",
      "accuracy", training::optimizer("Adam", 0.001));
  FaultyProgram faulty{"moons", program};
  faulty.framework = "torch 2.3.0";
  faulty.script = folder.write("train.py", kLoop).string();
  faulty.sources = {{"train.py", faulty.script, sha256(kLoop)},
                    {"model.py", folder.write("model.py", kModel).string(), sha256(kModel)}};
  return faulty;
}

Localisation ask(const FaultyProgram& faulty, ToolVariant variant) {
  LocaliseContext context;
  context.variant = variant;
  return find_tool("pysiassist")->localise(faulty, context);
}

std::string lines_of(const Localisation& said) { return evaluators::to_string(lines_named(said)); }

TEST(Pysiassist, NamesFaultsAndLinesOfEachFile) {
  const TestFolder folder;
  const Localisation said = ask(captured(folder), ToolVariant::kRepaired);
  ASSERT_EQ(said.status, LocalisationStatus::kOk) << said.reason;
  EXPECT_EQ(to_string(said.faults), "ACH|LCH, GMZ");
  EXPECT_EQ(lines_of(said), "model.py:6; train.py:7");
  const auto zero = std::find_if(said.messages.begin(), said.messages.end(),
                                 [](const auto& one) { return one.code == "missing-zero-grad"; });
  ASSERT_NE(zero, said.messages.end());
  EXPECT_EQ(zero->severity, "error");
  EXPECT_EQ(zero->actionability, Actionability::kFix);
  EXPECT_TRUE(has(zero->text, {"loss.backward()"}));
}

TEST(Pysiassist, MatchesTextsAsPublished) {
  const TestFolder folder;
  const Localisation said = ask(captured(folder), ToolVariant::kAsPublished);
  ASSERT_EQ(said.status, LocalisationStatus::kOk) << said.reason;
  std::set<std::string> codes;
  for (const ToolMessage& message : said.messages) {
    codes.insert(message.code);
    EXPECT_EQ(message.lines.empty(), false) << message.code;
  }
  EXPECT_TRUE(codes.contains("pattern-3"));
  EXPECT_TRUE(codes.contains("pattern-7"));  // nothing is seeded: a hint of the rules
  const std::string answer = to_string(said.faults);
  EXPECT_TRUE(has(answer, {"GBZ|GMS|GMZ"})) << answer;
}

TEST(Pysiassist, AFileInOrderIsNotBlamed) {
  const TestFolder folder;
  FaultyProgram faulty = captured(folder);
  const std::string right = std::string(kLoop).replace(std::string(kLoop).find("    loss ="), 0,
                                                       "    optimizer.zero_grad()\n");
  folder.write("train.py", right);
  faulty.sources = {{"train.py", faulty.script, sha256(right)}};
  EXPECT_EQ(to_string(ask(faulty, ToolVariant::kRepaired).faults), "-");
}

TEST(Pysiassist, JudgesNoOtherTextThanTheOneCaptured) {
  const TestFolder folder;
  const FaultyProgram faulty = captured(folder);
  folder.write("model.py", "x = 1\n");
  const Localisation changed = ask(faulty, ToolVariant::kRepaired);
  EXPECT_EQ(changed.status, LocalisationStatus::kNotApplicable);
  EXPECT_EQ(to_string(changed.faults), "N/A");
  EXPECT_TRUE(changed.messages.empty());
  EXPECT_TRUE(has(changed.reason, {"model.py", "changed since it was captured"}));
  std::filesystem::remove(folder / "model.py");
  const Localisation gone = ask(faulty, ToolVariant::kRepaired);
  EXPECT_EQ(gone.status, LocalisationStatus::kNotApplicable);
  EXPECT_TRUE(has(gone.reason, {"model.py"}));
}

TEST(Pysiassist, AProgramWithoutItsSourceIsNotApplicable) {
  const TestFolder folder;
  FaultyProgram faulty = captured(folder);
  faulty.framework = "tf.keras 2.15.0";
  EXPECT_EQ(ask(faulty, ToolVariant::kRepaired).status, LocalisationStatus::kOk);
  const Localisation keras = ask(faulty, ToolVariant::kAsPublished);
  EXPECT_EQ(keras.status, LocalisationStatus::kNotApplicable);
  EXPECT_TRUE(has(keras.reason, {"PyTorch", "tf.keras 2.15.0"}));
  faulty.sources.clear();
  EXPECT_TRUE(has(ask(faulty, ToolVariant::kRepaired).reason, {"not that of this version"}));
  faulty.script.clear();
  EXPECT_TRUE(has(ask(faulty, ToolVariant::kRepaired).reason, {"captured from no script"}));
}

TEST(Pysiassist, TellsEachFaultThatARuleMayName) {
  const std::set<std::string> told = fault_types_of(*find_tool("pysiassist"));
  for (const source::RuleSet& set : source::bundled_rules())
    for (const source::Rule& rule : set.rules)
      for (const std::string& fault : rule.faults)
        EXPECT_TRUE(rule.severity == source::Severity::kHint || told.contains(fault))
            << rule.id << ": " << fault
            << " is missing in \"rule\" of fl_adapters/tools/pysiassist.json";
}

}  // namespace
}  // namespace neutra::fl_adapters::pysiassist::tests
