#include "training/data/dataset.h"
#include "training/data/split.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <tuple>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "tests/training/data_headers.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that goes with the test.
class Data : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              (std::string("neutra_data_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ / name) << text;
  }
  std::shared_ptr<const Dataset> load(const Json& data) const {
    const auto dataset = load_dataset(data, {folder_ / "nowhere", folder_});
    tests::expect_header(data, *dataset, {folder_ / "nowhere", folder_});
    return dataset;
  }
  std::string message(const Json& data) const {
    try {
      load(data);
    } catch (const Error& e) {
      EXPECT_EQ(e.exit(), Exit::kBadInput);
      return e.what();
    }
    return "accepted";
  }
  fs::path folder_;
};

std::int64_t weighted_sum(const std::vector<std::int64_t>& v) {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) sum += static_cast<std::int64_t>(i) * v[i];
  return sum;
}

// Expected values: scikit-learn's train_test_split(arange(n), test_size, random_state).
TEST(Split, AsScikitLearn) {
  const Split ten = train_test_split(10, 0.2, 42);
  EXPECT_EQ(ten.test, (std::vector<std::int64_t>{8, 1}));
  EXPECT_EQ(ten.train, (std::vector<std::int64_t>{5, 0, 7, 2, 9, 4, 3, 6}));
  const Split seven = train_test_split(7, 0.3, 0);
  EXPECT_EQ(seven.test, (std::vector<std::int64_t>{6, 2, 1}));
  EXPECT_EQ(seven.train, (std::vector<std::int64_t>{3, 0, 5, 4}));
  const Split thousand = train_test_split(1000, 0.25, 123456789);
  EXPECT_EQ(thousand.test.size(), 250u);
  EXPECT_EQ(weighted_sum(thousand.test), 15417332);
  EXPECT_EQ(weighted_sum(thousand.train), 138912101);
  EXPECT_EQ(train_test_split(10, 3, 1).test.size(), 3u);
  EXPECT_THROW(train_test_split(10, 0, 1), Error);
  EXPECT_THROW(train_test_split(1, 0.5, 1), Error);
}

TEST_F(Data, SplitsInOrderAndTestsOnTrainingRows) {
  std::string text;
  for (int i = 0; i < 10; ++i) text += std::to_string(i) + "," + std::to_string(i) + "\n";
  write("a.csv", text);
  // scikit-learn's train_test_split(arange(10), test_size=0.25, shuffle=False).
  Json data = Json::parse(R"({"source":"csv","arguments":{"file":"a.csv"},
      "split":{"test_size":0.25,"shuffle":false},
      "validation":{"test_size":2,"shuffle":false}})");
  const auto ordered = load(data);
  EXPECT_EQ(ordered->x_train.values, (std::vector<float>{0, 1, 2, 3, 4}));
  EXPECT_EQ(ordered->x_validation.values, (std::vector<float>{5, 6}));
  EXPECT_EQ(ordered->x_test.values, (std::vector<float>{7, 8, 9}));
  EXPECT_EQ(ordered->y_test.values, ordered->x_test.values);
  data["split"]["shuffle"] = true;
  EXPECT_NE(message(data).find("data.split.seed: found nothing"), std::string::npos);

  data.erase("split");
  data["test"] = "train";
  const auto same = load(data);
  EXPECT_EQ(same->x_test.values, (std::vector<float>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  EXPECT_EQ(same->x_train.rows(), 8);
  data["split"] = {{"test_size", 2}, {"seed", 1}};
  EXPECT_NE(message(data).find("data.test: found beside data.split"), std::string::npos);
  data["test"] = "all";
  EXPECT_NE(message(data).find("data.test: found \"all\"; allowed: \"train\""), std::string::npos);
}

TEST_F(Data, ClassesThatAnOrderedSplitLeavesOutAreNamed) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += std::to_string(i) + "," + std::to_string(i / 3) + "\n";
  write("a.csv", text);
  Json data = Json::parse(R"({"source":"csv","arguments":{"file":"a.csv"},
      "split":{"test_size":0.25,"shuffle":false}})");
  const auto left_out = [&] { return left_out_classes(data, *load(data)).value_or(""); };
  EXPECT_EQ(left_out(),
            "data.split keeps the order of the rows, and leaves the class 3 out of the training "
            "rows; \"shuffle\": true mixes them");
  data["split"]["test_size"] = 4;
  EXPECT_NE(left_out().find("the class 3 out of the training rows"), std::string::npos);
  data["split"]["test_size"] = 1;
  EXPECT_NE(left_out().find("the classes 0-2 out of the test rows"), std::string::npos)
      << left_out();
  data["preprocess"] = {{{"op", "one_hot"}, {"on", "y"}, {"classes", 4}}};
  EXPECT_NE(left_out().find("the classes 0-2 out of the test rows"), std::string::npos);
  data["split"] = {{"test_size", 1}, {"seed", 1}};
  EXPECT_EQ(left_out(), "");  // chance did it
  for (int i = 0; i < 12; ++i) text += std::to_string(i) + "," + std::to_string(i % 4) + "\n";
  write("a.csv", text);
  data["split"] = {{"test_size", 4}, {"shuffle", false}};
  EXPECT_EQ(left_out(), "");
  data.erase("preprocess");
  write("a.csv", "0,1e30\n1,-1e30\n2,2e30\n3,3e30\n");
  data["split"]["test_size"] = 1;
  EXPECT_EQ(left_out(), "");  // no classes
}

