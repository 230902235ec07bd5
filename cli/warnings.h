#pragma once

#include <string>

#include "program/program.h"

namespace neutra::cli {

/// Says on standard error what a program trains without an error but not as it must be meant
/// (program/warnings.h), before it is trained. A process says each text once.
void warn_of(const std::string& id, const program::Program& program);

}  // namespace neutra::cli
