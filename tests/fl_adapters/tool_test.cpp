#include "fl_adapters/tool.h"

#include <gtest/gtest.h>

namespace neutra::fl_adapters {
namespace {

ToolMessage message(std::vector<program::FaultEntry> faults) {
  ToolMessage m;
  m.faults = std::move(faults);
  return m;
}

TEST(Answer, FaultsOfOneTypeBecomeOne) {
  const program::FaultSet answer =
      answer_of({message({{"HLR", {}}}), message({{"ACH", {1}}}), message({}),
                 message({{"ACH", {0}}}), message({{"HLR", {}}})});
  EXPECT_EQ(to_string(answer), "ACH(0,1), HLR");
  EXPECT_EQ(answer, program::parse_fault_set("ACH(0,1), HLR", ""));
}

TEST(Answer, ChoicesStayApart) {
  const program::FaultSet answer =
      answer_of({message({{"LRM", {}}, {"LAD", {}}, {"ACH", {0}}}), message({{"ACH", {2}}}),
                 message({{"ACH", {0}}, {"LAD", {}}, {"LRM", {}}})});
  EXPECT_EQ(answer, program::parse_fault_set("LRM|LAD|ACH(0), ACH(2)", ""));
}

TEST(Answer, ChoicesBetweenTheSameTypesBecomeOne) {
  const program::FaultSet answer =
      answer_of({message({{"ACH", {0}}, {"HLR", {}}}), message({{"HLR", {}}, {"ACH", {2}}}),
                 message({{"ACH", {4}}, {"WCI", {4}}}), message({{"ACH", {1}}})});
  EXPECT_EQ(answer, program::parse_fault_set("ACH(0,2)|HLR, ACH(4)|WCI(4), ACH(1)", ""));
}

TEST(Answer, NothingSaidIsNothingFound) {
  EXPECT_EQ(to_string(answer_of({})), "-");
  EXPECT_EQ(to_string(answer_of({message({})})), "-");
}

TEST(HeardMessages, SayWhen) {
  ToolMessage m;
  EXPECT_EQ(when_said({&m, {}, 1}), "before training");
  EXPECT_EQ(when_said({&m, {0, 1, 5}, 1}), "0-1, 5");
  m.said = Said::kInIterations;
  EXPECT_EQ(when_said({&m, {10, 20}, 1}), "iterations 10, 20");
  m.said = Said::kAfterTraining;
  EXPECT_EQ(when_said({&m, {}, 1}), "after training");
}

TEST(Record, OneMessageForAllItsEpochs) {
  std::vector<ToolMessage> list;
  for (const std::int64_t epoch : {3, 4, 7}) {
    ToolMessage m;
    m.code = "x";
    m.epochs = {epoch};
    m.detail = "at " + std::to_string(epoch);
    record(list, m);
  }
  ToolMessage other;
  other.code = "x";
  other.layers = {1};
  record(list, other);
  ASSERT_EQ(list.size(), 2u);
  EXPECT_EQ(list[0].epochs, (std::vector<std::int64_t>{3, 4, 7}));
  EXPECT_EQ(list[0].detail, "at 3");
}

}  // namespace
}  // namespace neutra::fl_adapters
