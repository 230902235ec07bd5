#include "cli/provenance.h"

#include <sys/utsname.h>

#include "cli/build_info.h"
#include "training/libraries.h"

namespace neutra::cli {

Json provenance() {
  const auto libraries = training::library_versions(false);
  struct utsname machine {};
  uname(&machine);
  return Json{
      {"program_version", version()},
      {"git_commit", git_commit()},
      {"libraries",
       {{"torch", libraries.torch}, {"onednn", libraries.onednn}, {"hdf5", libraries.hdf5}}},
      {"machine", std::string(machine.nodename) + " " + machine.sysname + " " + machine.machine}};
}

}  // namespace neutra::cli
