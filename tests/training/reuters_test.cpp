// Keras's reuters.npz. The expected numbers are those of Keras's own loader (data/make_reuters.py).
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/zip_file.h"
#include "tests/source_file.h"
#include "tests/training/data_headers.h"
#include "training/data/dataset.h"

namespace neutra::training {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that goes with the test.
class Reuters : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("neutra_reuters_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    fs::copy_file(source_file("tests/training/data/reuters.npz"), folder_ / "reuters.npz",
                  fs::copy_options::overwrite_existing);
  }
  void TearDown() override { fs::remove_all(folder_); }

  Json data(const Json& arguments = Json::object()) const {
    Json all = {{"file", "reuters.npz"}, {"num_words", 20}, {"seed", 42}};
    all.update(arguments);
    return {{"source", "reuters"}, {"arguments", all}};
  }
  std::shared_ptr<const Dataset> load(const Json& data) const {
    const auto dataset = load_dataset(data, {folder_});
    tests::expect_header(data, *dataset, {folder_});
    return dataset;
  }
  std::string message(const Json& data) const {
    try {
      load(data);
    } catch (const Error& error) {
      EXPECT_EQ(error.exit(), Exit::kBadInput);
      return error.what();
    }
    return "accepted";
  }
  fs::path folder_;
};

/// "columns of row 0 | of row 1 | ...".
std::string columns(const Array& x) {
  std::string text;
  for (std::int64_t row = 0; row < x.rows(); ++row) {
    text += row == 0 ? "" : " | ";
    for (std::int64_t i = 0; i < x.row_size(); ++i) {
      const float value = x.values[static_cast<std::size_t>(row * x.row_size() + i)];
      if (value == 1) text += std::to_string(i) + " ";
      EXPECT_TRUE(value == 0 || value == 1);
    }
  }
  return text;
}

TEST_F(Reuters, AsKerasLoadsAndBagsIt) {
  const Json expected = read_json(source_file("tests/training/data/reuters.json"));
  ASSERT_GE(expected.size(), 4U);
  for (const Json& example : expected) {
    SCOPED_TRACE(example["arguments"].dump());
    const auto loaded = load(data(example["arguments"]));
    EXPECT_EQ(columns(loaded->x_train), example["x_train"].get<std::string>());
    EXPECT_EQ(columns(loaded->x_test), example["x_test"].get<std::string>());
    EXPECT_EQ(loaded->y_train.values, example["y_train"].get<std::vector<float>>());
    EXPECT_EQ(loaded->y_test.values, example["y_test"].get<std::vector<float>>());
  }
}

TEST_F(Reuters, TheStudysSection) {
  const auto loaded = load(data({{"num_words", 20}}));
  Json section = data({{"num_words", 20}});
  section["preprocess"] = Json::parse(R"([{"op": "one_hot", "on": "y", "classes": 46}])");
  section["validation"] = section["holdout"] = {{"test_size", 0.2}, {"seed", 42}};
  const auto studied = load(section);
  EXPECT_EQ(studied->y_train.row_size(), 46);
  EXPECT_LT(studied->x_train.rows(), loaded->x_train.rows());
  EXPECT_EQ(studied->x_test.values, loaded->x_test.values);
}

TEST_F(Reuters, RefusesWhatItCannotMean) {
  EXPECT_NE(message({{"source", "reuters"}, {"arguments", {{"file", "reuters.npz"}}}})
                .find("data.arguments.num_words: missing"),
            std::string::npos);
  EXPECT_NE(message(data({{"test_split", 0}})).find("data.arguments.test_split: found 0"),
            std::string::npos);
  EXPECT_NE(message(data({{"num_word", 5}})).find("num_words"), std::string::npos);
  const std::string missing = message(data({{"file", "other/reuters.npz"}}));
  EXPECT_NE(missing.find("other/reuters.npz not found; looked for\n  " +
                         (folder_ / "other/reuters.npz").string()),
            std::string::npos)
      << missing;
  fs::remove(folder_ / "reuters.npz");
  const std::string gone = message(data());
  EXPECT_NE(gone.find("tf-keras-datasets/reuters.npz"), std::string::npos) << gone;
  EXPECT_NE(gone.find("--data-dir"), std::string::npos) << gone;
}

TEST_F(Reuters, RunsNothingOfTheFile) {
  const auto npy = [](const std::string& type, const std::string& rows, const std::string& bytes) {
    const std::string header =
        "{'descr': '" + type + "', 'fortran_order': False, 'shape': (" + rows + ",)}";
    return std::string("\x93NUMPY\x01") + '\0' + static_cast<char>(header.size()) + '\0' + header +
           bytes;
  };
  const auto write = [&](const std::string& x, const std::string& y) {
    std::ofstream(folder_ / "reuters.npz", std::ios::binary)
        << zip_archive({{"x.npy", x}, {"y.npy", y}});
  };
  const std::string topics = npy("|u1", "3", "\1\2\3");
  write(npy("|O", "3", "cos\nsystem\n(U\x18touch /tmp/neutra_was_runtR."), topics);
  const std::string hostile = message(data());
  EXPECT_NE(hostile.find("reuters.npz: x.npy: byte "), std::string::npos) << hostile;
  EXPECT_NE(hostile.find("found a call of os.system"), std::string::npos) << hostile;
  EXPECT_FALSE(fs::exists("/tmp/neutra_was_run"));
  // Numbers of rows are compared before the pickle is read.
  write(npy("|O", "400000000", "cos\nsystem\n"), topics);
  EXPECT_NE(message(data()).find("found 400000000 texts and 3 topics"), std::string::npos)
      << message(data());
  write(npy("|O", "100000000", "N."), npy("|O", "100000000", "N."));
  EXPECT_NE(message(data()).find("found 100000000 texts of 20 words"), std::string::npos)
      << message(data());
  write(npy("<f8", "1", std::string(8, 'a')), npy("|u1", "1", "\1"));
  EXPECT_NE(message(data({{"test_split", 0.5}})).find("allowed: shares that leave"),
            std::string::npos)
      << message(data());
}

}  // namespace
}  // namespace neutra::training
