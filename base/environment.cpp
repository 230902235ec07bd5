#include "base/environment.h"

#include <sys/auxv.h>

#include <cstdlib>
#include <system_error>

namespace neutra {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

std::filesystem::path own_program() {
  static const std::filesystem::path kProgram = [] {
    std::error_code error;
    const std::filesystem::path link = std::filesystem::read_symlink("/proc/self/exe", error);
    if (!error) return link;
    // Without /proc: what execve() was given.
    const auto* started = reinterpret_cast<const char*>(::getauxval(AT_EXECFN));
    return started == nullptr ? std::filesystem::path()
                              : std::filesystem::canonical(started, error);
  }();
  return kProgram;
}

}  // namespace neutra
