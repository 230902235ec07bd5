#pragma once

#include <filesystem>
#include <string>

#include "base/json.h"
#include "program/program.h"
#include "tests/error_of.h"
#include "tests/source_file.h"
#include "tests/test_folder.h"

namespace neutra::program::tests {

using neutra::tests::error_of;
using neutra::tests::TestFolder;

inline std::filesystem::path test_data(const std::string& name) {
  return source_file("tests/program/data") / name;
}

/// A program of tests/program/data/problems.json: "mlp" or "cnn".
inline Program sample(const std::string& name) {
  return {read_json(test_data("problems.json")).at(name)};
}

inline Json& at(Program& program, const std::string& path) {
  return program.document[Json::json_pointer(path)];
}

}  // namespace neutra::program::tests
