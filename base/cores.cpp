#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <thread>

namespace neutra {

int usable_cores() {
  cpu_set_t cores;  // it fails where the machine has more than the 1024 that the set has room for
  if (::sched_getaffinity(0, sizeof cores, &cores) == 0) return std::max(CPU_COUNT(&cores), 1);
  return std::max(static_cast<int>(std::thread::hardware_concurrency()), 1);
}

}  // namespace neutra
