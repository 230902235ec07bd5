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

/// Processes whose command line holds `word`; dead ones that nobody asked after are none.
inline int processes_with(const std::string& word) {
  int count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    std::ifstream in(entry.path() / "cmdline", std::ios::binary);
    std::string line;
    std::getline(in, line, '\xff');  // all of it; one that has just ended is no exception
    if (line.find(word) != std::string::npos) ++count;
  }
  return count;
}

}  // namespace neutra
