#include "program/warnings.h"

#include "tests/program/support.h"

namespace neutra::program {
namespace {

using tests::sample;

Program with_early_stopping(const Json& metrics, const Json& config) {
  Program program = sample("mlp");
  program.document["compile"]["metrics"] = metrics;
  program.document["fit"] = {
      {"epochs", 20}, {"callbacks", {{{"class_name", "EarlyStopping"}, {"config", config}}}}};
  return program;
}

std::vector<std::string> texts(const Program& program) {
  std::vector<std::string> list;
  for (const Warning& warning : warnings_of(program)) list.push_back(warning.text);
  return list;
}

/// The one warning; "" for none.
std::string text(const Program& program) {
  const std::vector<std::string> list = texts(program);
  EXPECT_LE(list.size(), 1U);
  return list.empty() ? "" : list.front();
}

TEST(Warnings, NameAMonitorThatIsNotInTheLogs) {
  Program program = with_early_stopping({"accuracy"}, {{"monitor", "val_acc"}});
  EXPECT_EQ(text(program),
            "Early stopping conditioned on metric `val_acc` which is not available. Available "
            "metrics are: loss,accuracy. It never stops the training: the program has no "
            "validation rows (fit.validation_split or data.validation gives it some)");
  EXPECT_EQ(warnings_of(program).front().path, "/fit/callbacks/0/config/monitor");

  program.document["fit"]["validation_split"] = 0.2;
  EXPECT_EQ(text(program),
            "Early stopping conditioned on metric `val_acc` which is not available. Available "
            "metrics are: loss,accuracy,val_loss,val_accuracy. It never stops the training: "
            "compile.metrics spells that metric so that it is `val_accuracy`");

  program = with_early_stopping({"acc"}, {{"monitor", "accuracy"}});
  EXPECT_NE(text(program).find("so that it is `acc`"), std::string::npos) << text(program);
  program = with_early_stopping(Json::array(), {{"monitor", "accuracy"}});
  EXPECT_NE(text(program).find("metrics are: loss. It never stops the training: compile.metrics "
                               "has no metric of that name"),
            std::string::npos)
      << text(program);
  program = with_early_stopping({"mae"}, {{"monitor", "some_metric"}});
  EXPECT_NE(text(program).find("metrics are: loss,mae. "), std::string::npos) << text(program);
}

TEST(Warnings, KnowTheDefaultMonitorAndRowsOfTheDataSection) {
  Program program = with_early_stopping({"mae"}, Json::object());
  EXPECT_NE(text(program).find("`val_loss` which is not available"), std::string::npos);
  program.document["data"]["validation"] = "test";
  EXPECT_EQ(text(program), "");
}

TEST(Warnings, NameAPatienceThatTheTrainingEndsBefore) {
  EXPECT_EQ(text(with_early_stopping({"mae"}, {{"monitor", "loss"}, {"patience", 20}})),
            "EarlyStopping on `loss` waits for 20 epochs without improvement, and fit.epochs is "
            "20: it never stops the training");
  EXPECT_EQ(text(with_early_stopping({"mae"}, {{"monitor", "loss"}, {"patience", 19}})), "");
}

/// tf.keras 2.4's mode auto looks for "acc" in the monitor's name.
TEST(Warnings, NameAModeThatTakesGoodForBad) {
  EXPECT_EQ(text(with_early_stopping({"accuracy"}, {{"monitor", "accuracy"}, {"mode", "min"}})),
            "EarlyStopping on `accuracy` has mode min: it stops the training once the metric "
            "doesn't fall, and higher is better (mode max)");
  EXPECT_EQ(text(with_early_stopping({"mae"}, {{"monitor", "loss"}, {"mode", "max"}})),
            "EarlyStopping on `loss` has mode max: it stops the training once the metric doesn't "
            "rise, and lower is better (mode min)");
  for (const Json& metric : {Json("AUC"), Json({{"class_name", "AUC"}})}) {
    EXPECT_EQ(
        text(with_early_stopping(Json::array({metric}), {{"monitor", "auc"}})),
        "EarlyStopping on `auc` has mode auto, which means min for a name without \"acc\": it "
        "stops the training once the metric doesn't fall, and higher is better (mode max)");
  }
  for (const char* mode : {"auto", "max"}) {
    EXPECT_EQ(text(with_early_stopping({"acc"}, {{"monitor", "acc"}, {"mode", mode}})), "");
  }
  for (const char* mode : {"auto", "min"}) {
    EXPECT_EQ(text(with_early_stopping({"mse"}, {{"monitor", "mse"}, {"mode", mode}})), "");
  }
}

TEST(Warnings, NameTestRowsThatAreTrainingRows) {
  Program program = with_early_stopping({"mae"}, {{"monitor", "loss"}, {"patience", 3}});
  program.document["data"].erase("split");
  program.document["data"]["test"] = "train";
  EXPECT_EQ(text(program),
            "the test rows are the training rows: the metric says how well these are learned by "
            "heart, not how well other rows are predicted");
  EXPECT_EQ(warnings_of(program).front().path, "/data/test");
  program.document["data"] = {
      {"source", "npy"},
      {"arguments",
       {{"x_train", "x.npy"}, {"y_train", "y.npy"}, {"x_test", "x.npy"}, {"y_test", "y.npy"}}}};
  EXPECT_EQ(text(program).substr(0, 36), "the test rows are those of x_train: ");
  EXPECT_EQ(warnings_of(program).front().path, "/data/arguments/x_test");
  program.document["data"]["arguments"]["x_test"] = "other.npy";
  EXPECT_EQ(text(program), "");
}

TEST(Warnings, NameClassWeightsThatAreAllZeroAndRatesThatAreNoShare) {
  Program program = sample("mlp");
  program.document["fit"]["class_weight"] = {{"0", 0}, {"1", 0.0}};
  EXPECT_EQ(text(program), "all class weights are 0: the loss is 0 and nothing is learned");
  program.document["fit"]["class_weight"]["1"] = 1;
  EXPECT_EQ(text(program), "");
  Json& constraint =
      program.document["model"]["config"]["layers"][0]["config"]["kernel_constraint"];
  for (const double rate : {1e300, -0.5}) {
    constraint = {{"class_name", "MinMaxNorm"}, {"config", {{"rate", rate}}}};
    EXPECT_NE(text(program).find("outside of 0 to 1"), std::string::npos) << rate;
  }
  constraint["config"]["rate"] = 0.5;
  EXPECT_EQ(text(program), "");
}

TEST(Warnings, AreOfEachCallbackAndOfValidProgramsOnly) {
  Program program = with_early_stopping({"mae"}, {{"monitor", "loss"}, {"patience", 3}});
  Json& callbacks = program.document["fit"]["callbacks"];
  callbacks.push_back("TerminateOnNaN");
  callbacks.push_back(
      {{"class_name", "EarlyStopping"}, {"config", {{"monitor", "val_mae"}, {"patience", 90}}}});
  ASSERT_EQ(warnings_of(program).size(), 1U);
  EXPECT_EQ(warnings_of(program).front().path, "/fit/callbacks/2/config/monitor");
  program.document["fit"]["epochs"] = "many";
  EXPECT_TRUE(warnings_of(program).empty());
  EXPECT_TRUE(warnings_of(sample("cnn")).empty());
}

}  // namespace
}  // namespace neutra::program