TEST_F(Data, CsvIsPreprocessedSplitAndHeldOut) {
  std::string text = "v,label\n";
  for (int i = 0; i < 100; ++i) {
    text += std::to_string(i) + "," + std::to_string(i % 2) + "\n";
  }
  write("a.csv", text);
  const auto data = load(Json::parse(R"({"source":"csv","arguments":{"file":"a.csv"},
      "preprocess":[{"op":"standardize","on":"x"},{"op":"one_hot","on":"y","classes":2}],
      "split":{"test_size":0.2,"seed":42},"holdout":{"test_size":0.2,"seed":42}})"));
  EXPECT_EQ(data->x_train.extents, (std::vector<std::int64_t>{80, 1}));
  EXPECT_EQ(data->y_train.extents, (std::vector<std::int64_t>{80, 2}));
  EXPECT_EQ(data->x_test.rows(), 20);
  EXPECT_EQ(data->x_holdout.rows(), 4);
  // Row 83 comes first in the test part; the hold-out's first row is test row 0 of the second
  // split's order (0, 17, 15, 1).
  const double stddev = std::sqrt((100.0 * 100.0 - 1) / 12);
  EXPECT_FLOAT_EQ(data->x_test.values[0], static_cast<float>((83 - 49.5) / stddev));
  EXPECT_EQ(data->x_holdout.values[0], data->x_test.values[0]);
  EXPECT_EQ(data->x_holdout.values[1], data->x_test.values[17]);
  EXPECT_EQ(data->y_test.values[0], 0);
  EXPECT_EQ(data->y_test.values[1], 1);
  const program::DataInfo info = data->info();
  EXPECT_EQ(info.x, program::Shape{1});
  EXPECT_EQ(info.y, program::Shape{2});
  EXPECT_EQ(info.training_rows, 80);
  EXPECT_TRUE(info.y_is_integer);
  EXPECT_EQ(info.y_max, 1);
}

