#pragma once

#include <string>
#include <string_view>

#include "search/network.h"

namespace neutra::search {

/// read_network_tsv() of the text of such a file. Throws input_error with `file`, line and column.
Network parse_network_tsv(std::string_view text, const std::string& file);

}  // namespace neutra::search
