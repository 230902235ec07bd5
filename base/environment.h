#pragma once

#include <filesystem>
#include <string>

namespace neutra {

/// The value of an environment variable; empty where it is not set.
std::string environment(const char* name);

/// The file of the program that this process runs, as it was at the first call: an update may move
/// it away later. Empty where the system doesn't tell.
std::filesystem::path own_program();

}  // namespace neutra
