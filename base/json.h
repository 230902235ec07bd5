#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace neutra {

/// Objects keep the order in which their keys were written, so that a file read and written again
/// looks the same.
using Json = nlohmann::ordered_json;

/// Parses strict JSON. Throws input_error with `file`, line and column. Refuses text that is not
/// UTF-8, duplicate keys, nesting deeper than 100 levels and numbers that don't fit a double
/// (1e999).
Json parse_json(std::string_view text, const std::string& file);

/// Reads and parses a file of at most 64 MiB; a missing, unreadable or oversized file is an
/// input_error that names it.
Json read_json(const std::filesystem::path& file);

/// The value of `key`; nullptr if `object` is no object or has no such key.
const Json* member(const Json& object, std::string_view key);

/// Two-space indented text with a final newline, short arrays of numbers on one line not required.
std::string to_text(const Json& value);

/// A number, also one that JSON has no word for: "nan", "inf", "-inf".
Json exact_number(double value);
double exact_number(const Json& json);

}  // namespace neutra
