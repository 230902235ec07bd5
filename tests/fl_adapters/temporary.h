#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "fl_adapters/tool_folder.h"

namespace neutra {

/// A folder with the files of one test.
class TestFolder {
 public:
  const std::filesystem::path& path() const { return folder_.path(); }
  std::filesystem::path write(const std::string& name, const std::string& text) const {
    std::ofstream(path() / name, std::ios::binary) << text;
    return path() / name;
  }
  std::string read(const std::string& name) const {
    std::ifstream in(path() / name, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  TemporaryFolder folder_{"neutra-test"};
};

}  // namespace neutra
