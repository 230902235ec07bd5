#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "fl_adapters/tool.h"

namespace neutra {

/// Reads what a tool printed about a program, bytes of any kind, as one answer. Never throws for
/// what the text is. Thread safe.
using OutputParser =
    std::function<Localisation(std::string_view text, const FaultyProgram& faulty)>;

/// The parser of a tool's output; empty for an unknown name.
OutputParser find_parser(std::string_view name);
/// Names of all parsers, sorted.
std::vector<std::string> parser_names();

}  // namespace neutra