/// One row decides on the shape, whatever its numbers; nothing behind the first is read.
TEST_F(Data, HeadersTellShapesWithoutTheRows) {
  const auto header = [&](const char* data) {
    return read_data_header(Json::parse(data), {folder_});
  };
  write("a.csv", "id,a,\"b\nc\",d\n\n1,2,3,1\nno number at all\n");
  DataHeader csv = header(R"({"source":"csv","arguments":{"file":"a.csv","drop":"id"},
      "preprocess":[{"op":"add","value":-1,"on":"y"},{"op":"one_hot","on":"y","classes":3},
                    {"op":"reshape","shape":[1,2]}],
      "split":{"test_size":0.2,"seed":42}})");
  EXPECT_EQ(csv.x, (program::Shape{1, 2}));
  EXPECT_EQ(csv.y, program::Shape{3});
  EXPECT_EQ(csv.training, std::nullopt);
  write("b.csv", "1,2,3");
  csv = header(R"({"source":"csv","arguments":{"file":"b.csv","target":[0,1]},
      "split":{"test_size":0.2,"seed":42}})");
  EXPECT_EQ(csv.x, program::Shape{1});
  EXPECT_EQ(csv.y, program::Shape{2});

  {
    Hdf5File file = Hdf5File::create(folder_ / "nan.h5");
    file.write("/x", std::vector<double>(24, std::nan("")), {4, 2, 3});
    file.write("/y", std::vector<double>(4, std::nan("")));
    file.close();
  }
  const DataHeader hdf5 = header(R"({"source":"hdf5","arguments":{"file":"nan.h5"},
      "preprocess":[{"op":"take","rows":3},{"op":"flatten"}],
      "split":{"test_size":0.4,"seed":1}})");
  EXPECT_EQ(hdf5.x, program::Shape{6});
  EXPECT_EQ(hdf5.y, program::Shape{});
  EXPECT_EQ(hdf5.training, 1);
  EXPECT_EQ(hdf5.test, 2);
  EXPECT_EQ(hdf5.holdout, 2);

  for (const char* name : {"linear", "sine", "blobs", "circles", "moons", "xor"}) {
    const Json data{{"source", "generator"},
                    {"arguments", {{"name", name}, {"rows", 50}}},
                    {"split", {{"test_size", 0.2}, {"seed", 1}}},
                    {"validation", {{"test_size", 4}, {"seed", 1}}},
                    {"holdout", {{"test_size", 3}, {"seed", 1}}}};
    EXPECT_EQ(load(data)->x_train.rows(), 36);
    EXPECT_EQ(read_data_header(data, {}).training, 36) << name;
  }
}

TEST_F(Data, HeadersOfAWrongSectionAreRefusedAsItsRowsAre) {
  write("a.csv", "1,2\n3,4\n");
  for (
      const char* text :
      {R"({"source":"csv","arguments":{"file":"a.csv"}})",
       R"({"source":"csv","arguments":{"file":"none.csv"},"split":{"test_size":0.5,"seed":1}})",
       R"({"source":"csv","arguments":{"file":"a.csv","target":7},"split":{"test_size":1,"seed":1}})",
       R"({"source":"none"})", R"({"source":"generator","arguments":{"name":"line"}})",
       R"({"source":"generator","arguments":{"name":"sine","rows":5},
            "split":{"test_size":5,"seed":1}})"}) {
    const Json data = Json::parse(text);
    const std::string said = message(data);
    try {
      read_data_header(data, {folder_ / "nowhere", folder_});
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.what(), said);
    }
  }
}

TEST_F(Data, Hdf5InParts) {
  {
    Hdf5File file = Hdf5File::create(folder_ / "p.h5");
    file.write("/x_train", std::vector<double>{1, 2, 3, 4}, {2, 2});
    file.write("/y_train", std::vector<std::int64_t>{0, 1});
    file.write("/x_test", std::vector<double>{10, 20}, {1, 2});
    file.write("/y_test", std::vector<std::int64_t>{1});
    file.close();
  }
  const auto data = load(Json::parse(R"({"source":"hdf5","arguments":{"file":"p.h5"},
      "preprocess":[{"op":"scale","on":"x","by":2,"part":"train"},
                    {"op":"add","on":"y","value":0.5,"part":"test"},
                    {"op":"reshape","on":"x","shape":[1,2]}]})"));
  EXPECT_EQ(data->x_train.values, (std::vector<float>{0.5f, 1, 1.5f, 2}));
  EXPECT_EQ(data->x_train.extents, (std::vector<std::int64_t>{2, 1, 2}));
  EXPECT_EQ(data->x_test.values, (std::vector<float>{10, 20}));
  EXPECT_EQ(data->y_test.values, std::vector<float>{1.5f});
  EXPECT_EQ(data->y_train.extents, (std::vector<std::int64_t>{2}));
  EXPECT_TRUE(data->info().y.empty());
  EXPECT_FALSE(data->info().y_is_integer);
}

