#include "base/process_end.h"

namespace neutra {

std::string_view to_string(ProcessEnd end) {
  switch (end) {
    case ProcessEnd::kExited:
      return "exited";
    case ProcessEnd::kSignalled:
      return "signalled";
    case ProcessEnd::kTime:
      return "time";
    case ProcessEnd::kMemory:
      return "memory";
    case ProcessEnd::kOutput:
      return "output";
    case ProcessEnd::kStopped:
      return "stopped";
    case ProcessEnd::kNotStarted:
      return "not_started";
  }
  return "";
}

}  // namespace neutra
