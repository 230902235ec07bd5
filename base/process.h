#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "base/process_end.h"

namespace neutra {

/// A command to run, with what it may use.
struct ProcessCall {
  std::vector<std::string> command;  ///< the first word is a path, or a name looked up in PATH
  std::filesystem::path folder;      ///< where it runs
  double time_limit = 0;             ///< seconds of wall time; 0: none
  std::uint64_t memory_limit = 0;    ///< bytes resident in all its processes together; 0: none
  std::uint64_t output_limit = std::uint64_t{16} << 20;  ///< bytes of both its outputs together
  double grace = 2;  ///< seconds between the request to end (SIGTERM) and the end (SIGKILL)
  const std::atomic<bool>* stop = nullptr;  ///< checked continually; true: end the command
};

/// How a command went.
struct ProcessResult {
  ProcessEnd end = ProcessEnd::kExited;
  int code = 0;          ///< exit code of kExited, signal of kSignalled, errno of kNotStarted
  std::string out, err;  ///< what it printed, up to the limit
  double seconds = 0;
  std::uint64_t peak_memory = 0;  ///< bytes, as sampled some ten times a second; shared pages count
                                  ///< in each process that has them
  int left_over = 0;              ///< processes it started that outlived it and had to be ended
  bool clean = true;  ///< none of its processes is left; false: the system refused to end one
};

/// Runs a command to its end. Its standard input is empty; signals and their mask are the
/// system's defaults; neutra's open files are closed in it.
///
/// No process that it starts survives, even one that opens its own session, becomes a daemon or
/// ignores signals. A small supervisor process stands between: the kernel hands it every orphan
/// among its descendants (PR_SET_CHILD_SUBREAPER, prctl(2)), and it ends them all before it
/// reports, even when this process dies first. Thread safe.
ProcessResult run_process(const ProcessCall& call);

}  // namespace neutra
