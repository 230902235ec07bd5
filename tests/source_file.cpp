#include "tests/source_file.h"

namespace neutra {

std::filesystem::path source_file(const std::string& name) {
  return std::filesystem::path(NEUTRA_SOURCE_DIR) / name;
}

}  // namespace neutra