TEST_F(Data, StatisticsOfPartsComeFromTheTrainingRows) {
  {
    Hdf5File file = Hdf5File::create(folder_ / "s.h5");
    file.write("/x_train", std::vector<double>{0, std::nan(""), 4}, {3, 1});
    file.write("/y_train", std::vector<double>{0, 1, 1});
    file.write("/x_test", std::vector<double>{8}, {1, 1});
    file.write("/y_test", std::vector<double>{1});
    file.close();
  }
  // Missing values stay, and are left out.
  Json data = Json::parse(R"({"source":"hdf5","arguments":{"file":"s.h5","allow_nan":true},
                              "preprocess":[{"op":"standardize"}]})");
  EXPECT_EQ(load(data)->x_test.values, std::vector<float>{3});
  EXPECT_EQ(load(data)->x_train.values[2], 1);
  EXPECT_TRUE(std::isnan(load(data)->x_train.values[1]));
  data["preprocess"][0]["op"] = "normalize";
  EXPECT_EQ(load(data)->x_test.values, std::vector<float>{2});
  // Training rows that go without the step.
  data["preprocess"][0]["part"] = "test";
  EXPECT_EQ(load(data)->x_test.values, std::vector<float>{2});
  EXPECT_EQ(load(data)->x_train.values[2], 4);
}

TEST_F(Data, Generators) {
  for (const char* name : {"linear", "sine", "blobs", "circles", "moons", "xor"}) {
    const Json data = {{"source", "generator"},
                       {"arguments", {{"name", name}, {"rows", 200}, {"seed", 3}}},
                       {"split", {{"test_size", 0.25}, {"seed", 1}}}};
    const auto first = load(data), again = load(data);
    EXPECT_EQ(first->x_train.rows(), 150) << name;
    EXPECT_EQ(first->x_train.values, again->x_train.values) << name;
    Json other = data;
    other["arguments"]["seed"] = 4;
    EXPECT_NE(first->x_train.values, load(other)->x_train.values) << name;
  }
  const auto line = load(Json::parse(R"({"source":"generator",
      "arguments":{"name":"linear","rows":50,"slope":5,"intercept":1,"low":1,"high":2},
      "split":{"test_size":0.2,"seed":1}})"));
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(line->y_train.values[i], 5 * line->x_train.values[i] + 1, 1e-5);
  }
  const auto gates = load(Json::parse(R"({"source":"generator",
      "arguments":{"name":"xor","rows":40,"noise":0},"split":{"test_size":0.2,"seed":1}})"));
  for (std::size_t i = 0; i < 32; ++i) {
    EXPECT_EQ(gates->y_train.values[i],
              gates->x_train.values[2 * i] != gates->x_train.values[2 * i + 1]);
  }
}

TEST_F(Data, MissingFileSaysWhereItWasLookedFor) {
  const std::string text = message({{"source", "hdf5"}, {"arguments", {{"file", "gone.h5"}}}});
  EXPECT_NE(text.find("gone.h5 not found"), std::string::npos);
  EXPECT_NE(text.find((folder_ / "nowhere" / "gone.h5").string()), std::string::npos);
  EXPECT_NE(text.find((folder_ / "gone.h5").string()), std::string::npos);
  EXPECT_NE(text.find("NEUTRA_DATA_DIR"), std::string::npos);
}

TEST_F(Data, WhatIsNoRegularFileIsNamed) {
  fs::create_directory(folder_ / "a_folder");
  ASSERT_EQ(mkfifo((folder_ / "a_pipe").c_str(), 0600), 0);
  const auto of = [&](const Json& arguments, const char* source) {
    return message({{"source", source}, {"arguments", arguments}});
  };
  for (const auto& [file, kind] : std::vector<std::pair<std::string, std::string>>{
           {"a_folder", "a folder"}, {"a_pipe", "a pipe"}, {"/dev/zero", "a device"}}) {
    for (const char* source : {"csv", "hdf5", "npz"}) {
      const std::string text = of({{"file", file}}, source);
      EXPECT_NE(text.find(file + ": found " + kind + "; allowed: a regular file"),
                std::string::npos)
          << text;
    }
    EXPECT_NE(of({{"x", file}, {"y", file}}, "npy").find("found " + kind), std::string::npos);
    EXPECT_NE(of({{"train", {file}}, {"test", {file}}}, "cifar10").find("found " + kind),
              std::string::npos);
    EXPECT_NE(of({{"train_images", file},
                  {"train_labels", file},
                  {"test_images", file},
                  {"test_labels", file}},
                 "idx")
                  .find("found " + kind),
              std::string::npos);
  }
}

