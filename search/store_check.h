#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace neutra::search {

/// Integrity of a store and its journal: every problem found, each on one line; empty when sound.
std::vector<std::string> check_store(const std::filesystem::path& store);

}  // namespace neutra::search
