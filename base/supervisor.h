#pragma once

#include <sys/types.h>

#include <csignal>
#include <cstdint>

#include "base/process_end.h"

namespace neutra {

/// What the process between neutra and a command needs, prepared before it is forked.
struct SupervisorPlan {
  char** words;                 ///< of the command, nullptr behind them
  const char* file;             ///< of the command
  const char* folder;           ///< where it runs
  int input, out, err, report;  ///< descriptors: the command's, and where the report is written
  double time_limit, grace;     ///< seconds, as in ProcessCall
  std::uint64_t memory_limit;   ///< bytes; 0: none
  std::uint64_t page;           ///< bytes of a page of memory
  pid_t parent;                 ///< neutra
};

/// What the supervisor tells when nothing of the command is left. Smaller than PIPE_BUF: written
/// whole or not at all.
struct SupervisorReport {
  ProcessEnd end;
  int code;
  double seconds;
  std::uint64_t peak_memory;
  int left_over;
  bool clean;
};

/// The signal to the supervisor that ends the command without grace; SIGTERM ends it with grace.
inline constexpr int kEndAbruptly = SIGUSR1;

/// Runs the command to its end, reports and ends this process, which was just forked. All signals
/// must be blocked. Another thread may have held any lock at the fork: so only what is
/// async-signal-safe (signal-safety(7)) is called, and nothing is allocated.
[[noreturn]] void supervise(const SupervisorPlan& plan);

}  // namespace neutra
