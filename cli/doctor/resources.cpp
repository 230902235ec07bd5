// The files that the command reads: subjects, faults and what else lies in share/neutra.

#include <algorithm>
#include <filesystem>
#include <functional>

#include "base/checked_json.h"
#include "base/environment.h"
#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/doctor/check.h"
#include "experiments/benchmark/fault_catalogue.h"
#include "experiments/catalog.h"

namespace neutra::cli::doctor {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "neutra-checksums";

/// All files below a folder but checksums.json, relative to it, sorted.
std::vector<std::string> files_below(const fs::path& folder) {
  std::vector<std::string> files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const std::string name = fs::relative(entry.path(), folder).generic_string();
    if (name != kChecksumsFile) files.push_back(name);
  }
  std::sort(files.begin(), files.end());
  return files;
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
      } catch (const Error& error) {
        checks.push_back({kind + " " + id, State::kBroken, one_line(error), kInstallAgain});
      }
    }
  } catch (const Error& error) {
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
  const std::vector<std::string> files = files_below(folder);
  std::vector<std::string> wrong;
  const fs::path list = folder / kChecksumsFile;
  std::error_code ignored;
  const bool listed = fs::exists(list, ignored);
  std::size_t count = files.size();
  if (listed) {
    const Json digests = read_checked_json(list, kFormat).at("files");
    count = digests.size();
    for (const auto& [name, digest] : digests.items()) {
      if (!fs::exists(folder / name, ignored)) {
        wrong.push_back(name + " is gone");
      } else if (file_digest(folder / name) != digest) {
        wrong.push_back(name + " is not as it was installed");
      }
    }
  } else {
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
                      : "without checksums.json, which an installation has")};
}

}  // namespace

std::string checksums_of(const std::string& folder) {
  Json files = Json::object();
  for (const std::string& name : files_below(folder)) {
    files[name] = file_digest(fs::path(folder) / name);
  }
  return to_text(with_digest({{"format", kFormat}, {"version", 1}, {"files", std::move(files)}}));
}

Checks resource_checks(std::vector<DataUse>& uses) {
  fs::path folder;
  try {
    folder = experiments::resource_directory();
  } catch (const Error& error) {
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
