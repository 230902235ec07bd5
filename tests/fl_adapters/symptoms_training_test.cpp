#include <gtest/gtest.h>

#include <algorithm>

#include "evaluators/symptoms.h"
#include "fl_adapters/messages.h"
#include "fl_adapters/registry.h"
#include "tests/training/programs.h"
#include "training/monitor.h"

namespace neutra::fl_adapters {

using namespace training;
namespace {

/// With a learning rate that ruins its weights.
program::Program shaken() {
  program::Program p = moons(6);
  p.document["compile"]["optimizer"] = optimizer("Adam", 10);
  return p;
}

Localisation ask(const program::Program& p, double time_limit = 0) {
  const auto trainer = training::make_local_trainer({});
  LocaliseContext context;
  context.trainer = trainer.get();
  context.time_limit = time_limit;
  return find_tool("symptoms")->localise({"test", p}, context);
}

std::vector<evaluators::DataFaultScore> scores_of(const program::Program& p,
                                                  std::vector<std::string>& symptoms) {
  const auto trainer = training::make_local_trainer({});
  training::TrainingMonitor monitor(trainer->resolved(p));
  const training::TrainingJob job{&p};
  const evaluators::MonitoredRun run = monitor.run(job, trainer->train(job, &monitor));
  const std::vector<evaluators::Symptom> found = evaluators::find_symptoms(run);
  for (const evaluators::Symptom& symptom : found) symptoms.push_back(symptom.rule->id);
  return evaluators::rank_data_faults(found);
}

TEST(SymptomsTool, SaysSymptomsAndTheLikeliestFaultOfTheData) {
  std::vector<std::string> expected;
  const std::vector<evaluators::DataFaultScore> scores = scores_of(shaken(), expected);
  const Localisation found = ask(shaken());
  ASSERT_EQ(found.status, LocalisationStatus::kOk) << found.reason;
  EXPECT_NE(std::find(expected.begin(), expected.end(), "abnormal_weights"), expected.end());
  std::vector<std::string> codes;
  for (const ToolMessage& message : found.messages) {
    EXPECT_EQ(message.epochs, std::vector<std::int64_t>{5});
    EXPECT_FALSE(message.detail.empty());
    if (message.severity == "Symptom") codes.push_back(message.code);
  }
  EXPECT_EQ(codes, expected);
  ASSERT_EQ(scores.front().fault->id, "class_imbalance");
  EXPECT_EQ(to_string(found.faults), "TCI|TUD");
  ASSERT_FALSE(found.ranking.empty());
  EXPECT_EQ(found.ranking.front().type, "TCI");
  EXPECT_EQ(found.ranking.front().suspiciousness, scores.front().probability);
}

TEST(SymptomsTool, SaysNothingWithoutSymptoms) {
  const Localisation found = ask(moons(10));
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  EXPECT_TRUE(found.faults.items.empty()) << to_string(found.faults);
  EXPECT_TRUE(found.messages.empty()) << found.messages.front().text;
}

TEST(SymptomsTool, EveryFaultOfTheDataHasFaultTypes) {
  const MessageTable table = table_of_tool("symptoms");
  for (const evaluators::DataFault& fault : evaluators::SymptomRules::bundled().data_faults()) {
    EXPECT_FALSE(table.message(fault.id, {}, "").faults.empty()) << fault.id;
  }
}

TEST(SymptomsTool, ProgramsThatKerasRefusesAndTrainingsCutOff) {
  program::Program p = moons();
  p.document["model"]["config"]["layers"][2]["config"]["units"] = 0;
  EXPECT_EQ(ask(p).status, LocalisationStatus::kNotApplicable);
  const Localisation cut = ask(moons(100000), 0.05);
  EXPECT_EQ(cut.status, LocalisationStatus::kTimeout);
  EXPECT_TRUE(cut.messages.empty());
}

}  // namespace
}  // namespace neutra::fl_adapters
