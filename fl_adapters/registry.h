#pragma once

#include <set>
#include <string>

#include "fl_adapters/tool.h"

namespace neutra::fl_adapters {

/// All tools, sorted by name.
const std::vector<const Tool*>& tools();
std::vector<std::string> tool_names();
/// nullptr for an unknown name.
const Tool* find_tool(std::string_view name);

/// The fault types that some message of a native tool stands for; empty for others, and for tools
/// that name none.
std::set<std::string> fault_types_of(const Tool& tool);

}  // namespace neutra::fl_adapters