TEST_F(Data, MissingFilesOfBundledProgramsSayWhereTheyComeFrom) {
  for (const auto& [source, file, words] :
       std::vector<std::tuple<const char*, const char*, const char*>>{
           {"csv", "higgs.csv", "kaggle.com/c/higgs-boson"},
           {"csv", "d3.csv", "github.com/Wardat-ISU/DeepLocalize"},
           {"npz", "reuters.npz", "tf-keras-datasets/reuters.npz"}}) {
    const std::string text = message({{"source", source}, {"arguments", {{"file", file}}}});
    EXPECT_NE(text.find(std::string("data file ") + file + " not found"), std::string::npos)
        << text;
    EXPECT_NE(text.find((folder_ / file).string()), std::string::npos) << text;
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_NE(text.find("NEUTRA_DATA_DIR"), std::string::npos) << text;
  }
}

TEST_F(Data, ValidationRowsAreSetAside) {
  std::string text;
  for (int i = 0; i < 20; ++i) text += std::to_string(i) + "," + std::to_string(i) + "\n";
  write("a.csv", text);
  Json data = Json::parse(R"({"source":"csv","arguments":{"file":"a.csv"},
      "split":{"test_size":10,"seed":1},"validation":{"test_size":0.2,"seed":42}})");
  const auto all = load(Json::parse(R"({"source":"csv","arguments":{"file":"a.csv"},
      "split":{"test_size":10,"seed":1}})"));
  const auto aside = load(data);
  // scikit-learn's split of 10 rows with seed 42: 8 and 1 are test rows, the others 5, 0, 7, ...
  EXPECT_EQ(aside->x_validation.values,
            (std::vector<float>{all->x_train.values[8], all->x_train.values[1]}));
  EXPECT_EQ(aside->x_train.rows(), 8);
  EXPECT_EQ(aside->x_train.values[0], all->x_train.values[5]);
  EXPECT_EQ(aside->y_train.values, aside->x_train.values);
  EXPECT_EQ(all->x_validation.rows(), 0);

  data["validation"] = "test";
  data["holdout"] = {{"test_size", 0.2}, {"seed", 42}};
  const auto watched = load(data);
  EXPECT_EQ(watched->x_train.values, all->x_train.values);
  EXPECT_EQ(watched->x_validation.values, all->x_test.values);
  EXPECT_EQ(watched->y_validation.values, all->y_test.values);
  EXPECT_EQ(watched->x_holdout.rows(), 2);
  data["validation"] = "some";
  EXPECT_NE(message(data).find("data.validation"), std::string::npos);
}

TEST_F(Data, RefusesMalformedRecipes) {
  write("a.csv", "1,2\n3,4\n5,6\n");
  const Json good = Json::parse(R"({"source":"csv","arguments":{"file":"a.csv"},
                                    "split":{"test_size":0.3,"seed":1}})");
  EXPECT_EQ(message(good), "accepted");
  auto with = [&](const char* pointer, const Json& value) {
    Json changed = good;
    changed[Json::json_pointer(pointer)] = value;
    return message(changed);
  };
  EXPECT_NE(message(Json::object()).find("data.source"), std::string::npos);
  EXPECT_NE(with("/source", "tape").find("\"tape\""), std::string::npos);
  EXPECT_NE(with("/arguments", Json::object()).find("data.arguments.file"), std::string::npos);
  EXPECT_NE(with("/arguments/rows", "many").find("data.arguments.rows"), std::string::npos);
  EXPECT_NE(with("/split", Json()).find("data.split"), std::string::npos);
  EXPECT_NE(with("/split/test_size", "half").find("data.split.test_size"), std::string::npos);
  EXPECT_NE(with("/split/seed", -1).find("data.split.seed"), std::string::npos);
  EXPECT_NE(with("/preprocess", Json::parse(R"([{"op":"melt"}])")).find("\"melt\""),
            std::string::npos);
  EXPECT_NE(with("/preprocess", Json::parse(R"([{"op":"scale"}])")).find("preprocess[0].by"),
            std::string::npos);
  EXPECT_NE(
      with("/preprocess", Json::parse(R"([{"op":"one_hot","on":"y","classes":2}])")).find("label"),
      std::string::npos);
  EXPECT_NE(with("/preprocess", Json::parse(R"([{"op":"reshape","shape":[2]}])")).find("product"),
            std::string::npos);
  EXPECT_NE(with("/preprocess", Json::parse(R"([{"op":"scale","by":2,"on":"z"}])")).find("\"z\""),
            std::string::npos);
}

