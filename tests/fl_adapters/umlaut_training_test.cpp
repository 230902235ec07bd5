#include <gtest/gtest.h>

#include <algorithm>

#include "base/error.h"
#include "fl_adapters/registry.h"
#include "tests/training/programs.h"

namespace neutra::fl_adapters {

using namespace training;
namespace {

Localisation run(const program::Program& p, int replica = 0,
                 ToolVariant variant = ToolVariant::kAsPublished, double time_limit = 0) {
  const auto trainer = training::make_local_trainer({});
  LocaliseContext context;
  context.trainer = trainer.get();
  context.run = replica;
  context.variant = variant;
  context.time_limit = time_limit;
  return find_tool("umlaut")->localise({"test", p}, context);
}

const ToolMessage* message(const Localisation& localisation, const std::string& code) {
  for (const ToolMessage& m : localisation.messages) {
    if (m.code == code) return &m;
  }
  return nullptr;
}

/// Two classes, one output, no activations, a large rate, features up to about 2.
program::Program faulty(int epochs = 6) {
  return program_of("moons", 2, Json::array({dense(8, "linear"), dense(1, "linear")}),
                    "mean_squared_error", "accuracy", optimizer("SGD", 0.05), epochs);
}

TEST(UmlautTraining, FindsTheFaultsOfATrainedProgram) {
  const Localisation found = run(faulty());
  EXPECT_EQ(found.status, LocalisationStatus::kOk);
  EXPECT_EQ(to_string(found.faults), "ACH(0,1), CPP, HLR");
  EXPECT_GT(found.seconds, 0);
  ASSERT_NE(message(found, "lr_high"), nullptr);
  EXPECT_EQ(message(found, "lr_high")->epochs, (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(message(found, "no_softmax")->epochs, std::vector<std::int64_t>{});
}

TEST(UmlautTraining, SameRunSameMessages) {
  const Localisation a = run(faulty(), 3), b = run(faulty(), 3);
  ASSERT_EQ(a.messages.size(), b.messages.size());
  for (std::size_t i = 0; i < a.messages.size(); ++i) {
    EXPECT_EQ(a.messages[i].code, b.messages[i].code);
    EXPECT_EQ(a.messages[i].epochs, b.messages[i].epochs);
    EXPECT_EQ(a.messages[i].detail, b.messages[i].detail);
  }
}

TEST(UmlautTraining, ValidationRowsAreSeen) {
  // Training targets of the other sign: the better the training, the worse the validation.
  program::Program p = faulty(8);
  p.document["compile"]["optimizer"]["config"]["learning_rate"] = 0.005;
  p.document["data"]["arguments"]["noise"] = 0;
  const Localisation good = run(p);
  EXPECT_EQ(message(good, "overfitting"), nullptr);
  p.document["data"]["preprocess"] =
      Json::parse(R"([{"op":"scale","on":"y","by":-1,"part":"train"}])");
  const Localisation bad = run(p);
  ASSERT_NE(message(bad, "overfitting"), nullptr);
  EXPECT_GE(message(bad, "overfitting")->epochs.size(), 5u);
}

TEST(UmlautTraining, InputIsTheLastValidationBatchUnlessRepaired) {
  // Training rows are made small, test rows aren't.
  program::Program p = faulty(2);
  p.document["data"]["preprocess"] =
      Json::parse(R"([{"op":"scale","on":"x","by":100,"part":"train"}])");
  EXPECT_NE(message(run(p), "input_normalization"), nullptr);
  EXPECT_EQ(message(run(p, 0, ToolVariant::kRepaired), "input_normalization"), nullptr);
}

TEST(UmlautTraining, WithoutAnAccuracyThePublishedToolBreaksInTheFourthEpoch) {
  program::Program p = line(6);
  p.document["data"]["preprocess"] =
      Json::parse(R"([{"op":"scale","on":"x","by":0.001,"part":"test"}])");
  const Localisation broken = run(p);
  EXPECT_EQ(broken.status, LocalisationStatus::kOk);
  EXPECT_NE(broken.reason.find("epoch 3"), std::string::npos) << broken.reason;
  ASSERT_NE(message(broken, "input_normalization"), nullptr);
  EXPECT_EQ(message(broken, "input_normalization")->epochs, (std::vector<std::int64_t>{0, 1, 2}));
  EXPECT_EQ(run(line(3)).reason, "");
  EXPECT_EQ(run(p, 0, ToolVariant::kRepaired).reason, "");
  EXPECT_EQ(run(faulty(6)).reason, "");  // compiles accuracy
}

TEST(UmlautTraining, ProgramsThatKerasRefusesAreNotApplicable) {
  program::Program p = faulty();
  p.document["model"]["config"]["layers"][1]["config"]["units"] = 0;
  const Localisation refused = run(p);
  EXPECT_EQ(refused.status, LocalisationStatus::kNotApplicable);
  EXPECT_EQ(to_string(refused.faults), "N/A");
  EXPECT_FALSE(refused.reason.empty());
}

TEST(UmlautTraining, TimeLimitKeepsWhatWasSaid) {
  const Localisation cut = run(faulty(1000000), 0, ToolVariant::kAsPublished, 0.2);
  EXPECT_EQ(cut.status, LocalisationStatus::kTimeout);
  EXPECT_NE(message(cut, "no_softmax"), nullptr);
  EXPECT_LT(cut.seconds, 30);
}

TEST(UmlautTraining, MissingDataIsAnError) {
  program::Program p = faulty();
  p.document["data"] = {{"source", "hdf5"}, {"arguments", {{"file", "nowhere.h5"}}}};
  EXPECT_THROW(run(p), Error);
}

}  // namespace
}  // namespace neutra::fl_adapters
