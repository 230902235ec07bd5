#pragma once

#include "fl_adapters/tool.h"

namespace neutra {

/// All tools, sorted by name.
const std::vector<const Tool*>& tools();
/// nullptr for an unknown name.
const Tool* find_tool(std::string_view name);

}  // namespace neutra