TEST_F(Data, RefusesWrongFields) {
  for (const auto& [pointer, value, words] :
       std::vector<std::tuple<const char*, Json, const char*>>{
           {"/arguments/bogus", 1, "unknown field 'bogus'"},
           {"/arguments/name", 5, "data.arguments.name"},
           {"/arguments/rows", "x", "data.arguments.rows"},
           {"/arguments/seed", -1, "data.arguments.seed"},
           {"/arguments/seed", 1e300, "data.arguments.seed"},
           {"/arguments/classes", 0, "data.arguments.classes"},
           {"/arguments/noise", -1, "data.arguments.noise"},
           {"/preprocess/0/op", 5, "data.preprocess[0].op"},
           {"/preprocess/0/part", 5, "data.preprocess[0].part"},
           {"/preprocess/0/seed", "a", "data.preprocess[0].seed"},
           {"/preprocess/0/clases", 2, "did you mean classes"},
           {"/preprocess/0/classes", std::int64_t{1} << 58, "data.preprocess[0].classes"},
           {"/preprocess/0/classes", 1e300, "data.preprocess[0].classes"},
           {"/preprocess/0/classes", 1000000, "at most 2147483648 numbers"}}) {
    Json data = Json::parse(R"({"source":"generator","arguments":{"name":"xor","rows":4000},
        "preprocess":[{"op":"one_hot","on":"y","classes":2}],"split":{"test_size":0.2,"seed":1}})");
    data[Json::json_pointer(pointer)] = value;
    const std::string text = message(data);
    EXPECT_NE(text.find(words), std::string::npos) << text;
    EXPECT_EQ(text.find("json.exception"), std::string::npos) << text;
  }
}

TEST_F(Data, RefusesWrongHdf5) {
  const auto text = [&](const std::vector<double>& y, const std::vector<std::uint64_t>& extents) {
    {
      Hdf5File file = Hdf5File::create(folder_ / "w.h5");
      file.write("/x", std::vector<double>{1, 2, 3, 4}, {4, 1});
      if (!extents.empty()) file.write("/y", y, extents);
      file.close();
    }
    return message(Json::parse(R"({"source":"hdf5","arguments":{"file":"w.h5"},
                                   "split":{"test_size":0.5,"seed":1}})"));
  };
  EXPECT_NE(text({1, 2, NAN, 4}, {4}).find("/y: row 2: found nan"), std::string::npos);
  EXPECT_NE(text({}, {}).find("no dataset y;"), std::string::npos);
  EXPECT_EQ(text({1, 2, 3, 4}, {4}), "accepted");
}

TEST_F(Data, RowsOfBothPartsHaveOneShape) {
  Hdf5File file = Hdf5File::create(folder_ / "s.h5");
  file.write("/x_train", std::vector<double>(24), {2, 3, 4});
  file.write("/x_test", std::vector<double>(12), {1, 4, 3});  // as many numbers a row
  file.write("/y_train", std::vector<double>(2), {2});
  file.write("/y_test", std::vector<double>(1), {1});
  file.close();
  const std::string text = message({{"source", "hdf5"}, {"arguments", {{"file", "s.h5"}}}});
  EXPECT_NE(text.find("(3, 4)"), std::string::npos) << text;
  EXPECT_NE(text.find("(4, 3)"), std::string::npos) << text;
}

TEST_F(Data, LabelsThatAreNaNHaveNoRange) {
  Dataset data;
  data.x_train = {{2, 1}, {0, 0}};
  data.y_train = {{2}, {1, std::numeric_limits<float>::quiet_NaN()}};
  EXPECT_TRUE(std::isnan(data.info().y_min));
  EXPECT_TRUE(std::isnan(data.info().y_max));
  EXPECT_FALSE(data.info().y_is_integer);
}

}  // namespace
}  // namespace neutra::training
