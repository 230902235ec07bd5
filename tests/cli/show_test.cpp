// What `neutra show` says of programs, and the warnings that verbs give before they train.
#include <gtest/gtest.h>

#include <fstream>

#include "base/hdf5_file.h"
#include "base/json.h"
#include "tests/cli/command.h"
#include "tests/count.h"
#include "tests/source_file.h"

namespace neutra::cli {
namespace {

/// A classifier of `classes` classes that names no input shape.
Json classifier(const Json& data, int classes) {
  return {{"format", "neutra-program"},
          {"version", 1},
          {"name", "a classifier"},
          {"model",
           {{"class_name", "Sequential"},
            {"config",
             {{"layers",
               {{{"class_name", "Flatten"}},
                {{"class_name", "Dense"}, {"config", {{"units", 4}, {"activation", "relu"}}}},
                {{"class_name", "BatchNormalization"}},
                {{"class_name", "Dense"},
                 {"config", {{"units", classes}, {"activation", "softmax"}}}}}}}}}},
          {"compile",
           {{"optimizer", "adam"},
            {"loss", "sparse_categorical_crossentropy"},
            {"metrics", {"accuracy"}}}},
          {"fit", {{"epochs", 2}}},
          {"data", data}};
}

const Json kSplit = {{"test_size", 0.25}, {"seed", 42}};

std::string idx(char rank, std::initializer_list<char> extents, std::size_t numbers) {
  std::string text = {0, 0, 8, rank};
  for (const char extent : extents) text += std::string(3, '\0') + extent;
  return text + std::string(numbers, '\1');
}

TEST(Show, TakesShapesFromTheHeadersOfTheData) {
  const Folder folder;
  folder.write("rows.csv", "a,b,c,class\n1,2,3,0\n4,5,6,1\n7,8,9,0\nnot read\n");
  std::filesystem::copy(source_file("tests/training/data/parts.npz"), folder.path() / "parts.npz");
  folder.write("x", idx(3, {8, 2, 5}, 80));
  folder.write("y", idx(1, {8}, 8));
  folder.write("x-test", idx(3, {8, 2, 5}, 80));
  {
    Hdf5File file = Hdf5File::create(folder.path() / "rows.h5");
    file.write("/x", std::vector<double>(60, 1), {20, 3});
    file.write("/y", std::vector<double>(20, 1));
    file.close();
  }
  struct Case {
    Json data;
    int inputs;
    Json training, test;
  };
  for (const auto& [data, inputs, training, test] : std::initializer_list<Case>{
           {{{"source", "csv"}, {"arguments", {{"file", "rows.csv"}}}, {"split", kSplit}},
            3,
            nullptr,
            nullptr},
           {{{"source", "npz"}, {"arguments", {{"file", "parts.npz"}}}}, 4, 500, 10},
           {{{"source", "idx"},
             {"arguments",
              {{"train_images", "x"},
               {"train_labels", "y"},
               {"test_images", "x-test"},
               {"test_labels", "y"}}}},
            10,
            8,
            8},
           {{{"source", "hdf5"}, {"arguments", {{"file", "rows.h5"}}}, {"split", kSplit}},
            3,
            15,
            5},
           {{{"source", "generator"},
             {"arguments", {{"name", "blobs"}, {"rows", 40}}},
             {"split", kSplit}},
            2,
            30,
            10}}) {
    folder.write("p.json", classifier(data, 10).dump());
    const Called called = call({"show", "p.json", "--json"}, folder.path());
    ASSERT_EQ(called.exit, 0) << called.err;
    const Json shown = parse_json(called.out, "out");
    EXPECT_EQ(shown["title"], "a classifier");
    EXPECT_EQ(shown["layers"][0]["output_shape"], Json({inputs})) << data;
    EXPECT_EQ(shown["layers"][1]["weights"], 4 * inputs + 4) << data;
    EXPECT_EQ(shown["layers"][2]["weights"], 16) << data;
    EXPECT_EQ(shown["weights"]["all"], 4 * inputs + 4 + 16 + 50) << data;
    EXPECT_EQ(shown["weights"]["trained"], 4 * inputs + 4 + 8 + 50) << data;
    EXPECT_EQ(shown["rows"]["training"], training) << data;
    EXPECT_EQ(shown["rows"]["test"], test) << data;
    EXPECT_EQ(shown["warnings"], Json::array()) << data;
    const Called text = call({"show", "p.json"}, folder.path());
    EXPECT_TRUE(has(text.out, {"p: a classifier\n", "(" + std::to_string(inputs) + ")"}));
  }
}

TEST(Show, SaysWhyShapesAreUnknown) {
  const Folder folder;
  folder.write(
      "p.json",
      classifier({{"source", "csv"}, {"arguments", {{"file", "none.csv"}}}, {"split", kSplit}}, 3)
          .dump());
  Called called = call({"show", "p.json"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  EXPECT_TRUE(has(called.out, {"rows ", "none.csv"}));
  EXPECT_EQ(count(called.out, "warning "), 0U) << called.out;

  folder.write("none.csv", "a,b\nx,y,z\n");
  called = call({"show", "p.json", "--json"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json warnings = parse_json(called.out, "out")["warnings"];
  ASSERT_EQ(warnings.size(), 1U) << called.out;
  EXPECT_EQ(warnings[0]["path"], "/data");
}

/// What training would refuse is said, and the rest is shown.
TEST(Show, SaysWhatKerasRefusesOnTheData) {
  const Folder folder;
  Json program = classifier({{"source", "generator"},
                             {"arguments", {{"name", "blobs"}, {"rows", 40}}},
                             {"split", kSplit}},
                            3);
  program["model"]["config"]["layers"][0] = {
      {"class_name", "Dense"}, {"config", {{"units", 5}, {"batch_input_shape", {nullptr, 7}}}}};
  folder.write("p.json", program.dump());
  const Called called = call({"show", "p.json", "--json"}, folder.path());
  ASSERT_EQ(called.exit, 0) << called.err;
  const Json shown = parse_json(called.out, "out");
  EXPECT_EQ(shown["layers"][0]["output_shape"], Json({5}));
  ASSERT_EQ(shown["warnings"].size(), 1U) << called.out;
  EXPECT_EQ(shown["warnings"][0]["path"], "/model/config/layers/0/config/batch_input_shape");
}

TEST(Show, HasCallbacksValidationAndTheClassOfTheFault) {
  const Folder folder;
  const Called iris = call({"show", "iris"}, folder.path());
  ASSERT_EQ(iris.exit, 0) << iris.err;
  EXPECT_TRUE(has(iris.out, {"callbacks   EarlyStopping(monitor val_loss, patience 10)\n",
                             "validation  0.2 of the training rows (data.validation)\n",
                             "84 for training, 21 for validation, 45 for the test"}));

  ASSERT_EQ(call({"mutate", "iris", "--apply", "TCL=50", "-o", "m.json"}, folder.path()).exit, 0);
  ASSERT_EQ(
      call({"mutate", "iris", "--apply", "TMV=5", "--as", "fault", "-o", "f.json"}, folder.path())
          .exit,
      0);
  const std::string text = call({"show", "m.json"}, folder.path()).out;
  EXPECT_TRUE(has(text, {"fault       TCL: "}));
  EXPECT_EQ(text.find("m: TCL-50"), 0U) << text;
  const Json fault = parse_json(call({"show", "f.json", "--json"}, folder.path()).out, "out");
  EXPECT_EQ(fault["classes"], Json({{{"fault", "TMV"},
                                     {"meaning", "values missing in the training data"},
                                     {"category", "training_data"},
                                     {"bug_type", "I"}}}));
}

/// Each verb that trains says it once, on standard error, whatever it prints.
TEST(Warnings, AreSaidBeforeATraining) {
  const Folder folder;
  Json program = parse_json(call({"show", "D6", "--json"}, folder.path()).out, "out")["program"];
  program["fit"]["epochs"] = 2;
  program["fit"]["callbacks"] = {
      {{"class_name", "EarlyStopping"}, {"config", {{"monitor", "val_acc"}, {"patience", 1}}}}};
  folder.write("p.json", program.dump());
  const Json fault = {{"format", "neutra-fault"},
                      {"version", 1},
                      {"id", "p"},
                      {"program", program},
                      {"fixed", {{"parameters", {{"lr", "0.1"}}}}}};
  folder.write("f.json", fault.dump());
  folder.write("study.json", Json({{"format", "neutra-study"},
                                   {"version", 1},
                                   {"name", "s"},
                                   {"search", {{"replicas", 2}, {"budget_evaluations", 2}}},
                                   {"faults", {"f.json"}}})
                                 .dump());
  const std::string said =
      "p: warning: Early stopping conditioned on metric `val_acc` which is not available";
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"train", "p.json", "-n", "2", "--quiet"},
           {"search", "f.json", "-n", "2", "--budget-evaluations", "2", "--store", "p.store.h5"},
           {"faults", "f.json", "--check", "--replicas", "2"},
           {"mutate", "p.json", "--operator", "HNE", "--kill", "--runs", "2"},
           {"localise", "p.json", "--tool", "neuralint", "--runs", "1"},
           {"study", "study.json", "--searches-only", "--folder", "results"},
           {"report", "p.store.h5", "--fault", "f.json", "--curves", "1", "-n", "1", "-o",
            "p.html"}}) {
    const Called called = call(words, folder.path());
    EXPECT_LE(called.exit, 1) << called.err;
    EXPECT_EQ(count(called.err, said), 1U) << words[0] << ": " << called.err;
    EXPECT_EQ(count(called.out, said), 0U) << words[0];
  }
  const Json shown = parse_json(call({"show", "p.json", "--json"}, folder.path()).out, "out");
  ASSERT_EQ(shown["warnings"].size(), 1U);
  EXPECT_EQ(shown["callbacks"], Json::array());
}

}  // namespace
}  // namespace neutra::cli
