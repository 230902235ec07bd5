#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fl_adapters/tool.h"

namespace neutra {

/// Reads what a tool printed about one program: the messages of each run found in the text, which
/// holds bytes of any kind. Never throws for what the text is.
using OutputParser = std::function<std::vector<std::vector<ToolMessage>>(std::string_view text)>;

/// The parser of a tool's output; empty for an unknown name.
OutputParser find_parser(std::string_view name);
/// Names of all parsers, sorted.
std::vector<std::string> parser_names();

}  // namespace neutra
