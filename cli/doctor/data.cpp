// Data sets of the bundled programs.

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

#include "base/environment.h"
#include "base/error.h"
#include "base/words.h"
#include "cli/doctor/check.h"
#include "cli/trainers.h"
#include "experiments/catalog.h"
#include "training/data/data_places.h"
#include "training/data/whole.h"

namespace neutra::cli::doctor {
namespace {

namespace fs = std::filesystem;

/// What programs share: a file, or a folder of files.
struct DataSet {
  std::vector<std::string> programs;                 ///< that need it, each once
  std::map<std::string, training::DataPlace> files;  ///< by name
  std::map<std::set<std::string>, Json> sections;    ///< of `data`, one for each choice of files
};

/// By the first part of the names of their files: "mnist", "iris.h5".
std::map<std::string, DataSet> data_sets(const std::vector<DataUse>& uses,
                                         const training::SearchPath& path) {
  std::map<std::string, DataSet> sets;
  for (const DataUse& use : uses) {
    const std::vector<training::DataPlace> places = training::data_places(use.data, path);
    std::set<std::string> names;
    for (const training::DataPlace& place : places) names.insert(place.name);
    for (const training::DataPlace& place : places) {
      DataSet& set = sets[fs::path(place.name).begin()->string()];
      set.files.emplace(place.name, place);
      set.sections.emplace(names, use.data);
      if (set.programs.empty() || set.programs.back() != use.program) {
        set.programs.push_back(use.program);
      }
    }
  }
  return sets;
}

/// Names of files for a line: three of them and how many more.
std::string some(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 3;
  if (names.size() <= kMost + 1) return join(names);
  return join({names.begin(), names.begin() + kMost}) + " and " +
         std::to_string(names.size() - kMost) + " more";
}

/// Does it come with neutra? Of others it is known where they come from.
bool is_bundled(const DataSet& set) { return set.files.begin()->second.source.empty(); }

Check data_set_check(const std::string& name, const DataSet& set, const fs::path& folder,
                     const training::SearchPath& path) {
  const training::DataPlace& first = set.files.begin()->second;
  const std::string title = "data " + name, uses = "needed by " + join(set.programs);
  std::vector<std::string> missing;
  for (const auto& [file, place] : set.files) {
    if (place.found.empty()) missing.push_back(file);
  }
  const std::string again = is_bundled(set) ? kInstallAgain : "get it again from " + first.source;
  if (!missing.empty() && is_bundled(set)) {
    return {title, State::kBroken, "no file " + some(missing) + ", " + uses, again};
  }
  if (!missing.empty()) {
    std::vector<std::string> folders;
    for (const fs::path& place : path) folders.push_back(place.string());
    return {title, State::kMissing, some(missing) + " not found in " + join(folders) + "; " + uses,
            "get it from " + first.source +
                (folder.empty() ? "; then" : "; it belongs into " + folder.string() + ", or") +
                " name its folder with --data-dir or NEUTRA_DATA_DIR"};
  }
  for (const auto& [names, section] : set.sections) {
    const Trial trial = tried([&section = section, &path] {
      training::require_whole(section, path);
      return std::string();
    });
    if (!trial.answer) {
      return {title, is_bundled(set) ? State::kBroken : State::kWrong, trial.problem + "; " + uses,
              again};
    }
  }
  const std::string where =
      set.files.size() == 1
          ? first.found.string()
          : std::to_string(set.files.size()) + " files in " + first.found.parent_path().string();
  return {title, State::kOk, where + ", " + uses};
}

/// The folder that is named for data sets, if it is one.
Check folder_check(const Arguments& arguments) {
  const char* hint = "name a folder that is there, or none: its data sets are looked for elsewhere";
  const std::string shared = environment("NEUTRA_SHARED");
  try {
    const fs::path folder = data_folder(arguments);
    std::error_code ignored;
    if (fs::is_directory(folder, ignored)) return {"data folder", State::kOk, folder.string()};
    if (!shared.empty()) {
      return {"data folder", State::kWrong,
              "NEUTRA_SHARED: found " + shared + "; allowed: a folder with a folder data", hint};
    }
    return {"data folder", State::kOk, "none is named by --data-dir or NEUTRA_DATA_DIR"};
  } catch (const Error& error) {
    return {"data folder", State::kWrong, arguments.origin("data-dir") + ": " + error.what(), hint};
  }
}

}  // namespace

Checks data_checks(const std::vector<DataUse>& uses, const Arguments& arguments) {
  Checks checks{folder_check(arguments)};
  const bool usable = checks.front().state == State::kOk;
  const Arguments without;
  const Arguments& named = usable ? arguments : without;
  if (uses.empty()) return checks;  // nothing bundled can be read, which has been said
  const training::SearchPath path = data_path(named, {});
  // Where none is named and the usual one isn't there, any folder will do.
  std::error_code ignored;
  const fs::path folder = fs::is_directory(data_folder(named), ignored)
                              ? fs::weakly_canonical(fs::absolute(data_folder(named)))
                              : fs::path();
  std::size_t whole = 0, bundled = 0;
  for (const auto& [name, set] : data_sets(uses, path)) {
    const Check check = data_set_check(name, set, folder, path);
    if (is_bundled(set)) ++bundled;
    if (is_bundled(set) && check.state == State::kOk) {
      ++whole;
    } else {
      checks.push_back(check);
    }
  }
  const std::string where =
      " data sets in " + (experiments::resource_directory() / "data").string();
  checks.push_back(
      whole == bundled
          ? Check{"bundled data", State::kOk, "all " + std::to_string(whole) + where + " are whole"}
          : Check{"bundled data", State::kBroken,
                  std::to_string(whole) + " of " + std::to_string(bundled) + where + " are whole",
                  kInstallAgain});
  return checks;
}

}  // namespace neutra::cli::doctor
