// The files that the command reads: subjects, faults and what else lies in share/neutra.

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/checked_json.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/module.h"
#include "base/strings.h"
#include "base/words.h"
#include "cli/doctor/check.h"
#include "experiments/benchmark/fault_catalogue.h"
#include "experiments/catalog.h"

namespace neutra::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "neutra-checksums";

/// The files of an installation but checksums.json, relative to its share/neutra, sorted: those
/// below it, the command, its modules and, of a wheel, the libraries that it brings.
std::vector<std::string> installed_files(const fs::path& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_directory()) continue;
    const std::string name = entry.path().lexically_relative(folder).generic_string();
    // Python keeps what it has compiled beside the package.
    if (name != kChecksumsFile && !contains(name, "__pycache__")) files.push_back(name);
  }
  const fs::path prefix = folder.parent_path().parent_path();
  std::vector<fs::path> beside{prefix / "bin/neutra"};
  const auto add_libraries = [&](const fs::path& place) {
    std::error_code ignored;
    for (const fs::directory_entry& entry : fs::directory_iterator(place, ignored)) {
      if (contains(entry.path().filename().string(), ".so")) beside.push_back(entry.path());
    }
  };
  add_libraries(prefix / installed_module_folder());
  if (prefix.filename() == "_native") add_libraries(prefix / "lib");
  for (const fs::path& file : beside) {
    if (fs::is_regular_file(file))
      files.push_back(file.lexically_relative(folder).generic_string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Is one of the files no regular file?
bool has_pipe(const fs::path& folder) {
  std::error_code ignored;
  const fs::recursive_directory_iterator files(folder, ignored);
  return std::any_of(begin(files), end(files), [&](const fs::directory_entry& entry) {
    return !entry.is_directory(ignored) && entry.exists(ignored) && !entry.is_regular_file(ignored);
  });
}

/// Is `folder` that of an installation, not the sources or one that NEUTRA_RESOURCES names?
bool is_installation(const fs::path& folder) {
  const fs::path installed = own_program().parent_path().parent_path() / "share/neutra";
  std::error_code ignored;
  return !fs::is_symlink(installed, ignored) && fs::equivalent(folder, installed, ignored);
}

/// One line of what an exception says.
std::string one_line(const std::exception& error) {
  std::string text = error.what();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

/// Reads everything of a kind: one check for all of it, before it one for each that can't be read.
Checks checks_of_all(const std::string& kind, const std::function<std::vector<std::string>()>& ids,
                     const std::function<void(const std::string& id)>& read) {
  Checks checks;
  std::size_t count = 0;
  try {
    for (const std::string& id : ids()) {
      ++count;
      try {
        read(id);
      } catch (const std::exception& error) {
        checks.push_back({kind + " " + id, State::kBroken, one_line(error), kInstallAgain});
      }
    }
  } catch (const std::exception& error) {
    return {{kind + "s", State::kBroken, one_line(error), kInstallAgain}};
  }
  const std::string all = std::to_string(count);
  const std::size_t whole = count - checks.size();
  checks.push_back({kind + "s", checks.empty() ? State::kOk : State::kBroken,
                    checks.empty() ? "all " + all + " can be read"
                                   : std::to_string(whole) + " of " + all + " can be read",
                    checks.empty() ? "" : kInstallAgain});
  return checks;
}

/// What is wrong with files below `folder`, as JSON syntax and the installation's checksums tell.
Check files_check(const fs::path& folder) {
  const std::vector<std::string> files = installed_files(folder);
  std::vector<std::string> wrong;
  const fs::path list = folder / kChecksumsFile;
  std::error_code ignored;
  const bool listed = fs::exists(list, ignored);
  std::size_t count = files.size();
  if (listed) {
    const Json digests = read_checked_json(list, kFormat).at("files");
    count = digests.size();
    for (const auto& [name, digest] : digests.items()) {
      const fs::file_status found = fs::status(folder / name, ignored);
      if (!fs::exists(found)) {
        wrong.push_back(name + " is gone");
      } else if (!fs::is_regular_file(found)) {
        wrong.push_back(name + " is no regular file");
      } else if (file_digest(folder / name) != digest) {
        wrong.push_back(name + " is not as it was installed");
      }
    }
  } else {
    if (is_installation(folder)) wrong.push_back("checksums.json is gone");
    for (const std::string& name : files) {
      if (!name.ends_with(".json")) continue;
      try {
        read_json(folder / name);
      } catch (const Error& error) {
        wrong.push_back(one_line(error));
      }
    }
  }
  try {
    experiments::load_fault_catalogue(experiments::bundled_fault_catalogue());
  } catch (const Error& error) {
    wrong.push_back(one_line(error));
  }
  if (!wrong.empty()) {
    return {"bundled files", State::kBroken, folder.string() + ": " + join(wrong, "; "),
            kInstallAgain};
  }
  return {"bundled files", State::kOk,
          folder.string() + ": " + std::to_string(count) + " files, " +
              (listed ? "all as they were installed"
                      : "not compared with an installation's checksums.json")};
}

}  // namespace

std::string checksums_of(const std::string& folder) {
  Json files = Json::object();
  const fs::path whole = fs::canonical(folder);
  for (const std::string& name : installed_files(whole)) files[name] = file_digest(whole / name);
  return to_text(with_digest({{"format", kFormat}, {"version", 1}, {"files", std::move(files)}}));
}

Checks resource_checks(std::vector<DataUse>& uses) {
  fs::path folder;
  try {
    folder = experiments::resource_directory();
  } catch (const std::exception& error) {
    const bool told = !environment("NEUTRA_RESOURCES").empty();
    return {{"bundled files", told ? State::kWrong : State::kBroken, one_line(error),
             told ? "unset NEUTRA_RESOURCES" : kInstallAgain}};
  }
  Checks checks;
  try {
    checks.push_back(files_check(folder));
  } catch (const std::exception& error) {
    checks.push_back({"bundled files", State::kBroken, one_line(error), kInstallAgain});
  }
  if (has_pipe(folder)) return checks;  // reading it would wait for ever
  const auto add = [&](const Checks& more) {
    checks.insert(checks.end(), more.begin(), more.end());
  };
  add(checks_of_all("subject", experiments::subject_ids, [&](const std::string& id) {
    const experiments::Subject subject = experiments::load_subject(id);
    uses.push_back({subject.id, subject.space.base().document.at("data")});
  }));
  add(checks_of_all("fault", experiments::fault_ids, [&](const std::string& id) {
    const experiments::Fault fault = experiments::load_fault(id);
    uses.push_back({fault.id, fault.buggy.document.at("data")});
    if (fault.fixed) uses.push_back({fault.id, fault.fixed->document.at("data")});
  }));
  return checks;
}

}  // namespace neutra::cli::doctor
