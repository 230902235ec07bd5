#pragma once

#include <filesystem>
#include <string>

namespace neutra {

/// Where `name`, a path in the project such as "tests/program/data/keras", lies: absolute.
std::filesystem::path source_file(const std::string& name);

}  // namespace neutra
