#include "cli/python.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <optional>
#include <sstream>
#include <utility>

#include "base/environment.h"
#include "base/error.h"
#include "base/foreground.h"
#include "base/printable.h"
#include "base/strings.h"
#include "cli/build_info.h"

namespace neutra::cli {
namespace {

namespace fs = std::filesystem;

/// python/pyproject.toml: requires-python.
constexpr std::pair kOldest = {3, 9};
constexpr const char* kAllowed = "a Python, 3.9 or newer";
constexpr double kPatience = 60;  ///< seconds that a Python may take to tell what it is

/// Prints its version, and where the module is that it is given; Python 2 can run it, too.
constexpr const char* kProbe =
    "import sys\n"
    "print('%d %d' % sys.version_info[:2])\n"
    "if sys.version_info >= (3, 9) and len(sys.argv) > 1:\n"
    "    import importlib.util\n"
    "    try:\n"
    "        print(bool(importlib.util.find_spec(sys.argv[1] + '.__main__')))\n"
    "    except ImportError:\n"
    "        print(False)\n";

/// A Python, and what says that it is the one: "--python".
struct Choice {
  std::string place, program;
};

std::optional<std::string> in_path(const std::string& name) {
  const std::string folders = environment("PATH");
  std::istringstream all(folders.empty() ? "/usr/local/bin:/usr/bin:/bin" : folders);
  for (std::string folder; std::getline(all, folder, ':');) {
    const fs::path file = fs::path(folder.empty() ? "." : folder) / name;
    if (access(file.c_str(), X_OK) == 0 && !fs::is_directory(file)) return file.string();
  }
  return std::nullopt;
}

Choice choose(const Arguments& arguments) {
  if (arguments.has("python")) {
    const std::string& named = arguments.text("python");
    const std::string& place = arguments.origin("python");
    if (contains(named, "/")) return {place, named};
    const auto found = in_path(named);
    if (!found) throw input_error(describe("", place, named + ", which is not in PATH", kAllowed));
    return {place, *found};
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    const std::string folder = environment(variable);
    if (folder.empty()) continue;
    for (const char* name : {"bin/python", "bin/python3"}) {
      const fs::path file = fs::path(folder) / name;
      if (access(file.c_str(), X_OK) == 0) return {variable, file.string()};
    }
    throw input_error(describe("", variable, folder + ", which has no bin/python",
                               "the folder of an environment; or --python EXE"));
  }
  if (const auto found = package_python()) return {"the package neutra", *found};
  if (const auto found = in_path("python3")) return {"PATH", *found};
  if (const auto found = in_path("python")) return {"PATH", *found};
  throw input_error(
      "no Python: VIRTUAL_ENV and CONDA_PREFIX are not set, and PATH has no python3; "
      "--python EXE names the one that the script is run with");
}

/// The folder of the package that came with this command: it holds nothing else. "": it has none.
fs::path own_package() {
  const fs::path share = own_program().parent_path().parent_path() / "share/neutra";
  std::error_code ignored;
  const fs::path sources = fs::canonical(share, ignored).parent_path() / "python";
  for (const fs::path& folder : {share / "python", sources})
    if (fs::exists(folder / "neutra/capture/__main__.py", ignored)) return folder;
  return {};
}

void put_in_front(const char* variable, const std::string& folder) {
  const std::string before = environment(variable);
  setenv(variable, (before.empty() ? folder : folder + ":" + before).c_str(), 1);
}

ProcessResult called(std::vector<std::string> command) {
  ProcessCall call;
  call.command = std::move(command);
  call.folder = fs::current_path();
  call.time_limit = kPatience;
  return run_process(call);
}

/// Throws input_error where it is no Python that can run the module; `look_for`: the module, where
/// the Python has to have it, else "".
void require_python(const Choice& choice, const std::string& look_for) {
  std::vector<std::string> command = {choice.program, "-c", kProbe};
  if (!look_for.empty()) command.push_back(look_for);
  const ProcessResult told = called(std::move(command));
  const std::string found = choice.program;
  if (told.end == ProcessEnd::kNotStarted)
    throw input_error(describe("", choice.place,
                               found + ", which cannot be started: " + std::strerror(told.code),
                               kAllowed));
  std::istringstream words(told.out);
  std::pair<int, int> told_version;
  if (told.end != ProcessEnd::kExited || !(words >> told_version.first >> told_version.second))
    throw input_error(
        describe("", choice.place, found + ", which does not work as a Python", kAllowed));
  if (told_version < kOldest)
    throw input_error(describe("", choice.place,
                               found + ", which is Python " + std::to_string(told_version.first) +
                                   "." + std::to_string(told_version.second),
                               kAllowed));
  std::string has_module;
  if (look_for.empty() || ((words >> has_module) && has_module == "True")) return;
  throw input_error(describe("", choice.place, found + ", which has no " + look_for,
                             std::string("a Python with the package neutra ") + version() +
                                 ": install the wheel into it (docs/howto/use_from_python.md)"));
}

}  // namespace

std::optional<std::string> package_python() {
  for (fs::path folder = own_program(); folder.has_relative_path(); folder = folder.parent_path()) {
    if (folder.filename() != "site-packages") continue;
    const fs::path beside = folder.parent_path().parent_path().parent_path() / "bin/python3";
    std::error_code ignored;
    if (fs::exists(beside, ignored)) return beside.string();
  }
  return std::nullopt;
}

PythonModule::PythonModule(const Arguments& arguments, std::string module)
    : module_(std::move(module)) {
  const Choice choice = choose(arguments);
  const fs::path own = own_package();
  require_python(choice, own.empty() ? module_ : "");
  python_ = choice.program;
  if (!own.empty()) put_in_front("PYTHONPATH", own.string());
  setenv("NEUTRA", own_program().c_str(), 1);
}

std::vector<std::string> PythonModule::command(const std::vector<std::string>& words) const {
  std::vector<std::string> all = {python_, "-m", module_};
  all.insert(all.end(), words.begin(), words.end());
  return all;
}

Result PythonModule::run(const std::vector<std::string>& words) const {
  std::cout.flush();
  std::cerr.flush();
  const int status = run_in_foreground(command(words));
  Result result;
  if (WIFEXITED(status)) {
    result.exit = static_cast<Exit>(WEXITSTATUS(status));
  } else {
    const int signal = WTERMSIG(status);
    result.exit = static_cast<Exit>(128 + signal);
    result.notes = "neutra: error: " + python_ + " was ended by signal " + std::to_string(signal) +
                   " (" + strsignal(signal) + ")\n";
  }
  return result;
}

ProcessResult PythonModule::answer(const std::vector<std::string>& words) const {
  ProcessCall call;
  call.command = command(words);
  call.folder = fs::current_path();
  ProcessResult result = run_process(call);
  if (result.end != ProcessEnd::kExited)
    throw failure(python_ + " -m " + module_ + " was not run to its end: " +
                  std::string(to_string(result.end)) + " " + std::to_string(result.code));
  return result;
}

}  // namespace neutra::cli
