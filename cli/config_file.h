#pragma once

#include <map>
#include <string>
#include <vector>

namespace neutra::cli {

/// Values of options, in the order in which they were given.
using OptionValues = std::map<std::string, std::vector<std::string>>;

/// Reads a configuration file: a line "name = value" for each value ('#' begins a comment), or a
/// JSON object. Each name and value is checked against the option table, whichever verbs take it.
/// A pipe is read once. Throws input_error, which names file, place, what was found and what is
/// allowed.
OptionValues read_config_file(const std::string& file);

}  // namespace neutra::cli
