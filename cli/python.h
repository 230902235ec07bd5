#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "cli/arguments.h"
#include "cli/result.h"

namespace neutra::cli {

/// The Python that the command is a package of, where it came in a wheel.
std::optional<std::string> package_python();

/// A module of the Python package neutra, to be run in the Python of the user's scripts.
///
/// That Python is the one that --python names, else the active environment's (VIRTUAL_ENV,
/// CONDA_PREFIX), else that of a wheel, else python3 of PATH. The package is the command's own,
/// which lies beside it (share/neutra/python, python/ in the sources); only where it has none, that
/// of the Python.
class PythonModule {
 public:
  /// Finds both. Sets NEUTRA, and PYTHONPATH where need be, in this process's environment. Throws
  /// input_error: no Python, not a Python, one that is too old or has no such module.
  PythonModule(const Arguments& arguments, std::string module);

  /// Runs the module in the foreground (base/foreground.h). The result has nothing to write and the
  /// module's exit code; where a signal ended it, 128 + signal, and a line of notes that says so.
  Result run(const std::vector<std::string>& words) const;
  /// Runs it with an empty standard input, and takes what it prints. Throws failure() where it is
  /// ended by a signal.
  ProcessResult answer(const std::vector<std::string>& words) const;

 private:
  std::vector<std::string> command(const std::vector<std::string>& words) const;
  std::string module_, python_;
};

}  // namespace neutra::cli
