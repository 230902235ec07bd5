#pragma once

#include <string>
#include <string_view>

#include "search/network.h"

namespace neutra::search {

/// read_network_tsv() on text; `file` is for messages.
Network parse_network_tsv(std::string_view text, const std::string& file);

}  // namespace neutra::search
