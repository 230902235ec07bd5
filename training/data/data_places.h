#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"

namespace neutra::training {

/// The folders in which relative files are looked up, in order.
using SearchPath = std::vector<std::filesystem::path>;

/// A file that a `data` section names: where it is, or where it was looked for.
struct DataPlace {
  std::string name;               ///< as the section spells it
  std::filesystem::path found;    ///< empty where it is missing
  std::filesystem::path no_file;  ///< has the name, but is a folder, pipe or device; or empty
  std::vector<std::filesystem::path> looked_for;
  std::string source;  ///< where it comes from (data_origins.json); "" where that isn't known
};

/// All files of a `data` section. Empty for generated data and for source `none`.
std::vector<DataPlace> data_places(const Json& data, const SearchPath& search_path);

/// The same files by name, with where they are found. Throws input_error where one is missing: what
/// is expected where, and how to get it.
std::vector<std::pair<std::string, std::filesystem::path>> data_files(
    const Json& data, const SearchPath& search_path);

/// The first of `files` (spellings of one name) that exists in the earliest folder of the search
/// path. Throws input_error that lists where the first spelling was looked for and how to get it.
std::filesystem::path find_file(const std::vector<std::string>& files,
                                const SearchPath& search_path);

/// The spellings of an IDX file's name: as it is and, where that is missing, packed or unpacked.
std::vector<std::string> idx_spellings(const std::string& file);

}  // namespace neutra::training
