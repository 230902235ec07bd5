// Weights of rows in data files, and what steps, splits and mutations do to them.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "base/hdf5_file.h"
#include "tests/training/data_headers.h"
#include "training/data/dataset.h"
#include "training/data/npy.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;
using Numbers = std::vector<float>;

/// Data files whose rows have their number as feature and, plus 1000, as weight, and a class of
/// three as target.
class WeightedData : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    folder_ = fs::temp_directory_path() /
              (std::string("neutra_weights_") + info->name() + "_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }

  static Numbers numbers(int count, float first = 0) {
    Numbers values;
    for (int i = 0; i < count; ++i) values.push_back(first + static_cast<float>(i));
    return values;
  }
  static Numbers classes(int count) {
    Numbers values;
    for (int i = 0; i < count; ++i) values.push_back(static_cast<float>(i % 5 % 3));
    return values;
  }
  /// Writes an HDF5 file of arrays by name.
  void write(const std::vector<std::pair<std::string, Numbers>>& arrays) const {
    Hdf5File file = Hdf5File::create(folder_ / "a.h5");
    for (const auto& [name, values] : arrays) file.write("/" + name, values, {values.size()});
    file.close();
  }
  void write_whole() const {
    write({{"x", numbers(60)}, {"y", classes(60)}, {"sample_weight", numbers(60, 1000)}});
  }
  static Json data(Json more = Json::object()) {
    Json section = {{"source", "hdf5"},
                    {"arguments", {{"file", "a.h5"}, {"sample_weight", true}}},
                    {"split", {{"test_size", 0.25}, {"seed", 3}}}};
    section.update(more);
    return section;
  }
  static Json parted() {
    return {{"source", "hdf5"},
            {"arguments", {{"file", "a.h5"}, {"sample_weight", true}}},
            {"validation", "test"}};
  }

  std::shared_ptr<const Dataset> load(const Json& section) const {
    const auto dataset = load_dataset(section, {folder_});
    tests::expect_header(section, *dataset, {folder_});
    return dataset;
  }
  std::string message(const Json& section) const {
    try {
      load(section);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      return error.what();
    }
    return "accepted";
  }
  /// Every row has its own weight.
  static void expect_own(const Array& x, const Array& weights, const Json& section) {
    ASSERT_EQ(weights.rows(), x.rows()) << section;
    for (std::size_t i = 0; i < weights.values.size(); ++i) {
      ASSERT_EQ(weights.values[i], x.values[i] + 1000) << section;
    }
  }
  fs::path folder_;
};

TEST_F(WeightedData, WeightsStayWithTheirRows) {
  write_whole();
  const Json take = {{"op", "take"}, {"rows", 40}}, shuffle = {{"op", "shuffle"}, {"seed", 5}};
  for (const Json& more :
       {Json::object(), Json{{"preprocess", {shuffle, take}}},
        Json{{"preprocess",
              {{{"op", "shuffle"}, {"part", "train"}, {"seed", 2}},
               {{"op", "take"}, {"rows", 7}, {"part", "train"}}}}},
        Json{{"validation", {{"test_size", 0.3}, {"seed", 1}}}}, Json{{"validation", "test"}},
        Json{{"split", {{"test_size", 0.25}, {"shuffle", false}}},
             {"validation", {{"test_size", 5}, {"shuffle", false}}}},
        Json{{"split", nullptr}, {"test", "train"}}}) {
    const Json section = data(more);
    const auto dataset = load(section);
    expect_own(dataset->x_train, dataset->weights_train, section);
    EXPECT_EQ(dataset->weights_validation.rows(), dataset->x_validation.rows()) << section;
    if (dataset->x_validation.rows() > 0) {
      expect_own(dataset->x_validation, dataset->weights_validation, section);
    }
  }
}

TEST_F(WeightedData, MutationsTakeWeightsAlong) {
  write_whole();
  const auto step = [](const char* op, Json more) {
    Json made = {{"op", op}};
    made.update(more);
    return made;
  };
  const Json share = {{"percentage", 40}, {"seed", 2}};
  std::size_t fewer = 0, more = 0;
  for (const Json& mutation :
       {step("delete_training_data", share), step("unbalance_train_data", share),
        step("class_imbalance", {{"ratio", 4}}), step("data_repetition", share),
        step("make_output_classes_overlap", share), step("change_label", share),
        step("label_error", share), step("data_missing", share)}) {
    const Json section = data({{"mutations", Json::array({mutation})}});
    const auto dataset = load(section);
    fewer += dataset->x_train.rows() < 45;
    more += dataset->x_train.rows() > 45;
    if (mutation["op"] == "data_missing") {  // it sets features to 0
      EXPECT_EQ(dataset->weights_train.rows(), dataset->x_train.rows());
    } else {
      expect_own(dataset->x_train, dataset->weights_train, section);
    }
  }
  EXPECT_GE(fewer, 3u);
  EXPECT_GE(more, 2u);
}

