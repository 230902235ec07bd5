#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "program/error.h"
#include "program/json.h"
#include "program/program.h"

namespace neutra::testing {

/// A folder of its own for each test, removed at its end.
class TestFolder {
 public:
  TestFolder() {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::path(::testing::TempDir()) /
            (std::string("neutra_") + test->test_suite_name() + "_" + test->name());
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_);
  }
  ~TestFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

/// The message of the Error that `action` throws; "" if it throws none.
template <typename Action>
std::string error_of(Action&& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

inline std::filesystem::path test_data(const std::string& name) {
  return std::filesystem::path(NEUTRA_TEST_DATA) / name;
}

/// A program of tests/program/data/problems.json: "mlp" or "cnn".
inline Program sample(const std::string& name) {
  return {read_json(test_data("problems.json")).at(name)};
}

inline Json& at(Program& program, const std::string& path) {
  return program.document[Json::json_pointer(path)];
}

}  // namespace neutra::testing
