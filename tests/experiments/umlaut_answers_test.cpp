#include <gtest/gtest.h>

#include <map>

#include "evaluators/answers.h"
#include "experiments/catalog.h"
#include "fl_adapters/tools/umlaut.h"

namespace neutra::experiments {
namespace {

/// Where the program has it otherwise (docs/methods/umlaut.md).
const std::map<std::string, std::string> kDifferences{
    {"D2", "ACH(6)"},    // the model has layers 0 to 6
    {"D9", "ACH(0,2)"},  // layer 4 is a Flatten
};

std::string answer(const program::Program& program, fl_adapters::ToolVariant variant) {
  std::vector<fl_adapters::ToolMessage> messages =
      fl_adapters::umlaut::check_program(program, variant);
  fl_adapters::umlaut::Epoch epoch;
  epoch.learning_rate = program::resolve(program).optimizer.at("config").at("learning_rate");
  for (fl_adapters::ToolMessage& message : fl_adapters::umlaut::check_epoch(epoch)) {
    fl_adapters::record(messages, std::move(message));
  }
  return to_string(fl_adapters::answer_of(messages));
}

/// They follow from the rules on the program and the learning rate, which need no training.
TEST(UmlautAnswers, AreThoseOfTable7) {
  int compared = 0;
  for (const evaluators::Answer& recorded :
       evaluators::read_answers(resource_directory() / "tables" / "answers.csv")) {
    if (recorded.tool != "umlaut") continue;
    ++compared;
    const std::string& id = recorded.fault;
    const auto difference = kDifferences.find(id);
    const std::string expected =
        difference != kDifferences.end() ? difference->second : to_string(recorded.faults);
    const Fault fault = load_fault(id);
    EXPECT_EQ(answer(fault.buggy, fl_adapters::ToolVariant::kAsPublished), expected) << id;
    // D2 has one sigmoid: no softmax is to take its place.
    EXPECT_EQ(answer(fault.buggy, fl_adapters::ToolVariant::kRepaired), id == "D2" ? "-" : expected)
        << id;
  }
  EXPECT_EQ(compared, 22);
}

/// Messages before training, as the tool printed them (recorded outputs of the study's runs).
TEST(UmlautAnswers, MessagesBeforeTrainingAreThoseRecorded) {
  const std::vector<std::string> plain{"no_softmax", "activation_final_layer"};
  const std::vector<std::string> all{"no_softmax", "missing_activations", "activation_final_layer"};
  const std::map<std::string, std::vector<std::string>> recorded{
      {"D1", all},   {"D2", plain}, {"D3", all},   {"D4", {"no_softmax", "missing_activations"}},
      {"D5", plain}, {"D6", plain}, {"D8", plain}, {"C2", plain},
      {"M1", plain}, {"M3", plain}, {"R1", plain}, {"R3", plain},
      {"R5", plain}};
  for (const auto& [id, codes] : recorded) {
    std::vector<std::string> said;
    for (const fl_adapters::ToolMessage& message : fl_adapters::umlaut::check_program(
             load_fault(id).buggy, fl_adapters::ToolVariant::kAsPublished)) {
      said.push_back(message.code);
    }
    EXPECT_EQ(said, codes) << id;
  }
}

}  // namespace
}  // namespace neutra::experiments
