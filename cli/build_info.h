#pragma once

namespace neutra::cli {

/// The project's version, "0.1.0".
const char* version();

/// Full hash of the git commit that was built, with "-dirty" when tracked files had been changed;
/// "unknown" when the sources were not a git repository.
const char* git_commit();

/// Compiler, its version, build type and sanitizers: "GNU 12.2.0, Release".
const char* compiler();

}  // namespace neutra::cli
