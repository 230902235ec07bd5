#include <gtest/gtest.h>

#include <map>

#include "evaluators/answers.h"
#include "experiments/catalog.h"
#include "fl_adapters/tools/neuralint/rules.h"

namespace neutra::experiments {
namespace {

/// Where the rules give another answer than the study prints (docs/methods/neuralint.md says why).
const std::map<std::string, std::string> kDifferences{
    {"C3", "WCI(2)"},            // the study prints the tool's number less one
    {"D3", "LCH, LCN(0)"},       // no rule says ACH(1)
    {"D5", "LCF(0), LCN(0)"},    // 128 filters follow on 256
    {"D9", "ACH(0,2), LCN(0)"},  // neither convolution has an activation
    {"M3", "-"},                 // the tool can't see the rate that is its fault
    {"R3", "-"},
};

std::string answer(const program::Program& program, fl_adapters::ToolVariant variant) {
  if (fl_adapters::neuralint::unreadable(program, variant)) return "N/A";
  return to_string(fl_adapters::answer_of(fl_adapters::neuralint::check_program(program, variant)));
}

TEST(NeuralintAnswers, AreThoseOfTable6) {
  int compared = 0;
  for (const evaluators::Answer& recorded :
       evaluators::read_answers(resource_directory() / "tables" / "answers.csv")) {
    if (recorded.tool != "neuralint") continue;
    ++compared;
    const std::string& id = recorded.fault;
    const auto difference = kDifferences.find(id);
    const std::string expected =
        difference != kDifferences.end() ? difference->second : to_string(recorded.faults);
    EXPECT_EQ(answer(load_fault(id).buggy, fl_adapters::ToolVariant::kAsPublished), expected) << id;
  }
  EXPECT_EQ(compared, 22);
}

/// What the defects of the published tool hide.
TEST(NeuralintAnswers, Repaired) {
  const std::map<std::string, std::string> expected{
      {"D1", "ACH(7), LCH"}, {"D4", "ACH(0), BCI(0,1)"}, {"D7", "-"},
      {"M2", "ACH(7)"},      {"R2", "ACH(2), LCH"},      {"R7", "ACH(2)"}};
  for (const auto& [id, faults] : expected) {
    EXPECT_EQ(answer(load_fault(id).buggy, fl_adapters::ToolVariant::kRepaired), faults) << id;
  }
}

}  // namespace
}  // namespace neutra::experiments
