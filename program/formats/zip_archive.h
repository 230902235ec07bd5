#pragma once

#include <string>
#include <utility>
#include <vector>

namespace neutra {

/// The bytes of a zip archive of files (name, content), stored as they are, all of the year 1980:
/// equal contents give equal archives. Throws failure() where zip's library does.
std::string zip_archive(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace neutra
