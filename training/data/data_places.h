#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "program/program.h"

namespace neutra::training {

/// A file that a `data` section names: where it is, or where it was looked for.
struct DataPlace {
  std::string name;               ///< as the section spells it
  std::filesystem::path found;    ///< empty where it is missing
  std::filesystem::path no_file;  ///< has the name, but is a folder, pipe or device; or empty
  std::vector<std::filesystem::path> looked_for;
  std::string source;  ///< where it comes from (data_origins.json); "" where that isn't known
};

/// All files of a `data` section. Empty for generated data and for source `none`.
std::vector<DataPlace> data_places(const Json& data,
                                   const std::vector<std::filesystem::path>& search_path);

}  // namespace neutra::training
