#pragma once

#include <string_view>

namespace neutra {

/// How a command ended that was run under a supervisor.
enum class ProcessEnd {
  kExited,      ///< by itself
  kSignalled,   ///< it crashed, or somebody else ended it
  kTime,        ///< ended here: ran past its time limit
  kMemory,      ///< ended here: held more than its memory limit
  kOutput,      ///< ended here: printed more than its output limit
  kStopped,     ///< ended here, as `stop` asked
  kNotStarted,  ///< the command can't be run
};
/// "exited", "signalled", "time", "memory", "output", "stopped", "not_started".
std::string_view to_string(ProcessEnd end);

}  // namespace neutra
