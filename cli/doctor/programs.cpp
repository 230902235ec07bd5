// Programs that some verbs call, and the Python package.

#include "base/process.h"
#include "base/strings.h"
#include "cli/build_info.h"
#include "cli/doctor/check.h"
#include "cli/python.h"

namespace neutra::cli::doctor {
namespace {

constexpr double kPatience = 60;  ///< seconds that a program may take to tell its version

struct Program {
  const char* name;                  ///< of the check
  const char* use;                   ///< what can't be done without it
  const char* hint;                  ///< how to get it
  std::vector<std::string> command;  ///< that tells the version
};

const Program kPrograms[] = {{"dot",
                              "no pictures of networks (network --format svg, png, pdf)",
                              "Debian's package graphviz has it",
                              {"dot", "-V"}},
                             {"rsvg-convert",
                              "no pictures as PNG and PDF",
                              "Debian's package librsvg2-bin has it",
                              {"rsvg-convert", "--version"}},
                             {"sbatch",
                              "neutra submit runs searches here only (--executor local)",
                              "it is a part of Slurm, which clusters have",
                              {"sbatch", "--version"}}};

ProcessResult called(std::vector<std::string> command) {
  ProcessCall call;
  call.command = std::move(command);
  call.folder = "/";  // Python would take modules from the folder that it is called in
  call.time_limit = kPatience;
  return run_process(call);
}

/// What it printed, on one line.
std::string printed(const ProcessResult& result) {
  const std::string_view text = trimmed(result.out.empty() ? result.err : result.out, " \t\r\n");
  return std::string(text.substr(0, text.find('\n')));
}

/// "exited 1: its last words"
std::string end_of(const ProcessResult& result) {
  const std::string_view words = trimmed(result.err, " \t\r\n");
  return std::string(to_string(result.end)) + " " + std::to_string(result.code) +
         (words.empty() ? "" : ": " + std::string(words.substr(words.rfind('\n') + 1)));
}

bool succeeded(const ProcessResult& result) {
  return result.end == ProcessEnd::kExited && result.code == 0;
}

Check program_check(const Program& program) {
  const ProcessResult result = called(program.command);
  if (result.end == ProcessEnd::kNotStarted) {
    return {program.name, State::kMissing,
            std::string("no program '") + program.name + "' in PATH: " + program.use, program.hint};
  }
  if (!succeeded(result)) {
    return {program.name, State::kWrong,
            "it does not work (" + end_of(result) + "): " + program.use, program.hint};
  }
  return {program.name, State::kOk, printed(result)};
}

Check python_check() {
  const char* hint =
      "install the wheel, Debian's python3-neutra, or ./python of the sources "
      "(docs/howto/use_from_python.md)";
  const ProcessResult result =
      called({package_python().value_or("python3"), "-c",
              "import neutra; print(neutra.__version__, neutra.__path__[0])"});
  if (result.end == ProcessEnd::kNotStarted) {
    return {"python", State::kMissing, "no program 'python3' in PATH: no use from Python",
            "Debian's package python3 has it"};
  }
  if (!succeeded(result)) {
    const bool absent = contains(result.err, "No module named 'neutra'");
    return {"python", absent ? State::kMissing : State::kWrong,
            absent ? "python3 has no package neutra: no use from Python"
                   : "the package neutra of python3 does not work (" + end_of(result) + ")",
            hint};
  }
  const std::string found = printed(result), own = version();
  const std::string detail = "package neutra " + found;
  if (found.substr(0, found.find(' ')) == own) return {"python", State::kOk, detail};
  return {"python", State::kNote, detail + ", and this command is version " + own, hint};
}

}  // namespace

Checks program_checks() {
  Checks checks;
  for (const Program& program : kPrograms) checks.push_back(program_check(program));
  checks.push_back(python_check());
  return checks;
}

}  // namespace neutra::cli::doctor
