#pragma once

#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tests/source_file.h"

namespace neutra::tests {

/// A file or folder of the study's published data, which may be missing: in $NEUTRA_SHARED/data,
/// else in ../shared/data beside the sources.
inline std::filesystem::path shared_data(std::string_view name) {
  const char* shared = std::getenv("NEUTRA_SHARED");
  const std::filesystem::path beside(source_file("../shared"));
  return (shared != nullptr ? std::filesystem::path(shared) : beside.lexically_normal()) / "data" /
         name;
}

}  // namespace neutra::tests
