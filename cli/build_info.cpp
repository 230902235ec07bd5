#include "cli/build_info.h"

#include "neutra/build_info.h"

namespace neutra::cli {

const char* version() { return NEUTRA_VERSION; }

const char* git_commit() { return NEUTRA_GIT_COMMIT; }

const char* compiler() {
  return sizeof(NEUTRA_SANITIZERS) > 1 ? NEUTRA_COMPILER ", " NEUTRA_BUILD_TYPE
                                                         ", " NEUTRA_SANITIZERS
                                       : NEUTRA_COMPILER ", " NEUTRA_BUILD_TYPE;
}

}  // namespace neutra::cli
