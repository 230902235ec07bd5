#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "base/files.h"
#include "evaluators/answers.h"
#include "experiments/catalog.h"
#include "experiments/recorded_names.h"
#include "fl_adapters/parsers/parser.h"
#include "tests/shared_data.h"

namespace neutra::experiments {
namespace {

TEST(RecordedNames, StandForFaults) {
  EXPECT_EQ(fault_of_recorded_name("48385830"), "D4");
  EXPECT_EQ(fault_of_recorded_name("reuters_remove_activation_function__2"), "R7");
  EXPECT_EQ(fault_of_recorded_name("mnist_lr_0.001"), "M3");
  // As the recordings spell them.
  EXPECT_EQ(fault_of_recorded_name("mnist_remove_actvation_function_7"), "M2");
  EXPECT_EQ(fault_of_recorded_name("mnist_remove_activation_function_7"), "M2");
  EXPECT_EQ(fault_of_recorded_name("reuters_change_learning_rate_1"), "R3");
  EXPECT_EQ(fault_of_recorded_name("mnist_HLR"), "M3");
  EXPECT_EQ(fault_of_recorded_name("48385831"), std::nullopt);
  EXPECT_EQ(fault_of_recorded_name(""), std::nullopt);
}

std::filesystem::path recorded() { return neutra::tests::shared_data("flstudy/tool_outputs"); }

/// Answers by fault, of the programs of the study in one recording.
std::map<std::string, std::string> answers_in(const std::string& tool,
                                              const std::filesystem::path& file) {
  const std::string text = read_file(file, "a recording");
  std::map<std::string, std::optional<Fault>> faults;
  fl_adapters::parsers::ParseOptions options;
  options.name = file.stem().string();
  options.program = [&](const std::string& name) -> const program::Program* {
    if (!faults.contains(name)) {
      const auto id = fault_of_recorded_name(name);
      faults[name] = id ? std::optional(load_fault(*id)) : std::nullopt;
    }
    return faults[name] ? &faults[name]->buggy : nullptr;
  };
  const auto log =
      fl_adapters::parsers::parse_log(*fl_adapters::parsers::find_log_parser(tool), text, options);
  EXPECT_TRUE(log.warnings.empty()) << file;
  std::map<std::string, std::string> answers;
  for (const fl_adapters::parsers::RecordedProgram& program : log.programs) {
    if (const auto id = fault_of_recorded_name(program.name)) {
      answers[*id] = to_string(program.answers.answer());
    }
  }
  return answers;
}

std::map<std::string, std::string> published(const std::string& tool) {
  std::map<std::string, std::string> answers;
  for (const evaluators::Answer& answer :
       evaluators::read_answers(resource_directory() / "tables" / "answers.csv")) {
    if (answer.tool == tool) answers[answer.fault] = to_string(answer.faults);
  }
  return answers;
}

/// Tables 5 and 7 of the study follow from the recordings; docs/formats/tool_outputs.md lists the
/// exceptions.
TEST(RecordedOutputs, GiveTheAnswersOfTheStudy) {
  if (!std::filesystem::exists(recorded())) GTEST_SKIP() << "no recorded outputs";
  auto expected = published("deepdiagnosis");
  expected["D9"] = "-";  // recorded without a message; the study prints N/A
  const auto diagnosis = answers_in("deepdiagnosis", recorded() / "deepdiagnosis.txt");
  EXPECT_EQ(diagnosis.size(), 12u);
  for (const auto& [fault, answer] : diagnosis) EXPECT_EQ(answer, expected.at(fault)) << fault;

  expected = published("umlaut");
  expected["D2"] = "ACH(6)";  // the last layer of seven
  std::map<std::string, std::string> umlaut;
  for (const auto& entry : std::filesystem::directory_iterator(recorded() / "umlaut")) {
    umlaut.merge(answers_in("umlaut", entry.path()));
  }
  EXPECT_EQ(umlaut.size(), 12u);
  for (const auto& [fault, answer] : umlaut) EXPECT_EQ(answer, expected.at(fault)) << fault;
}

}  // namespace
}  // namespace neutra::experiments
