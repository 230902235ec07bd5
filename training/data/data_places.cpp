#include "training/data/data_places.h"

#include <map>
#include <string_view>

#include "base/error.h"
#include "base/file_kind.h"
#include "base/words.h"

namespace neutra::training {
namespace embedded {

extern const std::string_view data_origins;

}  // namespace embedded

namespace {

namespace fs = std::filesystem;

/// What is known of a file, or of a folder of files that programs share; null: nothing.
const Json* origin_of(const std::string& file) {
  static const Json kOrigins = parse_json(embedded::data_origins, "data_origins.json");
  for (const Json& origin : kOrigins) {
    if (*fs::path(file).begin() == origin.at("file").get<std::string>()) return &origin;
  }
  return nullptr;
}

/// Looks for the first of `spellings` that exists in the earliest folder.
DataPlace place_of(const std::vector<std::string>& spellings, const SearchPath& search_path) {
  DataPlace place{spellings.front(), {}, {}, {}, ""};
  if (const Json* origin = origin_of(place.name)) place.source = origin->at("source");
  const bool relative = fs::path(place.name).is_relative() && !search_path.empty();
  for (const fs::path& folder : relative ? search_path : SearchPath{""}) {
    for (const std::string& spelling : spellings) {
      std::error_code ignored;
      const fs::file_status status = fs::status(folder / spelling, ignored);
      if (fs::is_regular_file(status)) {
        place.found = folder / spelling;
        return place;
      }
      if (fs::exists(status) && place.no_file.empty()) place.no_file = folder / spelling;
    }
    place.looked_for.push_back(folder / place.name);
  }
  return place;
}

fs::path require_found(const DataPlace& place) {
  if (!place.found.empty()) return place.found;
  if (!place.no_file.empty()) {
    throw input_error(describe("data file " + place.no_file.string(), "",
                               kind_of_no_file(place.no_file),
                               "a regular file, for data are read more than once"));
  }
  std::string text = "data file " + place.name + " not found; looked for";
  for (const fs::path& path : place.looked_for) text += "\n  " + path.string();
  const Json* origin = origin_of(place.name);
  if (origin == nullptr) {
    throw MissingData(text +
                      "\nPut it there, or name its folder with --data-dir or NEUTRA_DATA_DIR.");
  }
  const std::string first = fs::path(place.name).begin()->string();
  throw MissingData(text + "\n" + origin->at("advice").get<std::string>() +
                    "; or name the folder that holds " + first +
                    " with --data-dir or NEUTRA_DATA_DIR.");
}

/// The arguments that name files, by source.
const std::map<std::string, std::vector<const char*>>& file_arguments() {
  static const std::map<std::string, std::vector<const char*>> kArguments{
      {"cifar10", {"train", "test"}},
      {"csv", {"file"}},
      {"hdf5", {"file"}},
      {"idx", {"train_images", "train_labels", "test_images", "test_labels"}},
      {"npy",
       {"x", "y", "x_train", "y_train", "x_test", "y_test", "sample_weight", "sample_weight_train",
        "sample_weight_test"}},
      {"npz", {"file"}},
      {"reuters", {"file"}}};
  return kArguments;
}

}  // namespace

std::vector<std::string> idx_spellings(const std::string& file) {
  return {file, file.ends_with(".gz") ? file.substr(0, file.size() - 3) : file + ".gz"};
}

fs::path find_file(const std::vector<std::string>& files, const SearchPath& search_path) {
  return require_found(place_of(files, search_path));
}

std::vector<DataPlace> data_places(const Json& data, const SearchPath& search_path) {
  std::vector<DataPlace> places;
  const std::string source = data.value("source", "");
  const auto names = file_arguments().find(source);
  if (names == file_arguments().end()) return places;
  const Json arguments = data.value("arguments", Json::object());
  for (const char* name : names->second) {
    const Json* value = member(arguments, name);
    if (value == nullptr) continue;
    for (const Json& file : value->is_array() ? *value : Json::array({*value})) {
      if (!file.is_string()) continue;  // load_dataset() says what is wrong
      const std::string text = file;
      places.push_back(
          place_of(source == "idx" ? idx_spellings(text) : std::vector{text}, search_path));
    }
  }
  return places;
}

std::vector<std::pair<std::string, fs::path>> data_files(const Json& data,
                                                         const SearchPath& search_path) {
  std::vector<std::pair<std::string, fs::path>> files;
  for (const DataPlace& place : data_places(data, search_path)) {
    files.emplace_back(place.name, require_found(place));
  }
  return files;
}

}  // namespace neutra::training