TEST_F(WeightedData, PartsMayHaveWeightsForValidation) {
  const Numbers weights = numbers(8, 1000);
  const std::vector<std::pair<std::string, Numbers>> arrays{{"x_train", numbers(8)},
                                                            {"y_train", classes(8)},
                                                            {"x_test", numbers(4)},
                                                            {"y_test", classes(4)},
                                                            {"sample_weight_train", weights}};
  write(arrays);
  auto dataset = load(parted());
  EXPECT_EQ(dataset->weights_train.values, weights);
  EXPECT_EQ(dataset->x_validation.rows(), 4);
  EXPECT_TRUE(dataset->weights_validation.values.empty());
  const Hash plain = digest(*dataset);
  auto with_test = arrays;
  with_test.emplace_back("sample_weight_test", numbers(4, 1000));
  write(with_test);
  dataset = load(parted());
  expect_own(dataset->x_validation, dataset->weights_validation, parted());
  EXPECT_NE(digest(*dataset), plain);
}

/// What has no weights is read as ever, and so are weights that nobody asks for.
TEST_F(WeightedData, WeightsAreReadWhereTheyAreAskedFor) {
  write_whole();
  Json section = data();
  const Hash weighted = digest(*load(section));
  section["arguments"].erase("sample_weight");
  const auto dataset = load(section);
  EXPECT_TRUE(dataset->weights_train.extents.empty());
  EXPECT_NE(digest(*dataset), weighted);
  section["arguments"]["sample_weight"] = false;
  EXPECT_TRUE(load(section)->weights_train.extents.empty());
}

TEST_F(WeightedData, RefusalsNameFileAndArray) {
  const auto expect = [&](const std::vector<std::string>& parts, const Json& section) {
    const std::string text = message(section);
    for (const std::string& part : parts) {
      EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    }
  };
  write({{"x", numbers(9)}, {"y", classes(9)}});
  expect({"a.h5", "no dataset sample_weight"}, data());
  write({{"x", numbers(9)}, {"y", classes(9)}, {"sample_weight", numbers(8)}});
  expect({"a.h5", "sample_weight", "weights of the shape (8)", "(9,), one for each row"}, data());
  Numbers broken = numbers(9);
  broken[4] = NAN;
  write({{"x", numbers(9)}, {"y", classes(9)}, {"sample_weight", broken}});
  Json section = data();
  section["arguments"]["allow_nan"] = true;  // of features and targets
  expect({"a.h5", "sample_weight, row 4", "found nan", "finite weights"}, section);
  section["arguments"]["sample_weight"] = "w";
  expect({"data.arguments.sample_weight", "\"w\"", "true, false"}, section);
  write({{"x_train", numbers(8)},
         {"y_train", classes(8)},
         {"x_test", numbers(4)},
         {"y_test", classes(4)},
         {"sample_weight_train", numbers(8)},
         {"sample_weight_test", numbers(8)}});
  expect({"a.h5", "sample_weight_test", "(8)", "(4,)"}, parted());
}

TEST_F(WeightedData, NpyFilesOfTheirOwn) {
  const auto put = [&](const char* name, const Numbers& values, std::vector<std::int64_t> extents) {
    write_npy(folder_ / name, {std::move(extents), values});
  };
  put("x.npy", numbers(9), {9});
  put("y.npy", classes(9), {9});
  put("w.npy", numbers(9, 1000), {9, 1});  // Keras takes a column, too
  Json section = {{"source", "npy"},
                  {"arguments", {{"x", "x.npy"}, {"y", "y.npy"}, {"sample_weight", "w.npy"}}},
                  {"split", {{"test_size", 3}, {"seed", 1}}}};
  const auto dataset = load(section);
  expect_own(dataset->x_train, dataset->weights_train, section);
  put("w.npy", numbers(18), {9, 2});
  EXPECT_NE(message(section).find("weights of the shape (9, 2)"), std::string::npos)
      << message(section);
  section["arguments"].erase("sample_weight");
  section["arguments"]["sample_weight_test"] = "w.npy";
  EXPECT_NE(message(section).find("no file sample_weight"), std::string::npos) << message(section);
}

}  // namespace
}  // namespace neutra::training
