#include "cli/build_info.h"

#include "neutra/build_info.h"

namespace neutra::cli {

const char* version() { return NEUTRA_VERSION; }

const char* git_commit() { return NEUTRA_GIT_COMMIT; }

}  // namespace neutra::cli
